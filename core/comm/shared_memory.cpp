// Shared memory of a node: a file of /dev/shm where it has room, else of no file system. MPI's own windows neither
// reserve their space nor say that there is none.
#include "core/comm/shared_memory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/encode.hpp"
#include "core/base/owner.hpp"
#include "core/base/shared_pages.hpp"

namespace penstock {
namespace {

constexpr std::string_view memory_folder = "/dev/shm/";  // whose limit answers when its space is reserved

// What the first rank tells the others: where they find its file, and how they know it.
struct Offer {
  std::string path;  // "": there is none
  uint64_t cookie = 0;
};

uint64_t random_number() {
  std::random_device device;
  return (uint64_t{device()} << 32 | device()) | 1;
}

// A file that was offered, as long as it is, reserved.
class Offered {
 public:
  // By name, which says whose it is, or else without one: then a kill leaves nothing behind.
  Offered(int64_t bytes, bool named) {
    offer_.cookie = random_number();
    if (named)
      make_named(bytes);
    else
      make_nameless(bytes);
  }
  ~Offered() { withdraw(); }
  Offered(const Offered&) = delete;
  Offered& operator=(const Offered&) = delete;

  const Offer& offer() const { return offer_; }
  int fd() const { return fd_.get(); }
  void withdraw() {
    if (std::exchange(named_, false)) ::unlink(offer_.path.c_str());
    offer_.path.clear();
  }

 private:
  void make_named(int64_t bytes) {
    std::string path =
        fmt::format("{}{}", memory_folder, partial_name("penstock", random_number(), text(this_process())));
    fd_ = FileDescriptor(::open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600));
    named_ = fd_.get() >= 0;
    if (!named_) return;
    offer_.path = std::move(path);
    if (!reserve_pages(fd_.get(), bytes)) withdraw();
  }

  void make_nameless(int64_t bytes) {
    fd_ = FileDescriptor(::open(std::string(memory_folder).c_str(), O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600));
    bool reserved = fd_.get() >= 0 && reserve_pages(fd_.get(), bytes);
    if (!reserved) {  // containers mostly have 64 MiB there
      fd_ = memory_file();
      reserved = fd_.get() >= 0 && reserve_pages(fd_.get(), bytes);
    }
    if (reserved) offer_.path = fmt::format("/proc/{}/fd/{}", ::getpid(), fd_.get());
  }

  Offer offer_;
  FileDescriptor fd_;
  bool named_ = false;
};

// Null where this rank sees something else there than the first one, or nothing.
std::byte* look(const Offer& offer, int64_t bytes) {
  const FileDescriptor fd(::open(offer.path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat info{};
  if (fd.get() < 0 || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_size != bytes) return nullptr;
  std::byte* data = map_pages(fd.get(), bytes);
  if (data != nullptr && std::memcmp(data, &offer.cookie, sizeof offer.cookie) == 0) return data;
  unmap_pages(data, bytes);
  return nullptr;
}

}  // namespace

Result<std::shared_ptr<SharedMemory>> SharedMemory::share(const Communicator& node, int64_t bytes, bool named) {
  const bool first = node->rank() == 0;
  std::optional<Offered> offered;  // until all have looked
  std::byte* data = nullptr;
  std::vector<std::byte> message;
  if (first) {
    offered.emplace(bytes, named);
    if (!offered->offer().path.empty()) data = map_pages(offered->fd(), bytes);
    if (data == nullptr) offered->withdraw();
    if (data != nullptr) std::memcpy(data, &offered->offer().cookie, sizeof(Offer::cookie));
    Encoder out;
    out.text(offered->offer().path);
    out.value(offered->offer().cookie);
    message = out.take();
  }
  std::shared_ptr<SharedMemory> mine;  // unmaps whatever happens
  const auto keep = [&] {
    if (data != nullptr) mine.reset(new SharedMemory(data, bytes));
  };
  if (first) keep();
  PENSTOCK_TRY(node->broadcast(message, 0));
  Decoder in(message);
  Offer offer;
  offer.path = in.text();
  offer.cookie = in.value<uint64_t>();
  if (offer.path.empty()) return std::shared_ptr<SharedMemory>();
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

// A file without a name is reached through the first rank's descriptor, which asks for the same user and the same
// namespaces of processes and of users: containers that have one for each rank need a name, for as long as they look.
Result<std::shared_ptr<SharedMemory>> SharedMemory::create(const Communicator& node, int64_t bytes) {
  PENSTOCK_ASSIGN(auto memory, share(node, bytes, false));
  if (memory) return memory;
  return share(node, bytes, true);
}

SharedMemory::~SharedMemory() { unmap_pages(data_, bytes_); }

}  // namespace penstock
