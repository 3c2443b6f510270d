// Shared memory by POSIX: MPI's own windows neither reserve their space nor say that there is none.
#include "core/comm/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace penstock {
namespace {

// What the first rank tells the others.
struct Offer {
  uint64_t name = 0;  // 0: there is no room
  uint64_t cookie = 0;
};

std::string path_of(uint64_t name) { return fmt::format("/penstock-{:016x}", name); }

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

// Null where there is no room. fallocate(2) and nothing that stands in for it: only reserved pages are safe to store to.
std::byte* make(uint64_t name, uint64_t cookie, int64_t bytes) {
  const int fd = ::shm_open(path_of(name).c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) return nullptr;
  std::byte* data = reserve(fd, bytes) ? map(fd, bytes) : nullptr;
  ::close(fd);
  if (data == nullptr)
    ::shm_unlink(path_of(name).c_str());
  else
    std::memcpy(data, &cookie, sizeof cookie);
  return data;
}

// Null where this rank sees another /dev/shm than the first one.
std::byte* look(const Offer& offer, int64_t bytes) {
  const int fd = ::shm_open(path_of(offer.name).c_str(), O_RDWR | O_CLOEXEC, 0);
  if (fd < 0) return nullptr;
  std::byte* data = map(fd, bytes);
  ::close(fd);
  if (data != nullptr && std::memcmp(data, &offer.cookie, sizeof offer.cookie) == 0) return data;
  if (data != nullptr) ::munmap(data, static_cast<size_t>(bytes));
  return nullptr;
}

}  // namespace

Result<std::shared_ptr<SharedMemory>> SharedMemory::create(const Communicator& node, int64_t bytes) {
  const bool first = node->rank() == 0;
  std::byte* data = nullptr;
  std::vector<std::byte> message(sizeof(Offer));
  if (first) {
    Offer offer{random_number(), random_number()};
    data = make(offer.name, offer.cookie, bytes);
    if (data == nullptr) offer.name = 0;
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
  if (offer.name == 0) return std::shared_ptr<SharedMemory>();
  if (!first) {
    data = look(offer, bytes);
    keep();
  }
  int64_t all = data != nullptr;
  const Status agreed = node->all_reduce_min(std::span(&all, 1));
  if (first) ::shm_unlink(path_of(offer.name).c_str());
  PENSTOCK_TRY(agreed);
  if (all == 0) return std::shared_ptr<SharedMemory>();
  if (first) std::memset(data, 0, sizeof offer.cookie);
  return mine;
}

SharedMemory::~SharedMemory() { ::munmap(data_, static_cast<size_t>(bytes_)); }

}  // namespace penstock
