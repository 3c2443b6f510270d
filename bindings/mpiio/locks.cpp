// Locks: by fcntl, for an open file description, far behind the end of any file.
#include "bindings/mpiio/locks.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "core/base/file_descriptor.hpp"

namespace penstock::mpiio {
namespace {

constexpr int64_t base = int64_t{1} << 62;  // opened.c has it, too

struct flock range(int64_t begin, int64_t end, short type) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = base + begin;
  lock.l_len = end - begin;
  return lock;
}

int set(int fd, struct flock lock) {
  return retrying([&] { return ::fcntl(fd, F_OFD_SETLK, &lock); }) == 0 ? 0 : errno;
}

}  // namespace

int lock_range(int fd, int64_t begin, int64_t end) { return set(fd, range(begin, end, F_WRLCK)); }

int unlock_range(int fd, int64_t begin, int64_t end) { return set(fd, range(begin, end, F_UNLCK)); }

int is_locked(int fd, int64_t begin, int64_t end) {
  struct flock lock = range(begin, end, F_WRLCK);
  if (retrying([&] { return ::fcntl(fd, F_OFD_GETLK, &lock); }) != 0) return -1;
  return lock.l_type != F_UNLCK && lock.l_start >= base ? 1 : 0;  // others lock whole files
}

Status wait_for_locks(int fd, int64_t begin, int64_t end, std::string_view path) {
  return wait_until(
      [&](double pause) {
        if (is_locked(fd, begin, end) <= 0) return true;
        ::usleep(static_cast<useconds_t>(pause * 1e6));
        return false;
      },
      path);
}

}  // namespace penstock::mpiio
