// Block means: sums over the blocks of a subset, of the elements that one rank has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include <penstock/decomposition.hpp>
#include <penstock/type.hpp>

#include "core/model/subset.hpp"

namespace penstock {

// What is known of one block. Eight bytes each: messages between ranks hold it.
struct BlockSum {
  double sum[2] = {};  // of the real and the imaginary parts
  int64_t count = 0;   // of its points
  uint64_t proof = 0;  // a sum over its points that shows whether each was added once

  void add(const BlockSum& other);
};
using BlockSums = std::map<int64_t, BlockSum>;  // by the linear number of the block in what is stored

// Means of blocks of which all points are known: a box of what is stored, with values of the type that was summed.
struct BlockMeans {
  Box box;
  std::vector<std::byte> values;
};

// Sums the elements of BOX, which are of floating-point TYPE at DATA with layout MEMORY. What BOX has of other blocks
// is added to REST.
BlockMeans sum_box(const Subset& subset, const ElementType& type, const Box& box, const std::byte* data,
                   const Memory& memory, BlockSums& rest);
// The same for runs, contiguous at DATA; everything is added to REST.
void sum_runs(const Subset& subset, const ElementType& type, std::span<const Run> runs, const std::byte* data,
              BlockSums& rest);

// The number of points of BLOCK, and whether SUM has each of them once.
int64_t points_of(const Subset& subset, int64_t block);
bool is_whole(const Subset& subset, int64_t block, const BlockSum& sum);
// Appends the mean, as TYPE.
void add_mean(const BlockSum& sum, const ElementType& type, std::vector<std::byte>& values);

}  // namespace penstock
