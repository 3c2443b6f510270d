// Stored bytes: reads parts of an open HDF5 file without libhdf5, and never beyond the file's end.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/hdf5/handles.hpp"

namespace penstock::hdf5 {

// The little-endian number in BYTES, of which there are at most 8.
uint64_t number(std::span<const std::byte> bytes);
inline uint64_t number(std::span<const std::byte> bytes, size_t at, size_t count) {
  return number(bytes.subspan(at, count));
}

// The other way.
void put_number(uint64_t value, std::span<std::byte> bytes);
// HDF5's checksum of metadata.
uint32_t metadata_checksum(std::span<const std::byte> bytes);

// Usable while the file is open. Addresses count from the end of the user block, as everywhere in HDF5.
struct StoredBytes {
  int fd = -1;
  uint64_t base = 0, end = 0;  // of the file, where addresses begin and end
  size_t address_bytes = 8, length_bytes = 8;

  // FILE was opened with the library's POSIX driver.
  static Result<StoredBytes> of(hid_t file);

  // COUNT bytes; Code::damaged if the file ends before.
  Result<std::vector<std::byte>> read(uint64_t address, uint64_t count) const;
  // At most COUNT bytes, fewer at the file's end.
  Result<std::vector<std::byte>> read_some(uint64_t address, uint64_t count) const;
  int64_t file_bytes() const { return static_cast<int64_t>(base + end); }
  bool holds(uint64_t address, uint64_t count) const { return address <= end && count <= end - address; }
};

}  // namespace penstock::hdf5
