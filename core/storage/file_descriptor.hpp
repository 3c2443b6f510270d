// FileDescriptor: an open file descriptor of storage's, and what a failed system call is called.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <penstock/status.hpp>

namespace penstock {

// Of errno: "CALL 'PATH': its text".
inline Status failed(std::string_view call, const std::string& path) {
  return Status::from_errno(errno, fmt::format("{} '{}'", call, path));
}

// Closes it without reporting.
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

// Below 0, and errno, on failure.
inline FileDescriptor open_retrying(const std::string& path, int flags) {
  int fd = -1;
  do fd = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  while (fd < 0 && errno == EINTR);
  return FileDescriptor(fd);
}

}  // namespace penstock
