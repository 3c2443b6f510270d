// FreedLater: descriptors that hold the files, closed by a thread.
#include "core/storage/freed_later.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cstdint>
#include <exception>
#include <thread>

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

namespace penstock {
namespace {

constexpr int64_t large = 256 << 10;  // below, a thread costs more than it saves
constexpr int64_t plenty = 4;         // times the held bytes

// Other file systems free the blocks elsewhere, or rename a held file (NFS).
bool frees_within_the_call(const struct statfs& system) {
  return system.f_type == EXT4_SUPER_MAGIC || system.f_type == XFS_SUPER_MAGIC || system.f_type == BTRFS_SUPER_MAGIC;
}

// Size of the file in bytes, if holding it is worthwhile when HELD bytes of others are held; else 0.
int64_t worth_holding(int fd, int64_t held) {
  struct stat file{};
  struct statfs system{};
  if (::fstat(fd, &file) != 0 || !S_ISREG(file.st_mode) || file.st_nlink != 1 || file.st_size < large) return 0;
  if (::fstatfs(fd, &system) != 0 || !frees_within_the_call(system)) return 0;
  return static_cast<int64_t>(system.f_bavail) > plenty * (file.st_size + held) / system.f_bsize ? file.st_size : 0;
}

void close_all(const std::vector<int>& files) {
  for (const int fd : files) ::close(fd);
}

}  // namespace

bool FreedLater::hold(const std::string& path) {
  const int fd = ::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return false;
  const std::lock_guard lock(mutex_);
  const int64_t bytes = worth_holding(fd, bytes_);
  if (bytes == 0) {
    ::close(fd);
    return false;
  }
  held_.push_back(fd);
  bytes_ += bytes;
  return true;
}

void FreedLater::free_held() {
  std::vector<int> files;
  {
    const std::lock_guard lock(mutex_);
    files.swap(held_);
    bytes_ = 0;
  }
  if (files.empty()) return;
  try {
    std::thread([files] { close_all(files); }).detach();
  } catch (const std::exception&) {  // no thread or memory available
    close_all(files);
  }
}

}  // namespace penstock
