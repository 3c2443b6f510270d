// mapped_file: a file that is read and written as memory.
#pragma once

#include <string>

#include "core/storage/file_descriptor.hpp"
#include "core/storage/storage.hpp"

namespace penstock {

// Maps the file with its present length.
Result<StorageFilePtr> mapped_file(const std::string& path, FileDescriptor fd, bool writable);

}  // namespace penstock
