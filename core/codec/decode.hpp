// Decode: undoes the filters of a chunk without HDF5, in any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/model/encoding.hpp"

namespace penstock {

// Whether this build can undo all of FILTERS.
bool decodes(std::span<const Filter> filters);

// Memory that one chunk after another is decoded in.
struct DecodingRoom {
  std::vector<std::byte> from, to;
};

// The bytes of a chunk of exactly BYTES that STORED has, in STORED or ROOM. Bit i of SKIPPED: filter i was not applied.
// Code::damaged if it decodes to fewer or more.
// REQUIRES: decodes(FILTERS).
Result<std::span<const std::byte>> decode_chunk(std::span<const Filter> filters, uint32_t skipped,
                                                std::span<const std::byte> stored, int64_t bytes, DecodingRoom& room);

}  // namespace penstock
