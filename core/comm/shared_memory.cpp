// Shared memory without a name, by memfd_create(2): not bound by the size of /dev/shm (64 MiB in many containers), and
// nothing to leave behind. MPI's own windows neither reserve their space nor say that there is none.
#include "core/comm/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/base/file_descriptor.hpp"

namespace penstock {
namespace {

// What the first rank tells the others.
struct Offer {
  int64_t process = 0;
  int64_t fd = -1;  // of that process; -1: there is no room
  uint64_t cookie = 0;
};

uint64_t random_number() {
  std::random_device device;
  return (uint64_t{device()} << 32 | device()) | 1;
}

std::byte* map(int fd, int64_t bytes) {
  void* at = ::mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

// In pieces, since a signal in the middle of one undoes it. A limit of file sizes would be a signal that kills.
bool reserve(int fd, int64_t bytes) {
  constexpr int64_t piece = 1 << 20;
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
  if (limit.rlim_cur != RLIM_INFINITY && static_cast<rlim_t>(bytes) > limit.rlim_cur) return false;
  for (int64_t at = 0; at < bytes;) {
    if (::fallocate(fd, 0, at, std::min(piece, bytes - at)) == 0)
      at += piece;
    else if (errno != EINTR)
      return false;
  }
  return true;
}

FileDescriptor memory_file() {
#ifdef MFD_NOEXEC_SEAL
  if (const int fd = ::memfd_create("penstock", MFD_CLOEXEC | MFD_NOEXEC_SEAL); fd >= 0) return FileDescriptor(fd);
#endif
  return FileDescriptor(::memfd_create("penstock", MFD_CLOEXEC));  // kernels before 6.3
}

// Null where this rank cannot see the first one's files: another process namespace, or another user.
std::byte* look(const Offer& offer, int64_t bytes) {
  const std::string path = fmt::format("/proc/{}/fd/{}", offer.process, offer.fd);
  const FileDescriptor fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  // Another namespace may have a process of that number, with whatever file.
  struct stat info{};
  if (fd.get() < 0 || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_size != bytes) return nullptr;
  std::byte* data = map(fd.get(), bytes);
  if (data != nullptr && std::memcmp(data, &offer.cookie, sizeof offer.cookie) == 0) return data;
  if (data != nullptr) ::munmap(data, static_cast<size_t>(bytes));
  return nullptr;
}

}  // namespace

Result<std::shared_ptr<SharedMemory>> SharedMemory::create(const Communicator& node, int64_t bytes) {
  const bool first = node->rank() == 0;
  std::byte* data = nullptr;
  FileDescriptor fd;  // open until all have looked
  std::vector<std::byte> message(sizeof(Offer));
  if (first) {
    Offer offer{::getpid(), -1, random_number()};
    fd = memory_file();
    // Only reserved pages are safe to store to: fallocate(2), and nothing that stands in for it.
    if (fd.get() >= 0 && reserve(fd.get(), bytes)) data = map(fd.get(), bytes);
    if (data != nullptr) {
      std::memcpy(data, &offer.cookie, sizeof offer.cookie);
      offer.fd = fd.get();
    }
    std::memcpy(message.data(), &offer, sizeof offer);
  }
  std::shared_ptr<SharedMemory> mine;  // unmaps whatever happens
  const auto keep = [&] {
    if (data != nullptr) mine.reset(new SharedMemory(data, bytes));
  };
  if (first) keep();
  PENSTOCK_TRY(node->broadcast(message, 0));
  Offer offer;
  std::memcpy(&offer, message.data(), sizeof offer);
  if (offer.fd < 0) return std::shared_ptr<SharedMemory>();
  if (!first) {
    data = look(offer, bytes);
    keep();
  }
  int64_t all = data != nullptr;
  PENSTOCK_TRY(node->all_reduce_min(std::span(&all, 1)));
  if (all == 0) return std::shared_ptr<SharedMemory>();
  if (first) std::memset(data, 0, sizeof offer.cookie);
  return mine;
}

SharedMemory::~SharedMemory() { ::munmap(data_, static_cast<size_t>(bytes_)); }

}  // namespace penstock
