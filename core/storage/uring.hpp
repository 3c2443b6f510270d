// Uring: keeps several requests of one file in progress at once, through Linux's io_uring if available.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>

#include <penstock/status.hpp>

namespace penstock {

// A range of a file and the memory to move it to or from; for writing the memory is only read.
struct Movement {
  bool writing = false;
  int fd = -1;
  int64_t offset = 0;
  std::span<std::byte> bytes;
};

// Any number of threads may move data at once: one of them uses the ring, the others do not.
class Uring {
 public:
  // DEPTH: maximum number of requests in progress; no ring at 1. The first movement that needs the ring creates it.
  explicit Uring(int64_t depth);
  ~Uring();
  Uring(const Uring&) = delete;
  Uring& operator=(const Uring&) = delete;

  // Moves all of WHOLE, or returns the error of PLAIN, which moves a range by ordinary system calls. PLAIN moves the
  // whole if the range is short or there is no ring; else everything from the first request on that the kernel rejected
  // or cut short. No request is in progress on return.
  using Plain = std::function<Status(int64_t offset, std::span<std::byte> bytes)>;
  Status move(const Movement& whole, const Plain& plain);

  // Movements are divided at multiples of this in the file.
  static constexpr int64_t request_bytes = 1 << 20;

 private:
  class Ring;

  // Whether there is a ring; a kernel, a container or a build without liburing may not have it.
  bool ready();

  const int64_t depth_;
  std::mutex mutex_;
  bool tried_ = false;
  std::unique_ptr<Ring> ring_;
};

}  // namespace penstock
