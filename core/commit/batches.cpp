// Batches: chunks in the order of claims; slices in the order of datasets.
#include "core/commit/batches.hpp"

#include <algorithm>
#include <utility>

namespace penstock {

Claim part_of(const Claim& claim, const Box& box) {
  const Box& all = claim.selection.box();
  const Dims& stride = claim.selection.stride();
  Box both = all;
  Memory memory{claim.selection.memory_offset(), stride};
  for (int d = 0; d < all.start.rank(); ++d) {
    both.start[d] = std::max(all.start[d], box.start[d]);
    both.count[d] = std::min(all.start[d] + all.count[d], box.start[d] + box.count[d]) - both.start[d];
    memory.offset += (both.start[d] - all.start[d]) * stride[d];
  }
  return {claim.dataset, Selection::of_box(claim.selection.shape(), both, memory), claim.memory, claim.supplier};
}

OwnChunks own_chunks(int ranks, const ChunkStore& store, std::span<const Claim> claims) {
  int64_t share = bytes_of_rank;
  for (const Tiled& one : store.tiled())
    if (one.tiles) share += bytes(*one.dataset) / ranks * 5 / 4;
  OwnChunks own;
  for (size_t i = 0; i < claims.size(); ++i) {
    const Claim& claim = claims[i];
    if (!claim.selection.is_box()) {
      own.left.push_back(claim);
      own.in_parts = false;
      continue;
    }
    const Tiles& tiles = store.tiles(claim.dataset);
    for (const int64_t number : tiles.of(claim.selection)) {
      const Box box = tiles.box(number);
      Claim part = part_of(claim, box);
      const int64_t size = store.tile_bytes({claim.dataset, number});
      if (size > share || part.selection.count() < elements(box.count)) {
        own.left.push_back(std::move(part));
        continue;
      }
      share -= size;
      own.chunks.push_back({i, number});
    }
  }
  return own;
}

int64_t largest_chunk(const ChunkStore& store) {
  int64_t largest = 0;
  for (const Tiled& one : store.tiled())
    if (one.tiles) largest = std::max(largest, one.tiles->bytes());
  return largest;
}

int64_t batch_bytes(int ranks, int64_t memory_bytes, int64_t all) {
  constexpr int64_t batches = 8, least = 2 << 20, most = 8 << 20;
  return std::min(std::clamp(all / ranks / batches, least, most), memory_bytes / 4);
}

int64_t batch_bytes(int ranks, int64_t memory_bytes, const ChunkStore& store) {
  int64_t all = 0;
  for (const Tiled& one : store.tiled())
    if (one.tiles) all += bytes(*one.dataset);
  return std::max(largest_chunk(store), batch_bytes(ranks, memory_bytes, all));
}

std::vector<size_t> batches_of(const ChunkStore& store, std::span<const OwnChunk> own, std::span<const Claim> claims,
                               int64_t bytes) {
  std::vector<size_t> ends;
  int64_t left = 0;
  for (size_t i = 0; i < own.size(); ++i) {
    const int64_t size = store.tiles(claims[own[i].claim].dataset).bytes();
    if (ends.empty() || size > left) {
      ends.push_back(i);
      left = bytes;
    }
    left -= size;
    ends.back() = i + 1;
  }
  return ends;
}

int64_t largest_batch(const ChunkStore& store, std::span<const OwnChunk> own, std::span<const Claim> claims,
                      std::span<const size_t> ends) {
  int64_t largest = 0;
  size_t at = 0;
  for (const size_t end : ends) {
    int64_t bytes = 0;
    for (; at < end; ++at) bytes += store.tiles(claims[own[at].claim].dataset).bytes();
    largest = std::max(largest, bytes);
  }
  return largest;
}

std::vector<std::vector<Claim>> slices_of(const ChunkStore& store, std::span<const Claim> claims,
                                          std::span<const int64_t> left, int64_t count) {
  std::vector<int64_t> before;  // bytes that are left of earlier datasets
  int64_t all = 0;
  for (const int64_t bytes : left) {
    before.push_back(all);
    all += bytes;
  }
  std::vector<std::vector<Claim>> slices(static_cast<size_t>(count));
  for (const Claim& claim : claims) {
    const Tiles& tiles = store.tiles(claim.dataset);
    const auto d = static_cast<size_t>(claim.dataset);
    const double part = static_cast<double>(tiles.of(claim.selection).front()) / static_cast<double>(tiles.count());
    const auto at = static_cast<double>(before[d]) + part * static_cast<double>(left[d]);
    const auto slice = static_cast<int64_t>(at / static_cast<double>(all) * static_cast<double>(count));
    slices[static_cast<size_t>(std::min(slice, count - 1))].push_back(claim);
  }
  return slices;
}

}  // namespace penstock
