// Truth: compares by blocks, and classifies the first wrong element.
#include "bench/verify/truth.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "bench/workload/element.hpp"
#include "core/base/crc64.hpp"
#include "core/model/catalogue.hpp"

namespace penstock::bench {

static_assert(std::endian::native == std::endian::little, "digests are of the little-endian stream: swap here first");

namespace {

constexpr int64_t block_bytes = 256 << 10;  // fits in the second-level cache

// "element (3, 4) of 'D1'", for an element number of the whole workload.
std::string place(const Truth& truth, int64_t number) {
  for (const Field& field : truth.workload->fields())
    if (number >= field.first && number < field.first + field.elements)
      return fmt::format("element {} of '{}'", describe(coordinates(field.shape, number - field.first)), field.name);
  return {};
}

// The elements of FIELD from OFFSET on, ignoring holes.
void fill(const Truth& truth, int field, int64_t offset, std::span<std::byte> out) {
  const Numbering numbering = truth.numbering(field);
  const uint64_t key = data_key(truth.seed, truth.repetition);
  const int64_t size = bytes(truth.field(field).type);
  while (!out.empty()) {
    const Run from = truth.workload->source(field, offset);
    const int64_t count = std::min(from.length, static_cast<int64_t>(out.size()) / size);
    const auto part = out.first(static_cast<size_t>(count * size));
    if (truth.data != nullptr)
      truth.data->fill(key, field, from.offset, part);
    else
      numbering.fill(truth.field(field).first + from.offset, part);
    out = out.subspan(part.size());
    offset += count;
  }
}

// The earlier repetition whose value at the same place was found.
std::string guess_repetition(Truth then, const Faults& faults) {
  const Kind kind = then.field(faults.field).type.kind;
  while (--then.repetition >= 0) {
    std::array<std::byte, sizeof faults.found> old{};
    Deviation off;
    expect(then, static_cast<int>(faults.field), faults.offset,
           std::span(old).first(static_cast<size_t>(bytes(then.field(faults.field).type))));
    if (within(kind, old.data(), faults.found.data(), then.bound(faults.field), off))
      return fmt::format("stale: this element in repetition {}", then.repetition);
  }
  return "not the value of this element";
}

// The kind of error: zeroed, flipped, moved from elsewhere, left from an earlier repetition.
std::string guess(const Truth& truth, const Faults& faults, const std::byte* expected) {
  const ElementType& type = truth.field(faults.field).type;
  const auto size = static_cast<size_t>(bytes(type)), word = static_cast<size_t>(scalar_bytes(type));
  const std::byte* found = faults.found.data();
  if (std::all_of(found, found + size, [](std::byte b) { return b == std::byte{0}; })) return "zeroed";
  int flipped = 0;
  for (size_t i = 0; i < size; ++i) flipped += std::popcount(static_cast<unsigned char>(found[i] ^ expected[i]));
  if (flipped == 1) return "one bit flipped";
  bool swapped = true;
  for (size_t i = 0; i < size; i += word)
    swapped = swapped && std::equal(found + i, found + i + word, std::reverse_iterator(expected + i + word));
  if (swapped) return "in the other byte order";
  Truth then = truth;
  if (truth.data != nullptr) return guess_repetition(then, faults);
  for (; then.repetition >= 0; --then.repetition) {
    const auto number = then.numbering(faults.field).number(found);
    if (!number) continue;
    const std::string where = place(truth, *number);
    if (where.empty()) continue;
    if (then.repetition == truth.repetition) return where;
    return fmt::format("stale: {} in repetition {}", where, then.repetition);
  }
  return "no value of this run";
}

}  // namespace

void expect(const Truth& truth, int field, int64_t offset, std::span<std::byte> out) {
  const int64_t size = bytes(truth.field(field).type), end = offset + static_cast<int64_t>(out.size()) / size;
  fill(truth, field, offset, out);
  const std::span<const Run> holes = truth.workload->holes(field);
  auto hole = std::partition_point(holes.begin(), holes.end(),
                                   [&](const Run& run) { return run.offset + run.length <= offset; });
  for (; hole != holes.end() && hole->offset < end; ++hole) {
    const int64_t from = std::max(hole->offset, offset), to = std::min(hole->offset + hole->length, end);
    std::memset(out.data() + (from - offset) * size, 0, static_cast<size_t>((to - from) * size));
  }
}

void fill_piece(const Truth& truth, const Piece& piece) {
  if (piece.ghosts > 0) std::fill(piece.bytes.begin(), piece.bytes.end(), ghost_byte);
  for_each_stretch(piece, bytes(truth.field(piece.field).type),
                   [&](int64_t offset, std::span<std::byte> stretch) { fill(truth, piece.field, offset, stretch); });
}

void merge(Faults& into, const Faults& other) {
  into.largest.include(other.largest);
  if (other.wrong == 0) return;
  const int64_t wrong = into.wrong + other.wrong;
  if (into.wrong == 0 || std::pair(other.field, other.offset) < std::pair(into.field, into.offset)) {
    into.field = other.field;
    into.offset = other.offset;
    into.found = other.found;
  }
  into.wrong = wrong;
}

void check(const Truth& truth, int field, int64_t offset, std::span<const std::byte> data, Faults& faults) {
  const ElementType& type = truth.field(field).type;
  const auto size = static_cast<size_t>(bytes(type));
  const Bound bound = truth.bound(field);
  std::vector<std::byte> expected(std::min<size_t>(data.size(), block_bytes));
  for (size_t begin = 0; begin < data.size(); begin += block_bytes) {
    const size_t length = std::min<size_t>(block_bytes, data.size() - begin);
    const auto block = std::span(expected).first(length);
    const int64_t first = offset + static_cast<int64_t>(begin / size);
    expect(truth, field, first, block);
    if (std::memcmp(block.data(), data.data() + begin, length) == 0) continue;
    for (size_t i = 0; i < length; i += size) {
      if (std::memcmp(block.data() + i, data.data() + begin + i, size) == 0) continue;
      Deviation off;
      if (!bound.exact() && within(type.kind, block.data() + i, data.data() + begin + i, bound, off)) {
        faults.largest.include(off);
        continue;
      }
      Faults one{1, {}, field, first + static_cast<int64_t>(i / size), {}};
      std::memcpy(one.found.data(), data.data() + begin + i, size);
      merge(faults, one);
    }
  }
}

std::string explain(const Truth& truth, const Faults& faults, int writers) {
  const Field& field = truth.field(faults.field);
  std::array<std::byte, 16> expected{};
  expect(truth, static_cast<int>(faults.field), faults.offset,
         std::span(expected).first(static_cast<size_t>(bytes(field.type))));
  const int rank = owner(*truth.workload, static_cast<int>(faults.field), faults.offset, writers);
  Deviation off;
  const Bound bound = truth.bound(faults.field);
  std::string beyond;
  if (!bound.exact() && !within(field.type.kind, expected.data(), faults.found.data(), bound, off))
    beyond = fmt::format("; off by {:.3g}, relatively {:.3g}, where the plan allows {:.3g}, relatively {:.3g}",
                         off.absolute, off.relative, bound.absolute, bound.relative);
  return fmt::format("'{}', element {}: expected {}, found {} ({}{}); written by {}; {} wrong in all", field.name,
                     describe(coordinates(field.shape, faults.offset)), print_element(field.type.kind, expected.data()),
                     print_element(field.type.kind, faults.found.data()), guess(truth, faults, expected.data()), beyond,
                     rank < 0 ? std::string("nobody") : fmt::format("rank {}", rank), faults.wrong);
}

bool Truth::exact() const { return std::ranges::all_of(bounds, &Bound::exact); }

void Digest::append(const Digest& next) {
  crc = crc64_combine(crc, next.crc, next.bytes);
  bytes += next.bytes;
}

Digest check_piece(const Truth& truth, const Piece& piece, Faults& faults) {
  Digest sum;
  for_each_stretch(piece, bytes(truth.field(piece.field).type),
                   [&](int64_t offset, std::span<const std::byte> stretch) {
                     check(truth, piece.field, offset, stretch, faults);
                     sum.crc = crc64(stretch, sum.crc);
                     sum.bytes += static_cast<int64_t>(stretch.size());
                   });
  return sum;
}

Digest digest(std::span<const std::byte> data) { return {crc64(data), static_cast<int64_t>(data.size())}; }

Digest expected_digest(const Truth& truth, int field, const Slab& slab) {
  const int64_t size = bytes(truth.field(field).type), step = block_bytes / size;
  std::vector<std::byte> block(static_cast<size_t>(std::min(step, slab.end - slab.begin) * size));
  Digest sum;
  for (int64_t at = slab.begin; at < slab.end; at += step) {
    const auto part = std::span(block).first(static_cast<size_t>(std::min(step, slab.end - at) * size));
    expect(truth, field, at, part);
    sum.crc = crc64(part, sum.crc);
    sum.bytes += static_cast<int64_t>(part.size());
  }
  return sum;
}

}  // namespace penstock::bench
