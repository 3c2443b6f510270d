// File systems: detects file system, blocks and stripes of a folder; creates files with given stripes on Lustre.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <penstock/status.hpp>

struct statfs;

namespace penstock {

struct FileSystemInfo {
  std::string
      type;  // as in mountinfo: "ext4", "xfs", "lustre", "gpfs", "tmpfs", "nfs4", "fuse.glusterfs"; else "0x..."
  int64_t block_bytes = 0;   // GPFS: its block size, the unit of its locks
  int64_t stripe_bytes = 0;  // of new files; 0: no stripes, or unknown
  int64_t stripe_count = 0;  // -1: over all targets
  std::string source;        // "statfs, mountinfo, Lustre ioctl"; "emulated: ..." in tests

  bool has_stripes() const { return type == "lustre"; }
  std::string text() const;  // "lustre, blocks of 4096 bytes, 4 stripes of 1048576 bytes (statfs, ...)"
};

// Stripes of a new file on Lustre; zeros and an offset of -1 use the folder's defaults.
struct Striping {
  int64_t count = 0;  // -1: over all targets
  int64_t bytes = 0;  // a multiple of 64 KiB, less than 4 GiB
  int64_t offset = -1;

  bool operator==(const Striping&) const = default;
};

// The underlying system calls, so that a test can simulate another file system. Like their namesakes; -1 with errno on
// failure.
class FileSystemCalls {
 public:
  virtual ~FileSystemCalls() = default;
  virtual int statfs(const char* path, struct statfs* result) const = 0;
  virtual std::string mountinfo() const = 0;  // /proc/self/mountinfo
  virtual int open(const char* path, int flags, int mode) const = 0;
  virtual int ioctl(int fd, unsigned long request, void* argument) const = 0;
  virtual int close(int fd) const = 0;
  virtual int unlink(const char* path) const = 0;
  virtual std::string_view source_prefix() const { return ""; }
};
std::shared_ptr<const FileSystemCalls> system_calls();

// Local. PATH must exist; to get stripes it must be a folder. Stripes that cannot be read stay 0.
Result<FileSystemInfo> detect_file_system(const std::string& path, const FileSystemCalls& calls);
// Local. Same, remembered for a folder of the same device unless it has stripes.
Result<FileSystemInfo> known_file_system(const std::string& folder);
// Local. Whether the page cache holds the file PATH, judged by some of its pages. False where it cannot be known.
bool is_in_page_cache(const std::string& path);
// Local. Code::invalid if Lustre does not support these stripes.
Status check_striping(const Striping& striping);
// Local. Creates an empty file (O_EXCL) with these stripes, and with MODE less the umask; leaves nothing on failure.
Status create_striped(const std::string& path, mode_t mode, const Striping& striping, const FileSystemCalls& calls);

}  // namespace penstock
