// FreedBehind: descriptors that keep the files, closed by a thread.
#include "core/storage/freed_behind.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cstdint>
#include <system_error>
#include <thread>

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

namespace penstock {
namespace {

constexpr int64_t large = 4 << 20;
constexpr int64_t plenty = 4;  // times the file's size

// Others free the blocks elsewhere, or rename a file that is held (NFS).
bool frees_within_the_call(const struct statfs& system) {
  return system.f_type == EXT4_SUPER_MAGIC || system.f_type == XFS_SUPER_MAGIC || system.f_type == BTRFS_SUPER_MAGIC;
}

bool worth_holding(int fd) {
  struct stat file{};
  struct statfs system{};
  if (::fstat(fd, &file) != 0 || !S_ISREG(file.st_mode) || file.st_nlink != 1 || file.st_size < large) return false;
  return ::fstatfs(fd, &system) == 0 && frees_within_the_call(system) &&
         static_cast<int64_t>(system.f_bavail) > plenty * file.st_size / system.f_bsize;
}

}  // namespace

bool FreedBehind::hold(const std::string& path) {
  const int fd = ::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return false;
  if (!worth_holding(fd)) {
    ::close(fd);
    return false;
  }
  const std::lock_guard lock(mutex_);
  held_.push_back(fd);
  return true;
}

void FreedBehind::let_go() {
  std::vector<int> files;
  {
    const std::lock_guard lock(mutex_);
    files.swap(held_);
  }
  if (files.empty()) return;
  const auto close_all = [files] {
    for (const int fd : files) ::close(fd);
  };
  try {
    std::thread(close_all).detach();
  } catch (const std::system_error&) {  // no thread to be had
    close_all();
  }
}

}  // namespace penstock
