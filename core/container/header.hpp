// Header: header and index of a container as bytes; docs/formats/container.md specifies them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <penstock/status.hpp>

#include "core/container/shape.hpp"

namespace penstock::container {

inline constexpr int64_t header_bytes = 512;
inline constexpr int64_t entry_bytes = 24;
inline constexpr size_t max_stem = 255;

// The first bytes of every file of a container.
struct Header {
  Shape shape;
  int64_t file = 0;         // the number of this file
  uint64_t generation = 0;  // the same in all files of a container, unique to it
  // Only in file 0, which has the container's name:
  int64_t index_offset = 0;  // of one Entry for each stream; the file ends after them
  uint64_t index_crc = 0;
  int64_t total_bytes = 0;  // of all streams
  std::string stem;         // the start of the other files' names
  uint64_t previous = 0;    // the replaced generation, whose other files were left for its readers
  int64_t previous_files = 0;
};
using HeaderBytes = std::array<std::byte, header_bytes>;

HeaderBytes encode(const Header& header);
// Code::damaged if a number is out of range. All arithmetic of Shape is safe on the result.
Result<Header> decode(const HeaderBytes& bytes);
// Whether BYTES begin like a container file.
bool recognises(std::span<const std::byte> bytes);

// The index entry of a stream.
struct Entry {
  int64_t start = 0;  // in the concatenation of all streams in rank order
  int64_t bytes = 0;
  uint64_t crc = 0;  // CRC-64/XZ of the stream
};
void encode(const Entry& entry, std::span<std::byte, entry_bytes> out);
Entry decode(std::span<const std::byte, entry_bytes> bytes);

// The name of FILE > 0: "STEM.g0123456789abcdef.000001.pstream".
std::string file_name(const std::string& stem, uint64_t generation, int64_t file);

}  // namespace penstock::container
