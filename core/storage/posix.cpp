// The file system by system calls: what is done with paths; open files are in buffered, direct and mapped.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "core/storage/buffered.hpp"
#include "core/storage/direct.hpp"
#include "core/storage/file_descriptor.hpp"
#include "core/storage/freed_behind.hpp"
#include "core/storage/mapped.hpp"
#include "core/storage/storage.hpp"

namespace penstock {

std::string_view name(Io io) {
  switch (io) {
    case Io::buffered: return "buffered";
    case Io::direct: return "direct";
    case Io::mmap: return "mmap";
    case Io::automatic: return "auto";
  }
  return "unknown";
}

namespace {

Result<StorageFilePtr> make_file(const std::string& path, FileDescriptor fd, IoMode mode, bool writable) {
  if (mode.io == Io::direct || mode.io == Io::automatic) return direct_file(path, std::move(fd), mode, writable);
  if (mode.io == Io::mmap) return mapped_file(path, std::move(fd), writable);
  return StorageFilePtr(std::make_unique<BufferedFile>(path, std::move(fd), mode.queue_depth));
}

class PosixStorage : public Storage {
 public:
  PosixStorage(FileMaker make, bool free_behind) : make_(std::move(make)), free_behind_(free_behind) {}

  Result<StorageFilePtr> create(const std::string& path, int64_t bytes, Io io, bool preallocate) override {
    if (make_) PENSTOCK_TRY(make_(path));
    FileDescriptor fd = open_retrying(path, make_ ? O_RDWR : O_RDWR | O_CREAT | O_EXCL);
    if (fd.get() < 0) {
      const Status status = failed("creating", path);
      if (make_) ::unlink(path.c_str());  // made just now
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

  Status truncate(const std::string& path, int64_t bytes) override {
    return ::truncate(path.c_str(), bytes) == 0 ? Status() : failed(fmt::format("cutting to {} bytes", bytes), path);
  }

  Status rename(const std::string& from, const std::string& to) override {
    take_away(to);
    return ::rename(from.c_str(), to.c_str()) == 0 ? Status() : failed(fmt::format("renaming '{}' to", from), to);
  }

  Status remove(const std::string& path) override {
    take_away(path);
    return ::unlink(path.c_str()) == 0 || errno == ENOENT ? Status() : failed("removing", path);
  }

  Status remove_tree(const std::string& path) override {
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
    const auto slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
    const FileDescriptor fd = open_retrying(folder, O_RDONLY | O_DIRECTORY);
    if (fd.get() < 0) return failed("opening folder", folder);
    return ::fsync(fd.get()) == 0 ? Status() : failed("syncing folder", folder);
  }

  Status set_time(const std::string& path, int64_t nanoseconds) override {
    const timespec times[2] = {{0, UTIME_OMIT}, {nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000}};
    return ::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0 ? Status() : failed("setting the time of", path);
  }

  void let_go() override { taken_.let_go(); }

  Result<FileStat> stat(const std::string& path) override {
    struct stat info{};
    if (::stat(path.c_str(), &info) != 0) return failed("stat of", path);
    return FileStat{info.st_size,
                    info.st_dev,
                    info.st_ino,
                    S_ISDIR(info.st_mode) != 0,
                    S_ISREG(info.st_mode) != 0,
                    ::access(path.c_str(), W_OK) == 0,
                    info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec,
                    info.st_blksize};
  }

  Result<std::vector<std::string>> list(const std::string& folder) override {
    DIR* dir = ::opendir(folder.c_str());
    if (dir == nullptr) return failed("listing", folder);
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(dir)) names.emplace_back(entry->d_name);
    ::closedir(dir);
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  // Without preallocation a full disk under a mapping would be SIGBUS.
  static Status allocate(int fd, const std::string& path, int64_t bytes, Io io) {
    if (bytes == 0) return {};
    int result = 0;
    do result = ::fallocate(fd, 0, 0, bytes);
    while (result != 0 && errno == EINTR);
    if (result == 0) return {};
    if (errno != EOPNOTSUPP && errno != ENOSYS) return failed(fmt::format("allocating {} bytes for", bytes), path);
    if (io == Io::mmap)
      return {Code::unsupported,
              fmt::format("'{}' is on a file system that cannot preallocate: io=mmap is not safe there", path)};
    return extend(fd, path, bytes);
  }

  static Status extend(int fd, const std::string& path, int64_t bytes) {
    return ::ftruncate(fd, bytes) == 0 ? Status() : failed(fmt::format("extending to {} bytes", bytes), path);
  }

  void take_away(const std::string& path) {
    if (free_behind_) taken_.hold(path);
  }

  FileMaker make_;
  bool free_behind_;
  FreedBehind taken_;
};

}  // namespace

std::shared_ptr<Storage> posix_storage(FileMaker make, bool free_behind) {
  return std::make_shared<PosixStorage>(std::move(make), free_behind);
}

}  // namespace penstock
