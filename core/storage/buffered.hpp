// BufferedFile: a file accessed by pwrite and pread, and the base of direct and mapped files, which are made here.
#pragma once

#include <string>
#include <utility>

#include "core/storage/file_descriptor.hpp"
#include "core/storage/storage.hpp"
#include "core/storage/uring.hpp"

namespace penstock {

class BufferedFile : public StorageFile {
 public:
  BufferedFile(std::string path, FileDescriptor fd, int64_t queue_depth)
      : path_(std::move(path)), fd_(std::move(fd)), queue_(queue_depth) {}

  Status write(int64_t offset, std::span<const std::byte> bytes) override;
  Status read(int64_t offset, std::span<std::byte> bytes) override;
  Status sync() override;
  Status close() override;

 protected:
  // For a Movement that only reads BYTES.
  static std::span<std::byte> writable(std::span<const std::byte> bytes) {
    return {const_cast<std::byte*>(bytes.data()), bytes.size()};
  }

  // Continues after short counts; an error names the remaining bytes.
  Status write_all(int fd, int64_t offset, std::span<const std::byte> bytes) const;
  Status read_all(int fd, int64_t offset, std::span<std::byte> bytes) const;
  Status read_staged(int fd, int64_t offset, std::span<std::byte> bytes) const;
  Status read_flat(int fd, int64_t offset, std::span<std::byte> bytes) const;
  // One call: the number of bytes taken, at least 1.
  Result<int64_t> write_some(int fd, int64_t offset, std::span<const std::byte> bytes) const;

  std::string path_;
  FileDescriptor fd_;
  Uring queue_;
};

// A file that bypasses the page cache. FD: the same file, open without O_DIRECT. If the file system does not support
// O_DIRECT: Code::unsupported, or with io = automatic a buffered file.
Result<StorageFilePtr> direct_file(const std::string& path, FileDescriptor fd, IoMode mode, bool writable);

// A file that is read and written as memory; mapped with its present length.
Result<StorageFilePtr> mapped_file(const std::string& path, FileDescriptor fd, bool writable);

}  // namespace penstock
