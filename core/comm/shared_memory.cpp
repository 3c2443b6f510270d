// Shared memory of a node: in /dev/shm where it has room, else without a name, by descriptor. MPI's own windows neither
// reserve their space nor say that there is none.
#include "core/comm/shared_memory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/shared_pages.hpp"

namespace penstock {
namespace {

// What the first rank tells the others: a name in /dev/shm, or else a descriptor of its own.
struct Offer {
  bool any = false;
  uint64_t name = 0;
  int64_t process = 0, fd = 0;
  uint64_t cookie = 0;
};

std::string path_of(const Offer& offer) {
  return offer.name != 0 ? fmt::format("/dev/shm/penstock-{:016x}", offer.name)
                         : fmt::format("/proc/{}/fd/{}", offer.process, offer.fd);
}

uint64_t random_number() {
  std::random_device device;
  return (uint64_t{device()} << 32 | device()) | 1;
}

// A file that was offered, as long as it is.
class Offered {
 public:
  // Reserved; without any where there is no room.
  explicit Offered(int64_t bytes) {
    offer_ = {true, random_number(), ::getpid(), 0, random_number()};
    fd_ = FileDescriptor(::open(path_of(offer_).c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600));
    named_ = fd_.get() >= 0;
    if (named_ && reserve_pages(fd_.get(), bytes)) return;
    // Containers mostly have 64 MiB there. This one asks for the same user, namespace of processes, and of users.
    take_back();
    fd_ = memory_file();
    offer_.name = 0;
    offer_.fd = fd_.get();
    offer_.any = fd_.get() >= 0 && reserve_pages(fd_.get(), bytes);
  }
  ~Offered() { take_back(); }
  Offered(const Offered&) = delete;
  Offered& operator=(const Offered&) = delete;

  Offer& offer() { return offer_; }
  int fd() const { return fd_.get(); }

 private:
  void take_back() {
    if (std::exchange(named_, false)) ::unlink(path_of(offer_).c_str());
  }

  Offer offer_;
  FileDescriptor fd_;
  bool named_ = false;
};

// Null where this rank sees something else there than the first one, or nothing.
std::byte* look(const Offer& offer, int64_t bytes) {
  const FileDescriptor fd(::open(path_of(offer).c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat info{};
  if (fd.get() < 0 || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_size != bytes) return nullptr;
  std::byte* data = map_pages(fd.get(), bytes);
  if (data != nullptr && std::memcmp(data, &offer.cookie, sizeof offer.cookie) == 0) return data;
  unmap_pages(data, bytes);
  return nullptr;
}

}  // namespace

Result<std::shared_ptr<SharedMemory>> SharedMemory::create(const Communicator& node, int64_t bytes) {
  const bool first = node->rank() == 0;
  std::optional<Offered> offered;  // until all have looked
  std::byte* data = nullptr;
  std::vector<std::byte> message(sizeof(Offer));
  if (first) {
    offered.emplace(bytes);
    Offer& offer = offered->offer();
    if (offer.any) data = map_pages(offered->fd(), bytes);
    offer.any = data != nullptr;
    if (offer.any) std::memcpy(data, &offer.cookie, sizeof offer.cookie);
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
  if (!offer.any) return std::shared_ptr<SharedMemory>();
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

SharedMemory::~SharedMemory() { unmap_pages(data_, bytes_); }

}  // namespace penstock
