// Scratch: the bytes of one file, kept in a node-local folder until they are copied to their target.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include <penstock/status.hpp>

#include "core/base/file_descriptor.hpp"
#include "core/storage/storage.hpp"

namespace penstock {

class ScratchFile {
 public:
  // Creates a file without a name in FOLDER; it disappears with this process, however that ends.
  static Result<std::unique_ptr<ScratchFile>> create(Storage& storage, const std::string& folder);

  Status write(int64_t offset, std::span<const std::byte> bytes);
  // Copies the written ranges, and nothing else, to TARGET.
  Status copy_to(StorageFile& target);

 private:
  ScratchFile(FileDescriptor fd, StorageFilePtr file) : fd_(std::move(fd)), file_(std::move(file)) {}

  FileDescriptor fd_;
  StorageFilePtr file_;
  std::map<int64_t, int64_t> written_;  // begin: end, disjoint
};

// Code::no_space if FOLDER, or the folder of a file, has less than NEEDED bytes free.
Status check_space(const std::string& folder, int64_t needed, std::string_view what);

}  // namespace penstock
