// Shared memory of a node: a file in /dev/shm if it has room, else an anonymous file. MPI's own windows neither reserve
// their space nor report that there is none.
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

#include <fmt/format.h>

#include "core/base/owner.hpp"
#include "core/base/shared_pages.hpp"
#include "core/comm/share.hpp"

namespace penstock {
namespace {

constexpr std::string_view memory_folder = "/dev/shm/";  // space is reserved against its limit

// What the first rank sends to the others: the location and the identification of its file.
struct Offer {
  std::string path;  // "": no file
  uint64_t cookie = 0;
};

uint64_t random_number() {
  std::random_device device;
  return (uint64_t{device()} << 32 | device()) | 1;
}

// An offered file, reserved in full size.
class Offered {
 public:
  // With a name that identifies the owner, or without a name: then a kill leaves nothing behind.
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
    if (!reserved) {  // containers usually have 64 MiB there
      fd_ = memory_file();
      reserved = fd_.get() >= 0 && reserve_pages(fd_.get(), bytes);
    }
    if (reserved) offer_.path = fmt::format("/proc/{}/fd/{}", ::getpid(), fd_.get());
  }

  Offer offer_;
  FileDescriptor fd_;
  bool named_ = false;
};

// Null if this rank sees another file than the first rank, or none.
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
  std::optional<Offered> offered;                                        // until all have mapped it
  std::shared_ptr<SharedMemory> mine(new SharedMemory(nullptr, bytes));  // unmaps in any case
  std::byte*& data = mine->data_;
  PENSTOCK_ASSIGN(const auto message, from_rank_0(node, [&](Encoder& out) -> Status {
                    offered.emplace(bytes, named);
                    if (!offered->offer().path.empty()) data = map_pages(offered->fd(), bytes);
                    if (data == nullptr) offered->withdraw();
                    if (data != nullptr) std::memcpy(data, &offered->offer().cookie, sizeof(Offer::cookie));
                    out.text(offered->offer().path);
                    out.value(offered->offer().cookie);
                    return {};
                  }));
  Decoder in(message);
  Offer offer;
  offer.path = in.text();
  offer.cookie = in.value<uint64_t>();
  if (offer.path.empty()) return std::shared_ptr<SharedMemory>();
  if (!first) data = look(offer, bytes);
  int64_t all = data != nullptr;
  PENSTOCK_TRY(node->all_reduce_min(std::span(&all, 1)));
  if (all == 0) return std::shared_ptr<SharedMemory>();
  if (first) std::memset(data, 0, sizeof offer.cookie);
  return mine;
}

// A file without a name is opened through the first rank's descriptor, which requires the same user and the same
// namespaces of processes and users. Containers with separate namespaces per rank need a name while they open it.
Result<std::shared_ptr<SharedMemory>> SharedMemory::create(const Communicator& node, int64_t bytes) {
  PENSTOCK_ASSIGN(auto memory, share(node, bytes, false));
  if (memory) return memory;
  return share(node, bytes, true);
}

SharedMemory::~SharedMemory() { unmap_pages(data_, bytes_); }

}  // namespace penstock
