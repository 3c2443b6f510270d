// Private file: where libhdf5 may build an image in peace; it has no name by the time anything is in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <penstock/status.hpp>

namespace penstock::hdf5 {

// A sparse file on tmpfs (/dev/shm, else TMPDIR, else /tmp). Not the library's "core" driver: that one extends its
// memory to the end of allocation at every flush, so that a file of 1 TiB would need 1 TiB; here unwritten datasets
// cost nothing.
class PrivateFile {
 public:
  static Result<PrivateFile> make();
  PrivateFile(PrivateFile&& other) noexcept;
  PrivateFile& operator=(PrivateFile&&) = delete;
  ~PrivateFile();

  // REQUIRES: unlink_name() was not called.
  const std::string& path() const { return path_; }
  // False for a file that never had a name: its path is a link of /proc that leads nowhere but is opened all the same.
  bool named() const { return named_; }
  // Once the library has it open, so that even a killed process leaves nothing behind.
  void unlink_name();

  Result<int64_t> size() const;
  Result<std::vector<std::byte>> read(int64_t begin, int64_t end) const;
  // One past the last byte of [begin, end) that is not zero; BEGIN where all are. Holes are skipped, not read.
  Result<int64_t> end_of_nonzero(int64_t begin, int64_t end) const;

 private:
  PrivateFile(int fd, std::string path, bool named) : fd_(fd), path_(std::move(path)), named_(named) {}
  int fd_ = -1;
  std::string path_;
  bool named_ = false;
};

}  // namespace penstock::hdf5
