// FileDescriptor: an open file descriptor that closes itself, and system calls that retry after a signal.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace penstock {

// The destructor closes it and ignores errors.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd = -1) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// Returns the result of CALL: below 0 with errno on failure. Repeats CALL on EINTR.
template <typename Call>
auto retrying(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

// Reads from byte AT of FD until BYTES is full or the file ends: the number of bytes, or below 0 with errno.
inline ssize_t read_at(int fd, std::span<std::byte> bytes, int64_t at) {
  size_t done = 0;
  while (done < bytes.size()) {
    const auto rest = bytes.subspan(done);
    const auto from = static_cast<off_t>(at) + static_cast<off_t>(done);
    const ssize_t n = retrying([&] { return ::pread(fd, rest.data(), rest.size(), from); });
    if (n < 0) return n;
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  return static_cast<ssize_t>(done);
}

}  // namespace penstock
