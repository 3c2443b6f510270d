// The file system by system calls: buffered, direct and mapped files.
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "core/storage/freed_behind.hpp"
#include "core/storage/storage.hpp"

namespace penstock {

std::string_view name(Io io) {
  switch (io) {
    case Io::buffered: return "buffered";
    case Io::direct: return "direct";
    case Io::mmap: return "mmap";
  }
  return "unknown";
}

namespace {

constexpr int64_t bounce_bytes = 4 << 20;

Status failed(std::string_view call, const std::string& path) {
  return Status::from_errno(errno, fmt::format("{} '{}'", call, path));
}

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

Descriptor open_retrying(const std::string& path, int flags) {
  int fd = -1;
  do fd = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  while (fd < 0 && errno == EINTR);
  return Descriptor(fd);
}

class BufferedFile : public StorageFile {
 public:
  BufferedFile(std::string path, Descriptor fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  Status write(int64_t offset, std::span<const std::byte> bytes) override {
    return write_all(fd_.get(), offset, bytes);
  }
  Status read(int64_t offset, std::span<std::byte> bytes) override { return read_all(fd_.get(), offset, bytes); }
  Status sync() override { return ::fdatasync(fd_.get()) == 0 ? Status() : failed("syncing", path_); }
  Status close() override {
    if (fd_.get() < 0) return {};
    return ::close(fd_.release()) == 0 ? Status() : failed("closing", path_);
  }

 protected:
  Status write_all(int fd, int64_t offset, std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t n = ::pwrite(fd, bytes.data(), bytes.size(), offset);
      if (n < 0) {
        if (errno == EINTR) continue;
        return failed(fmt::format("writing {} bytes at offset {} of", bytes.size(), offset), path_);
      }
      if (n == 0) return {Code::io, fmt::format("writing '{}' at offset {}: no byte was taken", path_, offset)};
      bytes = bytes.subspan(static_cast<size_t>(n));
      offset += n;
    }
    return {};
  }

  Status read_all(int fd, int64_t offset, std::span<std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t n = ::pread(fd, bytes.data(), bytes.size(), offset);
      if (n < 0) {
        if (errno == EINTR) continue;
        return failed(fmt::format("reading {} bytes at offset {} of", bytes.size(), offset), path_);
      }
      if (n == 0)
        return {Code::damaged, fmt::format("'{}' ends at offset {}, {} bytes too early", path_, offset, bytes.size())};
      bytes = bytes.subspan(static_cast<size_t>(n));
      offset += n;
    }
    return {};
  }

  std::string path_;
  Descriptor fd_;
};

struct AlignedFree {
  void operator()(std::byte* p) const { std::free(p); }
};
using AlignedBuffer = std::unique_ptr<std::byte, AlignedFree>;

// Whole aligned blocks go through the O_DIRECT descriptor, ragged ends through a buffered one: they never share a
// page, so the kernel keeps the two coherent on one node.
class DirectFile : public BufferedFile {
 public:
  DirectFile(std::string path, Descriptor buffered, Descriptor direct)
      : BufferedFile(std::move(path), std::move(buffered)), direct_(std::move(direct)) {}

  Status write(int64_t offset, std::span<const std::byte> bytes) override {
    return by_parts(offset, static_cast<int64_t>(bytes.size()), [&](int64_t at, int64_t length, bool aligned) {
      const auto piece = bytes.subspan(static_cast<size_t>(at - offset), static_cast<size_t>(length));
      if (!aligned) return write_all(fd_.get(), at, piece);
      if (is_aligned(piece.data())) return write_direct(at, piece);
      return bounced(length, [&](int64_t from, std::span<std::byte> bounce) {
        std::memcpy(bounce.data(), piece.data() + from, bounce.size());
        return write_direct(at + from, bounce);
      });
    });
  }

  Status read(int64_t offset, std::span<std::byte> bytes) override {
    return by_parts(offset, static_cast<int64_t>(bytes.size()), [&](int64_t at, int64_t length, bool aligned) {
      const auto piece = bytes.subspan(static_cast<size_t>(at - offset), static_cast<size_t>(length));
      if (!aligned) return read_all(fd_.get(), at, piece);
      if (is_aligned(piece.data())) return read_all(direct_.get(), at, piece);
      return bounced(length, [&](int64_t from, std::span<std::byte> bounce) {
        PENSTOCK_TRY(read_all(direct_.get(), at + from, bounce));
        std::memcpy(piece.data() + from, bounce.data(), bounce.size());
        return Status();
      });
    });
  }

  Status close() override {
    const bool closed = direct_.get() < 0 || ::close(direct_.release()) == 0;
    Status status = closed ? Status() : failed("closing", path_);
    Status rest = BufferedFile::close();
    return status.ok() ? rest : status;
  }

 private:
  static bool is_aligned(const std::byte* p) { return reinterpret_cast<uintptr_t>(p) % direct_alignment == 0; }

