// Kernels: the loops over bytes under every copy between memory and flat buffers, swapping on the way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/model/selection.hpp"

namespace penstock {

// COUNT rows of BYTES each; steps lead from one row to the next, in bytes. Nothing need be aligned, TO and FROM share
// no byte, and no two rows of TO do.
struct Rows {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  int64_t count = 1;
  int64_t bytes = 0;
  int64_t to_step = 0, from_step = 0;
};

// The bytes of every SWAP_BYTES are reversed; 0 or 1: none are.
// REQUIRES: rows.bytes is a multiple of swap_bytes.
void copy_rows(const Rows& rows, int64_t swap_bytes);

// Where runs lie on one side: each at BASE + SHIFT + its AT * bytes of an element.
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

// Copies runs up to the first that does not lie whole in [begin, end); how many these are.
size_t copy_runs(const Runs& runs, int64_t swap_bytes);

}  // namespace penstock
