// Encoding: how a dataset is stored in encoded chunks, and where they are, as plain data. Codecs make the chunks,
// formats enter them into their index; neither sees the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <penstock/dims.hpp>
#include <penstock/status.hpp>

namespace penstock {

// A filter that The HDF Group has registered, with the values that its decoder needs.
struct Filter {
  int id = 0;
  std::vector<unsigned> values;

  friend bool operator==(const Filter&, const Filter&) = default;
};

// A chunk as a filter left it, from a file that nobody vouches for.
struct FilteredChunk {
  std::span<const std::byte> bytes;
  std::span<const unsigned> values;  // of the filter
  size_t most = 0;                   // what decodes to more bytes is damaged
};

// Undoes the filter of number ID. DECODE replaces OUT by all bytes of a chunk. Any thread.
struct FilterDecoder {
  int id = 0;
  const char* name = "";
  Status (*decode)(const FilteredChunk& chunk, std::vector<std::byte>& out) = nullptr;
};

// Of a chunk.
struct EncodedSize {
  int64_t bytes = 0;
  uint32_t skipped = 0;  // bit i: filter i was not applied
};

struct EncodedChunk {
  int64_t number = 0;    // in row-major order of the grid of chunks
  int64_t offset = 0;    // from the start of the dataset's encoded bytes; of the file, if it is WRITTEN
  int64_t bytes = 0;     // at least 1
  uint32_t skipped = 0;  // bit i: filter i was not applied
  uint32_t written = 0;  // 1: it is in its place, among the bytes that LayoutOptions name
};

// No FILTERS: the dataset is not encoded.
struct Encoding {
  Dims chunk;                        // extents of every chunk: those at the edges are padded
  std::vector<Filter> filters;       // in the order in which they are applied
  int64_t bytes = 0;                 // of all chunks that are not written
  std::vector<EncodedChunk> chunks;  // rank 0, by number; absent ones are zeros

  bool used() const { return !filters.empty(); }
};

}  // namespace penstock
