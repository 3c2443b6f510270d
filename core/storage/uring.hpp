// Uring: several requests of one file under way at once, through Linux's io_uring where it is found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>

#include <penstock/status.hpp>

namespace penstock {

// A range of a file and the memory it is moved to or from; the memory is only read when writing.
struct Movement {
  bool writing = false;
  int fd = -1;
  int64_t offset = 0;
  std::span<std::byte> bytes;
};

// Any number of threads may move at once: one of them has the ring, the others do without.
class Uring {
 public:
  // DEPTH: most requests under way; at 1 there is never a ring. It is made for the first movement that has use for it.
  explicit Uring(int64_t depth);
  ~Uring();
  Uring(const Uring&) = delete;
  Uring& operator=(const Uring&) = delete;

  // Moves all of WHOLE, or fails as PLAIN does, which moves a range by ordinary system calls: the whole, where the
  // range is short or there is no ring; else what is left from the first request on that the kernel refused or cut
  // short. Nothing is under way on return.
  using Plain = std::function<Status(int64_t offset, std::span<std::byte> bytes)>;
  Status move(const Movement& whole, const Plain& plain);

  // Movements are cut at multiples of this in the file.
  static constexpr int64_t request_bytes = 1 << 20;

 private:
  class Ring;

  // Whether there is a ring, which a kernel, a container or a build without liburing may refuse.
  bool ready();

  const int64_t depth_;
  std::mutex mutex_;
  bool tried_ = false;
  std::unique_ptr<Ring> ring_;
};

}  // namespace penstock