  // A short direct write may stop off the grid; what is left then goes buffered.
  Status write_direct(int64_t offset, std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const bool aligned = offset % direct_alignment == 0 && is_aligned(bytes.data()) &&
                           static_cast<int64_t>(bytes.size()) % direct_alignment == 0;
      if (!aligned) return write_all(fd_.get(), offset, bytes);
      const ssize_t n = ::pwrite(direct_.get(), bytes.data(), bytes.size(), offset);
      if (n < 0) {
        if (errno == EINTR) continue;
        return failed(fmt::format("writing {} bytes at offset {} of", bytes.size(), offset), path_);
      }
      if (n == 0) return {Code::io, fmt::format("writing '{}' at offset {}: no byte was taken", path_, offset)};
      bytes = bytes.subspan(static_cast<size_t>(n));
      offset += n;
    }
    return {};
  }

  template <typename Move>
  static Status by_parts(int64_t offset, int64_t length, Move move) {
    const int64_t end = offset + length;
    const int64_t first = std::min(end, (offset + direct_alignment - 1) / direct_alignment * direct_alignment);
    const int64_t last = std::max(first, end / direct_alignment * direct_alignment);
    if (first > offset) PENSTOCK_TRY(move(offset, first - offset, false));
    if (last > first) PENSTOCK_TRY(move(first, last - first, true));
    if (end > last) PENSTOCK_TRY(move(last, end - last, false));
    return {};
  }

  template <typename Move>
  static Status bounced(int64_t length, Move move) {
    const int64_t size = std::min(length, bounce_bytes);
    AlignedBuffer bounce(static_cast<std::byte*>(std::aligned_alloc(direct_alignment, static_cast<size_t>(size))));
    if (!bounce) return {Code::memory, fmt::format("no memory for a bounce buffer of {} bytes", size)};
    for (int64_t from = 0; from < length; from += size)
      PENSTOCK_TRY(move(from, std::span(bounce.get(), static_cast<size_t>(std::min(size, length - from)))));
    return {};
  }

  Descriptor direct_;
};

// The whole file is mapped; its blocks are allocated, so a store cannot run out of disk.
class MappedFile : public BufferedFile {
 public:
  MappedFile(std::string path, Descriptor fd, std::byte* base, int64_t bytes)
      : BufferedFile(std::move(path), std::move(fd)), base_(base), bytes_(bytes) {}
  ~MappedFile() override { unmap(); }

  Status write(int64_t offset, std::span<const std::byte> bytes) override {
    PENSTOCK_TRY(inside(offset, bytes.size()));
    if (!bytes.empty()) std::memcpy(base_ + offset, bytes.data(), bytes.size());
    return {};
  }
  Status read(int64_t offset, std::span<std::byte> bytes) override {
    PENSTOCK_TRY(inside(offset, bytes.size()));
    if (!bytes.empty()) std::memcpy(bytes.data(), base_ + offset, bytes.size());
    return {};
  }
  Status close() override {
    unmap();
    return BufferedFile::close();
  }

 private:
  Status inside(int64_t offset, size_t length) const {
    if (offset >= 0 && offset <= bytes_ && static_cast<int64_t>(length) <= bytes_ - offset) return {};
    return {Code::damaged, fmt::format("'{}' has {} bytes, {} are wanted at offset {}", path_, bytes_, length, offset)};
  }
  void unmap() {
    if (base_) ::munmap(std::exchange(base_, nullptr), static_cast<size_t>(bytes_));
  }

  std::byte* base_;
  int64_t bytes_;
};

Result<StorageFilePtr> make_file(const std::string& path, Descriptor fd, Io io, bool writable) {
  if (io == Io::buffered) return StorageFilePtr(std::make_unique<BufferedFile>(path, std::move(fd)));
  if (io == Io::direct) {
    Descriptor direct = open_retrying(path, (writable ? O_RDWR : O_RDONLY) | O_DIRECT);
    if (direct.get() < 0 && errno == EINVAL)
      return Status(Code::unsupported, fmt::format("'{}' is on a file system without O_DIRECT: use io=buffered", path));
    if (direct.get() < 0) return failed("opening", path);
    return StorageFilePtr(std::make_unique<DirectFile>(path, std::move(fd), std::move(direct)));
  }
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return failed("stat of", path);
  void* base = nullptr;
  if (info.st_size > 0) {
    const int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    base = ::mmap(nullptr, static_cast<size_t>(info.st_size), protection, MAP_SHARED, fd.get(), 0);
    if (base == MAP_FAILED) return failed("mapping", path);
  }
  return StorageFilePtr(std::make_unique<MappedFile>(path, std::move(fd), static_cast<std::byte*>(base), info.st_size));
}

class PosixStorage : public Storage {
 public:
  PosixStorage(FileMaker make, bool free_behind) : make_(std::move(make)), free_behind_(free_behind) {}

  Result<StorageFilePtr> create(const std::string& path, int64_t bytes, Io io, bool preallocate) override {
    if (make_) PENSTOCK_TRY(make_(path));
    Descriptor fd = open_retrying(path, make_ ? O_RDWR : O_RDWR | O_CREAT | O_EXCL);
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

  Result<StorageFilePtr> open(const std::string& path, Io io, bool writable) override {
    Descriptor fd = open_retrying(path, writable ? O_RDWR : O_RDONLY);
    if (fd.get() < 0) return failed("opening", path);
    return make_file(path, std::move(fd), io, writable);
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
    const Descriptor fd = open_retrying(folder, O_RDONLY | O_DIRECTORY);
    if (fd.get() < 0) return failed("opening folder", folder);
    return ::fsync(fd.get()) == 0 ? Status() : failed("syncing folder", folder);
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
