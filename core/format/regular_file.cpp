// Regular files by POSIX calls. Formats may not use storage, which belongs to the transports.
#include "core/format/regular_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace penstock {
namespace {

class OpenFile {
 public:
  // Without O_NONBLOCK, opening a FIFO would wait forever for a writer.
  explicit OpenFile(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~OpenFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

Result<int64_t> size_of(const OpenFile& file, const std::string& path) {
  if (file.fd() < 0) return Status::from_errno(errno, "opening '" + path + "'");
  struct stat info{};
  if (::fstat(file.fd(), &info) != 0) return Status::from_errno(errno, "fstat of '" + path + "'");
  if (!S_ISREG(info.st_mode)) return Status(Code::damaged, "'" + path + "' is not a regular file");
  return static_cast<int64_t>(info.st_size);
}

}  // namespace

Result<int64_t> regular_file_bytes(const std::string& path) { return size_of(OpenFile(path), path); }

Result<std::string> read_regular_file(const std::string& path, int64_t limit) {
  const OpenFile file(path);
  PENSTOCK_ASSIGN(const int64_t size, size_of(file, path));
  std::string text(static_cast<size_t>(std::min(size, limit)), '\0');
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::pread(file.fd(), text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Status::from_errno(errno, "reading '" + path + "'");
    if (n == 0) return Status(Code::damaged, "'" + path + "' became shorter while it was read");
    done += static_cast<size_t>(n);
  }
  return text;
}

std::string_view folder_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return "";
  return slash == 0 ? path.substr(0, 1) : path.substr(0, slash);
}

std::string_view file_name_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string join_path(std::string_view folder, std::string_view file_name) {
  std::string path(folder);
  if (!path.empty() && path.back() != '/') path += '/';
  path += file_name;
  return path;
}

}  // namespace penstock
