// Storage: all file-system calls of penstock on a target, behind one interface that wrappers can trace or make fail.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <penstock/status.hpp>

#include "core/base/io.hpp"

namespace penstock {

// Buffers with this alignment may be written directly; same for offsets and lengths.
inline constexpr int64_t direct_alignment = 4096;

// Access mode of an open file. QUEUE_DEPTH, for buffered and direct files: a long write or read is divided into
// requests, and this number of them is in progress at once. This needs io_uring. If it is not built in, or the kernel
// or a container rejects it, the depth is 1: one system call at a time.
struct IoMode {
  IoMode(Io way, int64_t depth = 1) : io(way), queue_depth(depth) {}  // NOLINT(google-explicit-constructor)
  Io io;
  int64_t queue_depth;
};

// Durable files of fewer bytes are written through the page cache: direct writes would cost more than they save.
inline constexpr int64_t min_direct_file = 8 << 20;

// Whether io_uring works in this thread, by a test.
bool has_io_uring();

// An open file. Any number of threads may write and read disjoint ranges at once.
// write and read move the whole span or fail; they continue after a short count; a short file is Code::damaged.
class StorageFile {
 public:
  virtual ~StorageFile() = default;  // closes and ignores errors; call close() to get them
  virtual Status write(int64_t offset, std::span<const std::byte> bytes) = 0;
  virtual Status read(int64_t offset, std::span<std::byte> bytes) = 0;
  virtual Status sync() = 0;  // fdatasync (msync for mmap)
  virtual Status close() = 0;
};
using StorageFilePtr = std::unique_ptr<StorageFile>;

struct FileStat {
  int64_t bytes = 0;
  uint64_t device = 0;
  uint64_t inode = 0;
  bool directory = false;
  bool regular = false;
  bool writable = false;    // a folder, by this process
  int64_t changed_at = 0;   // nanoseconds since 1970: modification time of the data
  int64_t block_bytes = 0;  // preferred write size of the file system: its block or stripe
  // Creation time, in nanoseconds since 1970. It never changes; with the inode number it identifies a file among later
  // ones. 0 if the file system does not report it.
  int64_t born = 0;
};
// Whether A and B describe the same file, whatever was written to it in between.
bool same_file(const FileStat& a, const FileStat& b);

// Who may access a new file: everybody whom the umask or the folder's access list allows, or this user alone.
enum class Access { ordinary, own };

// Paths are as given by the user; every error message names the path and the call.
// What a movement needs: files that exist.
class Files {
 public:
  virtual ~Files() = default;
  virtual Result<StorageFilePtr> open(const std::string& path, IoMode mode, bool writable) = 0;
  virtual Result<FileStat> stat(const std::string& path) = 0;  // Code::not_found if absent
};

class Storage : public Files {
 public:
  // Creates a file (O_EXCL) of exactly BYTES. If PREALLOCATE, allocates its blocks if the file system can (fallocate(2)
  // only). io = mmap always allocates, and is Code::unsupported if that is impossible.
  virtual Result<StorageFilePtr> create(const std::string& path, int64_t bytes, Io io, bool preallocate = true,
                                        Access access = Access::ordinary) = 0;
  // Permissions like MODEL, and its owner and group as far as this process may change them.
  virtual Status permit_like(const std::string& path, const std::string& model) = 0;
  virtual Status truncate(const std::string& path, int64_t bytes) = 0;  // does not sync
  virtual Status rename(const std::string& from, const std::string& to) = 0;
  // Code::exists if TO exists. Atomic, unless the file system supports neither RENAME_NOREPLACE nor links.
  virtual Status rename_new(const std::string& from, const std::string& to) = 0;
  // Makes TO a second name of FROM's file. Code::exists if TO exists; Code::unsupported if the file system does not
  // support links, or none for this file.
  virtual Status link(const std::string& from, const std::string& to) = 0;
  virtual Status remove(const std::string& path) = 0;       // absence is ok
  virtual Status remove_tree(const std::string& path) = 0;  // a file, or a folder and its contents; absence is ok
  // Exchanges A and B, files or folders, atomically; Code::unsupported if the file system cannot.
  virtual Status exchange(const std::string& a, const std::string& b) = 0;
  virtual Status sync_directory(const std::string& path) = 0;  // the folder of PATH
  // Sets the modification time of PATH, in nanoseconds since 1970; stat() then returns it, as far as the file system
  // stores it.
  virtual Status set_time(const std::string& path, int64_t nanoseconds) = 0;
  // Allows freeing of files that rename and remove have held. Before a sync_directory, the sync would wait for it.
  virtual void free_removed_files() {}
  // Sorted; at most the first MOST that the file system returns.
  virtual Result<std::vector<std::string>> list(const std::string& folder, size_t most = SIZE_MAX) = 0;
};

// The file system, by system calls. io = direct writes whole aligned blocks with O_DIRECT, through a buffer if memory
// is not aligned or not on huge pages (suits_direct), and the unaligned ends buffered; a file system without O_DIRECT
// is Code::unsupported. MAKE, if given, creates each new empty file (exclusively, with MODE less the umask), for file
// systems that need more information than open(2) passes; it will have BYTES. Where MAKE returns false, the storage
// creates the file as without it. FREE_LATER: rename and remove do not wait until the blocks of a large file are free;
// a thread frees them after free_removed_files.
using FileMaker = std::function<Result<bool>(const std::string& path, int64_t bytes, mode_t mode)>;
std::shared_ptr<Storage> posix_storage(FileMaker make = {}, bool free_later = false);

// What a CountedStorage has counted.
struct StorageCounts {
  int64_t writes = 0, write_bytes = 0, reads = 0, read_bytes = 0;
  int64_t metadata = 0;  // create, open, sync, close, permit_like, truncate, rename, remove, stat, list
};

// Counts every call on its way to INNER. Thread-safe.
class CountedStorage : public Storage {
 public:
  explicit CountedStorage(std::shared_ptr<Storage> inner);
  ~CountedStorage() override;
  StorageCounts counts() const;

  Result<StorageFilePtr> create(const std::string& path, int64_t bytes, Io io, bool preallocate,
                                Access access = Access::ordinary) override;
  Result<StorageFilePtr> open(const std::string& path, IoMode mode, bool writable) override;
  Status permit_like(const std::string& path, const std::string& model) override {
    return counted().permit_like(path, model);
  }
  Status truncate(const std::string& path, int64_t bytes) override { return counted().truncate(path, bytes); }
  Status rename(const std::string& from, const std::string& to) override { return counted().rename(from, to); }
  Status rename_new(const std::string& from, const std::string& to) override { return counted().rename_new(from, to); }
  Status link(const std::string& from, const std::string& to) override { return counted().link(from, to); }
  Status remove(const std::string& path) override { return counted().remove(path); }
  Status remove_tree(const std::string& path) override { return counted().remove_tree(path); }
  Status exchange(const std::string& a, const std::string& b) override { return counted().exchange(a, b); }
  Status sync_directory(const std::string& path) override { return counted().sync_directory(path); }
  Status set_time(const std::string& path, int64_t at) override { return counted().set_time(path, at); }
  void free_removed_files() override { inner_->free_removed_files(); }
  Result<FileStat> stat(const std::string& path) override { return counted().stat(path); }
  Result<std::vector<std::string>> list(const std::string& folder, size_t most = SIZE_MAX) override {
    return counted().list(folder, most);
  }

  struct Counters;

 private:
  Storage& counted();  // INNER, for one more call on metadata

  std::shared_ptr<Storage> inner_;
  std::shared_ptr<Counters> counters_;  // shared with the files, which may outlive this object
};

}  // namespace penstock
