// BufferedFile: a file by pwrite and pread, and what direct and mapped files share with it.
#pragma once

#include <string>
#include <utility>

#include "core/storage/file_descriptor.hpp"
#include "core/storage/storage.hpp"

namespace penstock {

class BufferedFile : public StorageFile {
 public:
  BufferedFile(std::string path, FileDescriptor fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  Status write(int64_t offset, std::span<const std::byte> bytes) override {
    return write_all(fd_.get(), offset, bytes);
  }
  Status read(int64_t offset, std::span<std::byte> bytes) override { return read_all(fd_.get(), offset, bytes); }
  Status sync() override;
  Status close() override;

 protected:
  // Short counts are continued; an error names what was left to be moved.
  Status write_all(int fd, int64_t offset, std::span<const std::byte> bytes) const;
  Status read_all(int fd, int64_t offset, std::span<std::byte> bytes) const;

  std::string path_;
  FileDescriptor fd_;
};

}  // namespace penstock
