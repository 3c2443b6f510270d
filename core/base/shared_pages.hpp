// Shared pages: in-memory files that several processes map. They are fully reserved, so that no store can fail.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/file_descriptor.hpp"

namespace penstock {

// Allocates BYTES bytes by fallocate(2), without emulation. False with errno on failure. EFBIG beyond the process's
// file size limit, which would otherwise raise a fatal signal.
bool reserve_pages(int fd, int64_t bytes);

// Null with errno on failure.
std::byte* map_pages(int fd, int64_t bytes, bool touched = false);
void unmap_pages(std::byte* pages, int64_t bytes);

// An anonymous file, not bounded by the size of /dev/shm. Below 0 with errno on failure.
FileDescriptor memory_file();

}  // namespace penstock
