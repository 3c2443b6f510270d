// Shared pages: fallocate(2), mmap(2), memfd_create(2).
#include "core/base/shared_pages.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>

namespace penstock {

// In pieces, since a signal during a call undoes it.
bool reserve_pages(int fd, int64_t bytes) {
  constexpr int64_t piece = 1 << 20;
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
  if (limit.rlim_cur != RLIM_INFINITY && static_cast<rlim_t>(bytes) > limit.rlim_cur) {
    errno = EFBIG;
    return false;
  }
  for (int64_t at = 0; at < bytes;) {
    if (::fallocate(fd, 0, at, std::min(piece, bytes - at)) == 0)
      at += piece;
    else if (errno != EINTR)
      return false;
  }
  return true;
}

std::byte* map_pages(int fd, int64_t bytes, bool touched) {
  const int flags = MAP_SHARED | (touched ? MAP_POPULATE : 0);
  void* at = ::mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE, flags, fd, 0);
  return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

void unmap_pages(std::byte* pages, int64_t bytes) {
  if (pages != nullptr) ::munmap(pages, static_cast<size_t>(bytes));
}

FileDescriptor memory_file() {
#ifdef MFD_NOEXEC_SEAL
  if (const int fd = ::memfd_create("penstock", MFD_CLOEXEC | MFD_NOEXEC_SEAL); fd >= 0) return FileDescriptor(fd);
#endif
  return FileDescriptor(::memfd_create("penstock", MFD_CLOEXEC));  // kernels before 6.3
}

}  // namespace penstock
