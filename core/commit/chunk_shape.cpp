// Chunk shape: the largest block of any rank is cut where all other blocks begin at multiples of it, or nearly so.
#include "core/commit/chunk_shape.hpp"

#include <algorithm>

namespace penstock {
namespace {

constexpr int64_t few = 8;  // of the chunks in a row of a block's, of which ranks share one where blocks are uneven
constexpr int64_t min_chunk = 64 << 10;  // of a chunk: with smaller ones the index and each read would cost more

// The largest divisor of N up to MOST.
int64_t divisor(int64_t n, int64_t most) {
  for (int64_t pieces = (n + most - 1) / most;; ++pieces)
    if (n % pieces == 0) return n / pieces;
}

// The last dimension in which a boundary of BOX is not at a multiple of BLOCK, nor at the dataset's end. -1: none.
int unaligned(const Box& box, const Dims& block, const Dims& shape) {
  for (int d = shape.rank() - 1; d >= 0; --d) {
    const int64_t end = box.start[d] + box.count[d];
    if (box.start[d] % block[d] != 0 || (end % block[d] != 0 && end != shape[d])) return d;
  }
  return -1;
}

}  // namespace

Dims chunk_of_block(const Dims& shape, const Dims& block, int64_t size, int64_t most, const Dims& unit) {
  Dims chunk = block;
  for (int d = 0; d < shape.rank(); ++d) {
    const int64_t row = elements(chunk) / chunk[d] * size;  // bytes of one step in this dimension
    if (row * chunk[d] <= most) break;
    const int64_t wanted = std::max(unit[d], most / row);
    const int64_t pieces = (chunk[d] + wanted - 1) / wanted;
    const bool alone = block[d] >= shape[d];  // no other rank begins within this dimension
    chunk[d] = alone ? (chunk[d] + pieces - 1) / pieces : divisor(chunk[d], wanted);
  }
  return chunk;
}

Dims chunk_within(const Dataset& dataset, const RankBlocks& blocks, const Dims& unit, int64_t most, int64_t multiple) {
  const Dims& block = blocks.extents;
  const int64_t size = bytes(dataset.type);
  Dims chunk = chunk_of_block(dataset.shape, block, size, most, unit);
  for (int d = 0; d < chunk.rank() && elements(chunk) % multiple != 0; ++d) {
    if (chunk[d] == block[d]) continue;
    const int64_t others = elements(chunk) / chunk[d];
    for (int64_t extent = chunk[d]; extent > chunk[d] / 2; --extent)
      if (others * extent % multiple == 0 && (block[d] >= dataset.shape[d] || block[d] % extent == 0)) {
        chunk[d] = extent;
        break;
      }
  }
  const bool is_small = elements(chunk) * size < std::min({min_chunk, most / 2, bytes(dataset)});
  const bool is_shared = blocks.uneven && chunk[0] > block[0] / few;
  return is_small || is_shared ? Dims() : chunk;
}

Result<std::vector<RankBlocks>> blocks_of_ranks(const Communicator& comm, std::span<const Dataset> datasets,
                                                const std::vector<bool>& cut, std::span<const Claim> claims) {
  std::vector<size_t> first(datasets.size());  // the extents of each dataset in MAXIMA
  std::vector<int64_t> maxima;
  for (size_t d = 0; d < datasets.size(); ++d) {
    first[d] = maxima.size();
    if (cut[d]) maxima.resize(maxima.size() + static_cast<size_t>(datasets[d].shape.rank()));
  }
  const auto boxes_of = [&](const auto& then) {
    for (const Claim& claim : claims)
      if (const auto d = static_cast<size_t>(claim.dataset); cut[d] && claim.selection.count() > 0)
        then(d, claim.selection.is_box() ? claim.selection.box() : Box{});
  };
  boxes_of([&](size_t d, const Box& box) {
    for (int i = 0; i < box.count.rank(); ++i) {
      int64_t& extent = maxima[first[d] + static_cast<size_t>(i)];
      extent = std::max(extent, box.count[i]);
    }
  });
  PENSTOCK_TRY(comm->all_reduce_max(maxima));
  constexpr int64_t uneven = 1, none = 2;
  std::vector<RankBlocks> blocks(datasets.size());
  std::vector<int64_t> lacks(datasets.size());
  for (size_t d = 0; d < datasets.size(); ++d) {
    if (!cut[d]) continue;
    const Dims& shape = datasets[d].shape;
    Dims& block = blocks[d].extents;
    block = Dims(std::span(maxima).subspan(first[d], static_cast<size_t>(shape.rank())));
    lacks[d] = std::ranges::any_of(block, [](int64_t extent) { return extent == 0; }) ? none : 0;
  }
  boxes_of([&](size_t d, const Box& box) {
    if (lacks[d] == none) return;
    const int dimension = box.count.rank() == 0 ? 1 : unaligned(box, blocks[d].extents, datasets[d].shape);
    lacks[d] = std::max(lacks[d], dimension < 0 ? 0 : dimension == 0 ? uneven : none);
  });
  PENSTOCK_TRY(comm->all_reduce_max(lacks));
  for (size_t d = 0; d < datasets.size(); ++d) {
    blocks[d].uneven = lacks[d] == uneven;
    if (!cut[d] || lacks[d] == none) blocks[d] = {};
  }
  return blocks;
}

}  // namespace penstock
