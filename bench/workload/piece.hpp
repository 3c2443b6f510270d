// Piece: a part of one field that a rank writes or reads in one call, and the memory that holds it, with or without
// ghost cells around it.
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
  int ghosts = 0;              // layers of ghost cells on every side. REQUIRES: 0 where part is not one box
  std::span<std::byte> bytes;  // memory_elements of them; not its own

  // As put, lend and get want to know it.
  Memory memory() const;
};

// Of the array that PART lies in; 0 where it is empty.
int64_t memory_elements(const Decomposition& part, int ghosts);

// What ghost cells hold, before and after: nobody may read or write them.
inline constexpr std::byte ghost_byte{0xa5};
// Whether any ghost cell of PIECE holds something else. SIZE is that of an element.
bool ghosts_are_whole(const Piece& piece, int64_t size);

// The element of PIECE's memory at which row number ROW of its box begins.
int64_t row_in_memory(const Piece& piece, int64_t row);

// Calls VISIT(offset, bytes) for every stretch of elements that are neighbours both in the dataset, from element OFFSET
// on, and in memory; in memory's order. SIZE is that of an element. By the bench's own arithmetic, as for_each_run.
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
