// direct_file: a file that bypasses the page cache.
#pragma once

#include <string>

#include "core/storage/file_descriptor.hpp"
#include "core/storage/storage.hpp"

namespace penstock {

// FD: the same file, open without O_DIRECT. Code::unsupported where the file system has no O_DIRECT.
Result<StorageFilePtr> direct_file(const std::string& path, FileDescriptor fd, bool writable, int64_t queue_depth);

}  // namespace penstock
