// Piece: the part of one field that a rank writes or reads in one call, and its memory, with or without ghost cells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <penstock/decomposition.hpp>

#include "bench/workload/workload.hpp"

namespace penstock::bench {

struct Piece {
  int field = 0;  // of the workload
  Decomposition part;
  int ghosts = 0;              // layers of ghost cells on every side. REQUIRES: 0 unless part is one box
  std::span<std::byte> bytes;  // memory_elements elements; not owned

  // As needed by put, lend and get.
  Memory memory() const;
};

// The size of the array around PART; 0 if PART is empty.
int64_t memory_elements(const Decomposition& part, int ghosts);

// The value of ghost cells before and after: nobody may read or write them.
inline constexpr std::byte ghost_byte{0xa5};
// Whether all ghost cells of PIECE are unchanged. SIZE is the element size.
bool ghosts_are_whole(const Piece& piece, int64_t size);

// The element of PIECE's memory at which row number ROW of its box begins.
int64_t row_in_memory(const Piece& piece, int64_t row);

// Calls VISIT(offset, bytes) for every range of elements that is contiguous in both dataset (from element OFFSET) and
// memory, in memory order. SIZE is the element size. Uses the bench's own arithmetic, like for_each_run.
template <typename Visit>
void for_each_stretch(const Piece& piece, int64_t size, Visit visit) {
  int64_t row = 0, offset = 0, at = 0, length = 0;
  const auto flush = [&] {
    if (length > 0)
      visit(offset, piece.bytes.subspan(static_cast<size_t>(at * size), static_cast<size_t>(length * size)));
  };
  for_each_run(piece.part, [&](int64_t run_offset, int64_t run_length) {
    const int64_t run_at = piece.ghosts == 0 ? at + length : row_in_memory(piece, row++);
    if (run_offset == offset + length && run_at == at + length) {
      length += run_length;
      return;
    }
    flush();
    offset = run_offset;
    at = run_at;
    length = run_length;
  });
  flush();
}

}  // namespace penstock::bench
