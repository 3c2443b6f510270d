// Kernels: byte loops for all copies between memory and flat buffers, with byte swapping.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/model/selection.hpp"

namespace penstock {

// COUNT rows of BYTES each; the steps are distances between rows in bytes. No alignment is needed. TO and FROM must not
// overlap, nor may two rows of TO.
struct Rows {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  int64_t count = 1;
  int64_t bytes = 0;
  int64_t to_step = 0, from_step = 0;
};

// Reverses the bytes of every SWAP_BYTES; 0 or 1: no swap.
// REQUIRES: rows.bytes is a multiple of swap_bytes.
void copy_rows(const Rows& rows, int64_t swap_bytes);

// The location of runs on one side: each at BASE + SHIFT + its AT * element size in bytes.
struct RunSide {
  std::byte* base = nullptr;
  int64_t shift = 0;  // bytes
  int64_t MemoryRun::* at = nullptr;
};

struct Runs {
  std::span<const MemoryRun> runs;
  RunSide to, from;
  int64_t element_bytes = 1;
  int64_t begin = 0, end = 0;  // elements of the dataset
};

// Copies runs up to the first that is not entirely in [begin, end); returns their number.
size_t copy_runs(const Runs& runs, int64_t swap_bytes);

}  // namespace penstock
