// Slice: one rank's part of a dataset, twice: as penstock is told it, and as plain boxes or runs that a test can walk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include <penstock/decomposition.hpp>
#include <penstock/type.hpp>

namespace penstock::test {

using Random = std::mt19937_64;
inline int64_t draw(Random& random, int64_t below) {
  return static_cast<int64_t>(random() % static_cast<uint64_t>(below));
}

struct Slice {
  Decomposition part;
  Memory memory;
  int64_t room = 0;  // elements of the array in memory
  Dims shape;        // of the dataset, global
  std::vector<Box> boxes;
  std::vector<Run> runs;
};

// Of the global SHAPE. BOX is contiguous in memory.
Slice block(const Dims& shape, const Box& box);
// With GHOSTS cells around it, thicker behind than before in memory.
Slice ghosted(const Dims& shape, const Box& box, int64_t ghosts);
// Fastest dimension first in memory, every element GAP apart.
Slice transposed(const Dims& shape, const Box& box, int64_t gap);
Slice grid(const Dims& shape, const Dims& process_grid, int rank);
Slice boxes(const Dims& shape, std::span<const Box> list);
Slice runs(const Dims& shape, std::span<const Run> list);
// ROWS rows from row FIRST of TOTAL.
Slice ragged(int64_t first, int64_t rows, int64_t total, const Dims& row);
Slice replicated(const Dims& shape);
Slice per_rank(const Dims& row, int rank, int size);

// Calls f(element of the dataset, element of memory) for all that SLICE holds.
template <typename F>
void each_element(const Slice& slice, F f);
// An array for SLICE with each of its elements made from SEED; what lies between them is 0x5a.
std::vector<std::byte> filled(const Slice& slice, const ElementType& type, uint64_t seed);
// An array for SLICE of nothing but 0xa5, to read into.
std::vector<std::byte> blank(const Slice& slice, const ElementType& type);
// Elements of MEMORY that are not what they should be, and bytes between them that are not 0xa5 any more; the first
// of them in WRONG.
int64_t differences(const Slice& slice, const ElementType& type, uint64_t seed, std::span<const std::byte> memory,
                    int64_t& wrong);

// --- exact tilings, the same on all ranks for one state of RANDOM ---
int64_t product(const Dims& dims);
// SIZE as RANK factors, as even as can be; the largest first, or last.
Dims process_grid(int size, int rank, bool largest_first);
std::vector<Box> split_boxes(const Dims& shape, int pieces, Random& random);
std::vector<Run> split_runs(int64_t elements, int pieces, Random& random);  // in random order
// Whose each of COUNT things is: rank numbers below SIZE.
std::vector<int> deal(size_t count, int size, Random& random);

// Calls F(OFFSET, LENGTH, AT, STRIDE) for each row of consecutive elements of the dataset: its first is element AT of
// the array in memory, and they are STRIDE apart there.
template <typename F>
void each_row(const Slice& slice, F f) {
  int64_t memory = 0;
  for (const Run& run : slice.runs) {
    f(run.offset, run.length, memory, int64_t{1});
    memory += run.length;
  }
  const Dims& stride = slice.memory.stride;
  for (const Box& box : slice.boxes) {
    const int rank = box.count.rank(), last = rank - 1;
    const int64_t length = rank == 0 ? 1 : box.count[last], n = product(box.count);
    Dims index = Dims::filled(rank, 0);
    for (int64_t done = 0; done < n; done += length) {
      int64_t offset = 0, place = slice.memory.offset;
      for (int k = 0; k < rank; ++k) {
        offset = offset * slice.shape[k] + box.start[k] + index[k];
        if (!stride.empty()) place += index[k] * stride[k];
      }
      f(offset, length, stride.empty() ? slice.memory.offset + memory : place, stride.empty() ? 1 : stride[last]);
      memory += length;
      for (int k = last - 1; k >= 0 && ++index[k] == box.count[k]; --k) index[k] = 0;
    }
  }
}

template <typename F>
void each_element(const Slice& slice, F f) {
  each_row(slice, [&](int64_t offset, int64_t length, int64_t at, int64_t stride) {
    for (int64_t i = 0; i < length; ++i) f(offset + i, at + i * stride);
  });
}

}  // namespace penstock::test
