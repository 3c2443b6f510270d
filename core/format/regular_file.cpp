// Regular files by POSIX calls. Formats may not use storage, which belongs to the transports.
#include "core/format/regular_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "core/base/file_descriptor.hpp"

namespace penstock {
namespace {

// Without O_NONBLOCK, opening a FIFO would wait forever for a writer.
FileDescriptor open_to_read(const std::string& path) {
  return FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

Result<int64_t> size_of(const FileDescriptor& file, const std::string& path) {
  if (file.get() < 0) return Status::from_errno(errno, "opening '" + path + "'");
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) return Status::from_errno(errno, "fstat of '" + path + "'");
  if (!S_ISREG(info.st_mode)) return Status(Code::damaged, "'" + path + "' is not a regular file");
  return static_cast<int64_t>(info.st_size);
}

}  // namespace

Result<int64_t> regular_file_bytes(const std::string& path) { return size_of(open_to_read(path), path); }

Result<FileDescriptor> open_regular_file(const std::string& path) {
  FileDescriptor file = open_to_read(path);
  PENSTOCK_TRY(size_of(file, path).status());
  return file;
}

Result<std::string> read_regular_file(const std::string& path, int64_t limit) {
  const FileDescriptor file = open_to_read(path);
  PENSTOCK_ASSIGN(const int64_t size, size_of(file, path));
  std::string text(static_cast<size_t>(std::min(size, limit)), '\0');
  const ssize_t n = read_at(file.get(), std::as_writable_bytes(std::span(text)), 0);
  if (n < 0) return Status::from_errno(errno, "reading '" + path + "'");
  if (n < std::ssize(text)) return Status(Code::damaged, "'" + path + "' became shorter while it was read");
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
