// Chunk shape: the largest block of any rank is cut where all other blocks begin at multiples of it.
#include "core/commit/chunk_shape.hpp"

#include <algorithm>

namespace penstock {
namespace {

constexpr int64_t min_chunk = 64 << 10;  // of a chunk: with smaller ones the index and each read would cost more

// The largest divisor of N up to MOST.
int64_t divisor(int64_t n, int64_t most) {
  for (int64_t pieces = (n + most - 1) / most;; ++pieces)
    if (n % pieces == 0) return n / pieces;
}

// Whether all boundaries of BOX lie at multiples of BLOCK, or at the dataset's end.
bool is_aligned(const Box& box, const Dims& block, const Dims& shape) {
  for (int d = 0; d < shape.rank(); ++d) {
    const int64_t end = box.start[d] + box.count[d];
    if (box.start[d] % block[d] != 0 || (end % block[d] != 0 && end != shape[d])) return false;
  }
  return true;
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

Dims chunk_within(const Dataset& dataset, const Dims& block, const Dims& unit, int64_t most, int64_t multiple) {
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
  return is_small ? Dims() : chunk;
}

Result<std::vector<Dims>> blocks_of_ranks(const Communicator& comm, std::span<const Dataset> datasets,
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
  std::vector<Dims> blocks(datasets.size());
  std::vector<int64_t> bad(datasets.size());
  for (size_t d = 0; d < datasets.size(); ++d) {
    if (!cut[d]) continue;
    const Dims& shape = datasets[d].shape;
    blocks[d] = Dims(std::span(maxima).subspan(first[d], static_cast<size_t>(shape.rank())));
    bad[d] = std::ranges::any_of(blocks[d], [](int64_t extent) { return extent == 0; }) ? 1 : 0;
  }
  boxes_of([&](size_t d, const Box& box) {
    if (bad[d] == 0 && (box.count.rank() == 0 || !is_aligned(box, blocks[d], datasets[d].shape))) bad[d] = 1;
  });
  PENSTOCK_TRY(comm->all_reduce_max(bad));
  for (size_t d = 0; d < datasets.size(); ++d)
    if (!cut[d] || bad[d] != 0) blocks[d] = {};
  return blocks;
}

}  // namespace penstock
