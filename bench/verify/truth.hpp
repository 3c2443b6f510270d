// Truth: the expected value of every element, and the description of wrong ones.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <penstock/decomposition.hpp>

#include "bench/data/data.hpp"
#include "bench/verify/bound.hpp"
#include "bench/workload/numbering.hpp"
#include "bench/workload/piece.hpp"

namespace penstock::bench {

// The contents of one repetition of a workload, computed without a file.
struct Truth {
  const Workload* workload = nullptr;
  uint64_t seed = 0;
  int repetition = 0;            // 0 is the warm-up
  const Values* data = nullptr;  // null: numbers
  std::vector<Bound> bounds;     // of each field; without any, all bits must be right

  const Field& field(int64_t index) const { return workload->fields()[static_cast<size_t>(index)]; }
  Numbering numbering(int64_t field) const { return Numbering(this->field(field).type.kind, seed, repetition); }
  Bound bound(int64_t field) const { return bounds.empty() ? Bound() : bounds[static_cast<size_t>(field)]; }
  bool exact() const;
};

// The elements of FIELD from linear OFFSET on, as many as fit in OUT; holes are zero.
void expect(const Truth& truth, int field, int64_t offset, std::span<std::byte> out);
// The elements of PIECE, and the ghost cells around them.
void fill_piece(const Truth& truth, const Piece& piece);

// The wrong elements found so far: their number, and the first by field and offset; and by how much those within a
// bound are off. Plain bytes, so that ranks can send it.
struct Faults {
  int64_t wrong = 0;
  Deviation largest;
  int64_t field = -1;
  int64_t offset = 0;
  std::array<std::byte, 16> found{};
};
void merge(Faults& into, const Faults& other);
// Compares all elements of FIELD from linear OFFSET on with the expected values, within the bound of FIELD.
void check(const Truth& truth, int field, int64_t offset, std::span<const std::byte> data, Faults& faults);
// "field 'D1', element (3, 5): expected 1.5, found 0 (zeroed); written by rank 2; 17 wrong in all". WRITERS is the
// number of ranks that wrote. REQUIRES: faults.wrong > 0.
std::string explain(const Truth& truth, const Faults& faults, int writers);

// CRC-64 of a range of the logical little-endian row-major stream.
struct Digest {
  uint64_t crc = 0;
  int64_t bytes = 0;
  void append(const Digest& next);
};
Digest digest(std::span<const std::byte> data);
// Checks every element of PIECE. The digest covers them in memory order, without ghost cells.
Digest check_piece(const Truth& truth, const Piece& piece, Faults& faults);
// The expected digest of elements [slab.begin, slab.end) of FIELD.
Digest expected_digest(const Truth& truth, int field, const Slab& slab);

}  // namespace penstock::bench
