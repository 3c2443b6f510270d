// Reserve: fallocate(2), without glibc's emulation, and reports of the file system.
#include "core/engine/reserve.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cerrno>

#include <fmt/format.h>

#include "core/base/file_descriptor.hpp"
#include "core/base/units.hpp"

namespace penstock {
namespace {

Status look(int fd, const std::string& path, int64_t bytes) {
  struct statvfs disk = {};
  struct stat file = {};
  if (::fstatvfs(fd, &disk) != 0 || ::fstat(fd, &file) != 0) return {};  // unknown free space is accepted
  const int64_t free = static_cast<int64_t>(disk.f_bavail) * static_cast<int64_t>(disk.f_frsize);
  const int64_t missing = bytes - file.st_blocks * 512;
  if (missing <= free) return {};
  return {Code::no_space, fmt::format("'{}' needs {} more, the file system has {} free", path, format_bytes(missing),
                                      format_bytes(free))};
}

}  // namespace

Status reserve(const std::string& path, int64_t bytes) {
  if (bytes <= 0) return {};
  const FileDescriptor file(retrying([&] { return ::open(path.c_str(), O_WRONLY | O_CLOEXEC); }));
  if (file.get() < 0) return Status::from_errno(errno, fmt::format("opening '{}' to reserve its space", path));
  if (retrying([&] { return ::fallocate(file.get(), 0, 0, bytes); }) == 0) return {};
  if (errno == EOPNOTSUPP || errno == ENOSYS) return look(file.get(), path, bytes);
  return Status::from_errno(errno, fmt::format("reserving {} for '{}'", format_bytes(bytes), path));
}

Status creation_error(const std::string& path, const Status& library) {
  if (library.ok()) return library;
  const FileDescriptor file(retrying([&] { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600); }));
  return file.get() < 0 ? Status::from_errno(errno, fmt::format("creating '{}'", path)) : library;
}

int64_t first_hole(const std::string& path, int64_t begin, int64_t end) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return -1;
  const auto hole = static_cast<int64_t>(::lseek(file.get(), begin, SEEK_HOLE));
  return hole >= begin && hole < end ? hole : -1;
}

Status check_size(const std::string& path, int64_t bytes) {
  struct stat file = {};
  if (::stat(path.c_str(), &file) != 0) return Status::from_errno(errno, fmt::format("looking at '{}'", path));
  if (file.st_size >= bytes) return {};
  return {Code::io, fmt::format("the library reported success, but '{}' has {} bytes where {} were written", path,
                                file.st_size, bytes)};
}

}  // namespace penstock
