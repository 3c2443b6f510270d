// direct_file: a file that bypasses the page cache.
#pragma once

#include <string>

#include "core/storage/file_descriptor.hpp"
#include "core/storage/storage.hpp"

namespace penstock {

// FD: the same file, open without O_DIRECT. If the file system does not support O_DIRECT: Code::unsupported, or with io
// = automatic a buffered file.
Result<StorageFilePtr> direct_file(const std::string& path, FileDescriptor fd, IoMode mode, bool writable);

}  // namespace penstock
