// How datasets are read back: never as they were written.
#include <algorithm>

#include "tests/conformance/workload.hpp"
#include "tests/harness/values.hpp"

namespace penstock::test {

namespace {

// This rank's block of an even grid with one more cell on each side that exists: neighbours overlap.
Box with_halo(const Dims& shape, Box box) {
  for (int i = 0; i < shape.rank(); ++i) {
    if (box.count[i] == 0) continue;
    const int64_t end = std::min(shape[i], box.start[i] + box.count[i] + 1);
    box.start[i] = std::max<int64_t>(0, box.start[i] - 1);
    box.count[i] = end - box.start[i];
  }
  return box;
}

}  // namespace

std::vector<Slice> reading(const Dims& shape, int way, uint64_t seed, int rank, int size) {
  const int64_t n = product(shape);
  if (n == 0 || shape.rank() == 0) {  // one rank has it all, or everybody, or the last
    if (way % 3 == 1) return {replicated(shape)};
    if (rank != (way % 3 == 0 ? 0 : size - 1)) return {};
    return {block(shape, {Dims::filled(shape.rank(), 0), shape})};
  }
  Random random(mix(seed, static_cast<uint64_t>(way)));
  const Slice even = grid(shape, process_grid(size, shape.rank(), way % 2 == 0), rank);
  switch (way) {
    case 0: return {even};
    case 1: {
      const auto list = split_boxes(shape, 3 * size, random);
      const auto owner = deal(list.size(), size, random);
      std::vector<Box> mine;
      for (size_t i = 0; i < list.size(); ++i)
        if (owner[i] == rank) mine.push_back(list[i]);
      return {boxes(shape, mine)};
    }
    case 2: {
      const auto list = split_runs(n, static_cast<int>(std::min<int64_t>(20 * size, 1 + n / 4)), random);
      const auto owner = deal(list.size(), size, random);
      std::vector<Run> mine;
      for (size_t i = 0; i < list.size(); ++i)
        if (owner[i] == rank) mine.push_back(list[i]);
      return {runs(shape, mine)};
    }
    case 3: return {ghosted(shape, with_halo(shape, even.boxes[0]), 1)};
    case 4: return {replicated(shape)};
    case 5: return {transposed(shape, even.boxes[0], 2)};
    default: {  // one rank alone reads, in two calls
      if (rank != static_cast<int>(seed % static_cast<uint64_t>(size))) return {};
      const auto list = split_boxes(shape, 2, random);
      std::vector<Slice> slices;
      for (const Box& box : list) slices.push_back(block(shape, box));
      return slices;
    }
  }
}

}  // namespace penstock::test
