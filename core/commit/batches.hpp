// Batches: which chunks of a commit a rank can encode by itself, and which it encodes together. Arithmetic only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/commit/chunk_store.hpp"

namespace penstock {

inline constexpr int64_t bytes_of_rank = 1 << 20;  // with less to do, a rank is left out
inline constexpr int64_t most_slices = 8;          // each is a movement; more only if they need too much memory

// Chunk NUMBER of its dataset, of which claim number CLAIM has all elements.
struct OwnChunk {
  size_t claim = 0;
  int64_t number = 0;
};

struct OwnChunks {
  std::vector<OwnChunk> chunks;
  std::vector<Claim> left;  // on the other elements
  bool in_parts = true;     // each of LEFT is on one chunk
};

// The elements of CLAIM, a box, in BOX, which meets it.
Claim part_of(const Claim& claim, const Box& box);
// Those chunks of which CLAIMS have all elements, as many as are the share of one of RANKS.
OwnChunks own_chunks(int ranks, const ChunkStore& store, std::span<const Claim> claims);

int64_t largest_chunk(const ChunkStore& store);
// How many bytes of chunks, as they are, a rank encodes before it writes them: little is left to write when all is
// encoded, and the reductions take little time.
int64_t batch_bytes(int ranks, int64_t memory_bytes, const ChunkStore& store);
// The same where ALL bytes of datasets are encoded in small chunks.
int64_t batch_bytes(int ranks, int64_t memory_bytes, int64_t all);
// OWN chunks of CLAIMS in batches of at most BYTES: one past the last chunk of each.
std::vector<size_t> batches_of(const ChunkStore& store, std::span<const OwnChunk> own, std::span<const Claim> claims,
                               int64_t bytes);
// The bytes that the chunks of any of these batches, which END so, have as they are.
int64_t largest_batch(const ChunkStore& store, std::span<const OwnChunk> own, std::span<const Claim> claims,
                      std::span<const size_t> ends);
// CLAIMS, each on one chunk, by COUNT slices of about the same size, where all ranks have LEFT bytes of each dataset.
std::vector<std::vector<Claim>> slices_of(const ChunkStore& store, std::span<const Claim> claims,
                                          std::span<const int64_t> left, int64_t count);

}  // namespace penstock
