// Storage: every file-system call that penstock makes on a target, behind one interface that wrappers can trace or
// break.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/status.hpp>

namespace penstock {

// automatic, to read: what lies in the page cache is read from there, large stretches that do not are read directly
// where the file system can.
enum class Io : uint8_t { buffered, direct, mmap, automatic };
std::string_view name(Io io);

// Buffers of this alignment may be written directly; offsets and lengths too.
inline constexpr int64_t direct_alignment = 4096;

// How an open file is called. QUEUE_DEPTH, of buffered and direct files: a long write or read is cut into requests, of
// which so many are under way at once. It takes io_uring; where that is not built in, or the kernel or a container
// refuses it, the depth is 1: one system call at a time.
struct IoMode {
  IoMode(Io way, int64_t depth = 1) : io(way), queue_depth(depth) {}  // NOLINT(google-explicit-constructor)
  Io io;
  int64_t queue_depth;
};

// Whether it can be had in this thread: it is tried.
bool has_io_uring();

// An open file. Any number of threads may write and read disjoint ranges at once.
// write and read move the whole span or fail; a short count is retried, a short file is Code::damaged.
class StorageFile {
 public:
  virtual ~StorageFile() = default;  // closes without reporting; call close() to know
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
  bool writable = false;    // by this process
  int64_t changed_at = 0;   // nanoseconds since 1970: when its data was changed last
  int64_t block_bytes = 0;  // what the file system likes to be written at a time: its block or stripe
  // Nanoseconds since 1970; it stays with a file until its end, and tells it from a later one with its inode number. 0
  // where the file system does not say.
  int64_t born = 0;
};
// Whether A and B are of one file, whatever has been written to it in between.
bool same_file(const FileStat& a, const FileStat& b);

// Paths are as the user gave them; every error message names the path and the call.
class Storage {
 public:
  virtual ~Storage() = default;
  // A new file (O_EXCL, for this user alone until permit) of exactly BYTES, its blocks allocated where PREALLOCATE asks
  // for it and the file system can (fallocate(2) only). io = mmap always asks, and is Code::unsupported where it
  // cannot.
  virtual Result<StorageFilePtr> create(const std::string& path, int64_t bytes, Io io, bool preallocate = true) = 0;
  virtual Result<StorageFilePtr> open(const std::string& path, IoMode mode, bool writable) = 0;
  virtual Status permit(const std::string& path) = 0;  // what an ordinary new file permits, by umask or access list
  // What MODEL permits, and its owner and group as far as this process may give files away.
  virtual Status permit_like(const std::string& path, const std::string& model) = 0;
  virtual Status truncate(const std::string& path, int64_t bytes) = 0;  // nothing is synced
  virtual Status rename(const std::string& from, const std::string& to) = 0;
  // Code::exists where something is at TO. In one step, except where a file system has neither RENAME_NOREPLACE nor
  // links.
  virtual Status rename_new(const std::string& from, const std::string& to) = 0;
  // TO is a second name of FROM's file. Code::exists where something is at TO; Code::unsupported where the file system
  // has no links, or none of this file.
  virtual Status link(const std::string& from, const std::string& to) = 0;
  virtual Status remove(const std::string& path) = 0;       // absence is ok
  virtual Status remove_tree(const std::string& path) = 0;  // a file, or a folder and all in it; absence is ok
  // What lies at A and at B, files or folders, change places in one step; Code::unsupported where the file system
  // cannot.
  virtual Status exchange(const std::string& a, const std::string& b) = 0;
  virtual Status sync_directory(const std::string& path) = 0;  // the folder of PATH
  // When PATH's data was changed last, in nanoseconds since 1970: from now on this is what stat() says, as far as the
  // file system keeps it.
  virtual Status set_time(const std::string& path, int64_t nanoseconds) = 0;
  // What rename and remove have taken away may be freed now. Before a sync_directory, that would wait for the freeing.
  virtual void let_go() {}
  virtual Result<FileStat> stat(const std::string& path) = 0;  // Code::not_found where absent
  // Sorted; no more than the first MOST that the file system names.
  virtual Result<std::vector<std::string>> list(const std::string& folder, size_t most = SIZE_MAX) = 0;
};

// The file system, by system calls. io = direct writes whole aligned blocks with O_DIRECT, through a bounce buffer
// where memory is not aligned, and the ragged ends buffered; a file system without O_DIRECT is Code::unsupported.
// MAKE, where given, makes each new empty file (exclusively), for file systems that want to know more than open(2)
// says. FREE_BEHIND: rename and remove do not wait until the blocks of a large file are free again; after let_go a
// thread does.
using FileMaker = std::function<Status(const std::string& path)>;
std::shared_ptr<Storage> posix_storage(FileMaker make = {}, bool free_behind = false);

// What passed through a traced storage.
struct StorageCounts {
  int64_t writes = 0, write_bytes = 0, reads = 0, read_bytes = 0;
  int64_t metadata = 0;  // create, open, sync, close, permit, truncate, rename, remove, stat, list
};

// Counts every call on its way to INNER. Thread-safe.
class TracedStorage : public Storage {
 public:
  explicit TracedStorage(std::shared_ptr<Storage> inner);
  ~TracedStorage() override;
  StorageCounts counts() const;

  Result<StorageFilePtr> create(const std::string& path, int64_t bytes, Io io, bool preallocate) override;
  Result<StorageFilePtr> open(const std::string& path, IoMode mode, bool writable) override;
  Status permit(const std::string& path) override;
  Status permit_like(const std::string& path, const std::string& model) override;
  Status truncate(const std::string& path, int64_t bytes) override;
  Status rename(const std::string& from, const std::string& to) override;
  Status rename_new(const std::string& from, const std::string& to) override;
  Status link(const std::string& from, const std::string& to) override;
  Status remove(const std::string& path) override;
  Status remove_tree(const std::string& path) override;
  Status exchange(const std::string& a, const std::string& b) override;
  Status sync_directory(const std::string& path) override;
  Status set_time(const std::string& path, int64_t nanoseconds) override;
  void let_go() override { inner_->let_go(); }
  Result<FileStat> stat(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& folder, size_t most = SIZE_MAX) override;

  struct Counters;

 private:
  std::shared_ptr<Storage> inner_;
  std::shared_ptr<Counters> counters_;  // shared with the files, which may outlive this
};

}  // namespace penstock
