// The file system by system calls: operations on paths. Open files are in buffered, direct and mapped.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "core/status/status_page.hpp"
#include "core/storage/buffered.hpp"
#include "core/storage/file_descriptor.hpp"
#include "core/storage/freed_later.hpp"
#include "core/storage/storage.hpp"
#include "core/storage/traced.hpp"

namespace penstock {

bool same_file(const FileStat& a, const FileStat& b) {
  return a.device == b.device && a.inode == b.inode && (a.born == b.born || a.born == 0 || b.born == 0);
}

namespace {

constexpr int64_t nanoseconds = 1'000'000'000;

// The folder of PATH in the form for system calls.
std::string folder_path(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

Result<StorageFilePtr> make_file(const std::string& path, FileDescriptor fd, IoMode mode, bool writable) {
  if (mode.io == Io::direct || mode.io == Io::automatic) return direct_file(path, std::move(fd), mode, writable);
  if (mode.io == Io::mmap) return mapped_file(path, std::move(fd), writable);
  return StorageFilePtr(std::make_unique<BufferedFile>(path, std::move(fd), mode.queue_depth));
}

// In the words that the tools have for a missing file.
Status absent_or_failed(std::string_view call, const std::string& path) {
  if (errno != ENOENT && errno != ENOTDIR) return failed(call, path);
  return {Code::not_found, fmt::format("'{}': no such file or folder", path)};
}

class PosixStorage : public Storage {
 public:
  PosixStorage(FileMaker make, bool free_later) : make_(std::move(make)), free_later_(free_later) {}

  Result<StorageFilePtr> create(const std::string& path, int64_t bytes, Io io, bool preallocate,
                                Access access) override {
    const mode_t mode = access == Access::own ? 0600 : 0666;
    bool made = false;
    if (make_) {
      PENSTOCK_ASSIGN(made, make_(path, bytes, mode));
    }
    FileDescriptor fd = open_retrying(path, (made ? O_RDWR : O_RDWR | O_CREAT | O_EXCL) | O_NOFOLLOW, mode);
    if (fd.get() < 0) {
      const Status status = failed("creating", path);
      if (made) ::unlink(path.c_str());
      return status;
    }
    Status status = preallocate || io == Io::mmap ? allocate(fd.get(), path, bytes, io) : extend(fd.get(), path, bytes);
    if (status.ok()) {
      auto file = make_file(path, std::move(fd), io, true);
      if (file.ok()) return file;
      status = file.status();
    }
    ::unlink(path.c_str());
    return status;
  }

  Result<StorageFilePtr> open(const std::string& path, IoMode mode, bool writable) override {
    FileDescriptor fd = open_retrying(path, writable ? O_RDWR : O_RDONLY);
    if (fd.get() < 0) return failed("opening", path);
    return make_file(path, std::move(fd), mode, writable);
  }

  Status permit_like(const std::string& path, const std::string& model) override {
    struct stat info{};
    if (::stat(model.c_str(), &info) != 0) return failed("looking at", model);
    if (::chown(path.c_str(), info.st_uid, info.st_gid) != 0)
      (void)!::chown(path.c_str(), static_cast<uid_t>(-1), info.st_gid);
    return set_mode(path, info.st_mode & 0777);
  }

  Status truncate(const std::string& path, int64_t bytes) override {
    const int result = retrying([&] { return ::truncate(path.c_str(), bytes); });
    return result == 0 ? Status() : failed(fmt::format("cutting to {} bytes", bytes), path);
  }

  Status rename(const std::string& from, const std::string& to) override {
    take_away(to);
    return ::rename(from.c_str(), to.c_str()) == 0 ? Status() : failed(fmt::format("renaming '{}' to", from), to);
  }

  Status rename_new(const std::string& from, const std::string& to) override {
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return {};
    if (errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP) return link_new(from, to);
    return failed(fmt::format("renaming '{}' to", from), to);
  }

  Status link(const std::string& from, const std::string& to) override {
    if (::link(from.c_str(), to.c_str()) == 0) return {};
    const std::string what = fmt::format("linking '{}' as", from);
    if (errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS || errno == EMLINK)
      return {Code::unsupported, failed(what, to).message()};
    return failed(what, to);
  }

  Status remove(const std::string& path) override {
    take_away(path);
    return ::unlink(path.c_str()) == 0 || errno == ENOENT ? Status() : failed("removing", path);
  }

  Status remove_tree(const std::string& path) override {
    take_away(path);
    std::error_code error;
    std::filesystem::remove_all(path, error);
    return error ? Status::from_errno(error.value(), fmt::format("removing '{}'", path)) : Status();
  }

  Status exchange(const std::string& a, const std::string& b) override {
    if (::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0) return {};
    if (errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP)
      return {Code::unsupported, fmt::format("exchanging '{}' and '{}': the file system cannot", a, b)};
    return failed(fmt::format("exchanging '{}' and", a), b);
  }

  Status sync_directory(const std::string& path) override {
    const std::string folder = folder_path(path);
    const FileDescriptor fd = open_retrying(folder, O_RDONLY | O_DIRECTORY);
    if (fd.get() < 0) return failed("opening folder", folder);
    if (retrying([&] { return ::fsync(fd.get()); }) != 0) return failed("syncing folder", folder);
    // After a shutdown (for example after a disk error) XFS reports success for a folder whose changes it has dropped;
    // this call reports the error.
    struct stat info = {};
    return ::fstat(fd.get(), &info) == 0 ? Status() : failed("syncing folder", folder);
  }

  Status set_time(const std::string& path, int64_t nanoseconds) override {
    const timespec times[2] = {{0, UTIME_OMIT}, {nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000}};
    return ::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0 ? Status() : failed("setting the time of", path);
  }

  void free_removed_files() override { taken_.free_held(); }

  // One call: on the file systems of clusters each is a message to a server.
  Result<FileStat> stat(const std::string& path) override {
    struct statx info{};
    if (::statx(AT_FDCWD, path.c_str(), 0, STATX_BASIC_STATS | STATX_BTIME, &info) != 0)
      return errno == ENOSYS ? stat_of_old_kernel(path) : absent_or_failed("looking for", path);
    FileStat found;
    found.bytes = static_cast<int64_t>(info.stx_size);
    found.device = gnu_dev_makedev(info.stx_dev_major, info.stx_dev_minor);
    found.inode = info.stx_ino;
    found.directory = S_ISDIR(info.stx_mode) != 0;
    found.regular = S_ISREG(info.stx_mode) != 0;
    found.writable = found.directory && ::access(path.c_str(), W_OK) == 0;
    found.changed_at = info.stx_mtime.tv_sec * nanoseconds + info.stx_mtime.tv_nsec;
    found.block_bytes = info.stx_blksize;
    if ((info.stx_mask & STATX_BTIME) != 0) found.born = info.stx_btime.tv_sec * nanoseconds + info.stx_btime.tv_nsec;
    return found;
  }

  Result<std::vector<std::string>> list(const std::string& folder, size_t most) override {
    DIR* dir = ::opendir(folder.c_str());
    if (dir == nullptr) return absent_or_failed("listing", folder);
    std::vector<std::string> names;
    while (names.size() < most) {
      const dirent* entry = ::readdir(dir);
      if (entry == nullptr) break;
      names.emplace_back(entry->d_name);
    }
    ::closedir(dir);
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  // Of a kernel before 4.11, or in a container that refuses statx.
  static Result<FileStat> stat_of_old_kernel(const std::string& path) {
    struct stat info{};
    if (::stat(path.c_str(), &info) != 0) return absent_or_failed("looking for", path);
    const bool directory = S_ISDIR(info.st_mode) != 0;
    return FileStat{info.st_size,
                    info.st_dev,
                    info.st_ino,
                    directory,
                    S_ISREG(info.st_mode) != 0,
                    directory && ::access(path.c_str(), W_OK) == 0,
                    info.st_mtim.tv_sec * nanoseconds + info.st_mtim.tv_nsec,
                    info.st_blksize};
  }

  static Status set_mode(const std::string& path, mode_t mode) {
    if (::chmod(path.c_str(), mode) == 0) return {};
    if (errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS) return {};  // a file system without permissions
    return failed("setting the permissions of", path);
  }

  // For file systems that cannot rename without replacing: a link does not replace either, and NFS makes it atomically.
  // An "exists" answer may belong to a repeated request whose first attempt made the link.
  static Status link_new(const std::string& from, const std::string& to) {
    const auto is_same = [&] {
      struct stat a{}, b{};
      return ::lstat(from.c_str(), &a) == 0 && ::lstat(to.c_str(), &b) == 0 && a.st_dev == b.st_dev &&
             a.st_ino == b.st_ino;
    };
    const int error = ::link(from.c_str(), to.c_str()) == 0 ? 0 : errno;
    if (error == 0 || (error == EEXIST && is_same())) {
      (void)::unlink(from.c_str());  // leftovers are not an error
      return {};
    }
    const std::string what = fmt::format("renaming '{}' to", from);
    errno = error;
    if (error != EPERM && error != EOPNOTSUPP && error != ENOSYS && error != EMLINK) return failed(what, to);
    struct stat there{};
    if (::lstat(to.c_str(), &there) == 0) errno = EEXIST;
    if (errno == EEXIST || errno != ENOENT) return failed(what, to);
    return ::rename(from.c_str(), to.c_str()) == 0 ? Status() : failed(what, to);
  }

  // Without preallocation a full disk under a mapping would raise SIGBUS.
  static Status allocate(int fd, const std::string& path, int64_t bytes, Io io) {
    if (bytes == 0) return {};
    if (retrying([&] { return ::fallocate(fd, 0, 0, bytes); }) == 0) return {};
    if (errno != EOPNOTSUPP && errno != ENOSYS) return failed(fmt::format("allocating {} bytes for", bytes), path);
    if (io == Io::mmap)
      return {Code::unsupported,
              fmt::format("'{}' is on a file system that cannot preallocate: io=mmap is not safe there", path)};
    return extend(fd, path, bytes);
  }

  static Status extend(int fd, const std::string& path, int64_t bytes) {
    const int result = retrying([&] { return ::ftruncate(fd, bytes); });
    return result == 0 ? Status() : failed(fmt::format("extending to {} bytes", bytes), path);
  }

  void take_away(const std::string& path) {
    if (free_later_) taken_.hold(path);
  }

  FileMaker make_;
  bool free_later_;
  FreedLater taken_;
};

}  // namespace

std::shared_ptr<Storage> posix_storage(FileMaker make, bool free_later) {
  show_status();
  std::shared_ptr<Storage> storage = std::make_shared<PosixStorage>(std::move(make), free_later);
  Trace* trace = Trace::current();
  return trace == nullptr ? storage : traced_storage(std::move(storage), *trace);
}

}  // namespace penstock
