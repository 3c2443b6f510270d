// Private file: the file in which libhdf5 builds an image; it has no name once it contains anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <penstock/status.hpp>

#include "core/base/file_descriptor.hpp"

namespace penstock::hdf5 {

// A sparse file on tmpfs (/dev/shm, else TMPDIR, else /tmp). The library's "core" driver is not suitable: it extends
// its memory to the end of allocation at every flush, so that a file of 1 TiB would need 1 TiB. Here unwritten datasets
// need no memory.
class PrivateFile {
 public:
  static Result<PrivateFile> make();
  PrivateFile(PrivateFile&& other) noexcept
      : fd_(std::move(other.fd_)), path_(std::move(other.path_)), named_(std::exchange(other.named_, false)) {}
  PrivateFile& operator=(PrivateFile&&) = delete;
  ~PrivateFile() { unlink_name(); }

  // REQUIRES: unlink_name() was not called.
  const std::string& path() const { return path_; }
  // False for a file that never had a name: its path is a link in /proc that can be opened.
  bool named() const { return named_; }
  // Called after the library has opened the file, so that even a killed process leaves nothing behind.
  void unlink_name();

  int fd() const { return fd_.get(); }
  Result<int64_t> size() const;
  Result<std::vector<std::byte>> read(int64_t begin, int64_t end) const;
  // One past the last nonzero byte in [begin, end); BEGIN if all are zero. Holes are skipped, not read.
  Result<int64_t> end_of_nonzero(int64_t begin, int64_t end) const;

 private:
  PrivateFile(int fd, std::string path, bool named) : fd_(fd), path_(std::move(path)), named_(named) {}
  FileDescriptor fd_;
  std::string path_;
  bool named_ = false;
};

}  // namespace penstock::hdf5
