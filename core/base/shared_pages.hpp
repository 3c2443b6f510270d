// Shared pages: files in memory that several processes map, reserved in full so that no store to them can fail.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/file_descriptor.hpp"

namespace penstock {

// Whether the file has BYTES now; else errno says why. fallocate(2), and nothing that stands in for it. EFBIG beyond
// the process's limit of file sizes, which would be a signal that kills.
bool reserve_pages(int fd, int64_t bytes);

// Null, and errno, on failure.
std::byte* map_pages(int fd, int64_t bytes, bool touched = false);
void unmap_pages(std::byte* pages, int64_t bytes);

// A file of no file system, which no limit of /dev/shm bounds. Below 0, and errno, on failure.
FileDescriptor memory_file();

}  // namespace penstock
