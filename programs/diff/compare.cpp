// Compare: equal windows are skipped.
#include "programs/diff/compare.hpp"

#include <algorithm>

#include "programs/diff/values.hpp"

namespace penstock::program {
namespace {

bool is_real(Kind kind) {
  return kind == Kind::f32 || kind == Kind::f64 || kind == Kind::complex64 || kind == Kind::complex128;
}

void compare_numbers(const Value& a, const Value& b, int64_t at, const Tolerance& tolerance, Differences& found) {
  const bool nan = has_nan(a) || has_nan(b);
  if (nan && has_nan(a) && has_nan(b) && !tolerance.nan_differs) return;
  if (!nan && a.real == b.real && a.imaginary == b.imaginary) return;  // infinities, too
  const long double difference = nan ? 0 : magnitude({a.real - b.real, a.imaginary - b.imaginary});
  const long double scale = magnitude(b);
  const bool finite = !nan && std::isfinite(difference);
  if (finite && std::isfinite(scale) && difference <= tolerance.atol + tolerance.rtol * scale) return;
  if (found.count++ == 0) found.first = at;
  if (!finite) return;
  if (found.largest_at < 0 || difference > found.largest) {
    found.largest = static_cast<double>(difference);
    found.largest_at = at;
  }
  if (scale > 0) found.largest_relative = std::max(found.largest_relative, static_cast<double>(difference / scale));
}

}  // namespace

void Differences::add(const Differences& other) {
  count += other.count;
  if (other.first >= 0 && (first < 0 || other.first < first)) first = other.first;
  if (other.largest_at >= 0 && (largest_at < 0 || other.largest > largest)) {
    largest = other.largest;
    largest_at = other.largest_at;
  }
  largest_relative = std::max(largest_relative, other.largest_relative);
}

bool comparable(const ElementType& a, const ElementType& b) { return (a.kind == Kind::text) == (b.kind == Kind::text); }

Differences compare(const ElementType& a_type, const std::byte* a, const ElementType& b_type, const std::byte* b,
                    int64_t count, int64_t at, const Tolerance& tolerance) {
  Differences found;
  const int64_t a_size = bytes(a_type), b_size = bytes(b_type);
  const bool may_be_nan = tolerance.nan_differs && is_real(a_type.kind);
  if (a_type == b_type && !may_be_nan && std::memcmp(a, b, static_cast<size_t>(count * a_size)) == 0) return found;
  for (int64_t i = 0; i < count; ++i, a += a_size, b += b_size) {
    if (a_type.kind != Kind::text) {
      compare_numbers(load(a_type.kind, a), load(b_type.kind, b), at + i, tolerance, found);
    } else if (text_at(a, a_size) != text_at(b, b_size)) {
      if (found.count++ == 0) found.first = at + i;
    }
  }
  return found;
}

}  // namespace penstock::program
