// Errors: unpacked element by element; windows with the same bits are skipped.
#include "programs/diff/errors.hpp"

#include <algorithm>

#include "programs/diff/values.hpp"

namespace penstock::program {
namespace {

void count_one(int64_t& count, int64_t& first, int64_t at) {
  if (count++ == 0) first = at;
}

void add_counts(int64_t& count, int64_t& first, int64_t other, int64_t other_first) {
  count += other;
  if (other_first >= 0 && (first < 0 || other_first < first)) first = other_first;
}

Value unpacked(const Elements& elements, const std::byte* at) {
  const Value stored = load(elements.type.kind, at);
  const Packing& packing = elements.packing;
  if (!packing.packed) return stored;
  if (packing.fill && stored.real == static_cast<long double>(*packing.fill))
    return {std::numeric_limits<long double>::quiet_NaN()};
  // In double precision, as readers do it.
  return {static_cast<double>(stored.real) * packing.scale + packing.offset};
}

void compare_values(const Value& ours, const Value& reference, int64_t at, const Limits& limits, Errors& found) {
  if (has_nan(ours) || has_nan(reference)) {
    if (has_nan(ours) && has_nan(reference)) return;
    count_one(found.one_nan, found.first_one_nan, at);
    count_one(found.differing, found.first, at);
    count_one(found.beyond, found.first_beyond, at);
    return;
  }
  if (ours.real == reference.real && ours.imaginary == reference.imaginary) return;  // infinities, too
  const long double off = magnitude({ours.real - reference.real, ours.imaginary - reference.imaginary});
  const long double scale = magnitude(reference);
  count_one(found.differing, found.first, at);
  found.absolute.include(static_cast<double>(off), at);
  found.relative.include(std::isinf(off) ? HUGE_VAL : static_cast<double>(off / scale), at);
  const bool near =
      std::isfinite(off) && (off <= static_cast<long double>(limits.absolute) || off <= limits.relative * scale);
  if (!near) count_one(found.beyond, found.first_beyond, at);
}

}  // namespace

void Largest::include(double other, int64_t other_at) {
  if (other_at < 0) return;
  if (at < 0 || other > error || (other == error && other_at < at)) {
    error = other;
    at = other_at;
  }
}

void Errors::add(const Errors& other) {
  bits += other.bits;
  add_counts(differing, first, other.differing, other.first);
  add_counts(beyond, first_beyond, other.beyond, other.first_beyond);
  add_counts(one_nan, first_one_nan, other.one_nan, other.first_one_nan);
  absolute.include(other.absolute.error, other.absolute.at);
  relative.include(other.relative.error, other.relative.at);
}

Errors errors_of(const Elements& ours, const Elements& reference, int64_t count, int64_t at, const Limits& limits) {
  Errors found;
  const int64_t size = bytes(ours.type), reference_size = bytes(reference.type);
  const bool same_storage = ours.type == reference.type && ours.packing == reference.packing;
  if (same_storage && std::memcmp(ours.data, reference.data, static_cast<size_t>(count * size)) == 0) return found;
  const std::byte *one = ours.data, *other = reference.data;
  for (int64_t i = 0; i < count; ++i, one += size, other += reference_size) {
    if (same_storage && std::memcmp(one, other, static_cast<size_t>(size)) == 0) continue;
    ++found.bits;
    if (ours.type.kind != Kind::text) {
      compare_values(unpacked(ours, one), unpacked(reference, other), at + i, limits, found);
    } else if (text_at(one, size) != text_at(other, reference_size)) {
      count_one(found.differing, found.first, at + i);
      count_one(found.beyond, found.first_beyond, at + i);
    }
  }
  return found;
}

}  // namespace penstock::program
