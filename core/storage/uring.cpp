// Uring with liburing: keeps the ring's queue full, and leaves exceptional cases to plain calls.
#include "core/storage/uring.hpp"

#include <liburing.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "core/status/status_page.hpp"
#include "core/storage/storage.hpp"

namespace penstock {

class Uring::Ring {
 public:
  static std::unique_ptr<Ring> make(int64_t depth) {
    auto ring = std::make_unique<Ring>();
    const auto entries = static_cast<unsigned>(std::min<int64_t>(depth, max_entries));
    if (io_uring_queue_init(entries, &ring->uring_, 0) < 0) return nullptr;
    ring->made_ = true;
    ring->starts_.resize(entries);
    return ring;
  }
  Ring() = default;
  ~Ring() {
    if (made_) io_uring_queue_exit(&uring_);
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  // Returns the offset up to which everything is moved: the end, or the start of the plain calls. No request is in
  // progress then.
  int64_t move(const Movement& whole) {
    const int64_t end = whole.offset + static_cast<int64_t>(whole.bytes.size());
    int64_t next = whole.offset, moved = end;
    free_.clear();
    for (unsigned slot = 0; slot < starts_.size(); ++slot) free_.push_back(slot);
    do {
      while (next < end && moved == end && !free_.empty()) next = prepare(whole, next);
      if (!submit_and_wait()) {
        broken_ = true;
        while (in_kernel() > 0) moved = std::min(moved, reap(whole));
        return whole.offset;
      }
      moved = std::min(moved, reap(whole));
    } while (flying() > 0 || (next < end && moved == end));
    return moved;
  }

  // Unsubmitted requests may remain in it.
  bool broken() const { return broken_; }

 private:
  static constexpr int64_t max_entries = 1024;

  static int64_t request_end(const Movement& whole, int64_t start) {
    const int64_t end = whole.offset + static_cast<int64_t>(whole.bytes.size());
    return std::min(end, (start / request_bytes + 1) * request_bytes);
  }

  size_t flying() const { return starts_.size() - free_.size(); }
  size_t in_kernel() const { return flying() - io_uring_sq_ready(&uring_); }

  // There is always room: the ring has an entry for each slot.
  int64_t prepare(const Movement& whole, int64_t start) {
    const int64_t end = request_end(whole, start);
    std::byte* memory = whole.bytes.data() + (start - whole.offset);
    const auto length = static_cast<unsigned>(end - start);
    io_uring_sqe* entry = io_uring_get_sqe(&uring_);
    if (whole.writing)
      io_uring_prep_write(entry, whole.fd, memory, length, static_cast<uint64_t>(start));
    else
      io_uring_prep_read(entry, whole.fd, memory, length, static_cast<uint64_t>(start));
    io_uring_sqe_set_data64(entry, free_.back());
    starts_[free_.back()] = start;
    free_.pop_back();
    return end;
  }

  // Whether to continue. A kernel short of a resource has it again when a request completes.
  bool submit_and_wait() {
    const int result = io_uring_submit_and_wait(&uring_, 1);
    return result >= 0 || result == -EINTR || ((result == -EAGAIN || result == -EBUSY) && in_kernel() > 0);
  }

  // Takes completed requests, at least one. Returns the lowest offset of those not moved in full, else INT64_MAX.
  int64_t reap(const Movement& whole) {
    int64_t failed = INT64_MAX;
    io_uring_cqe* done = nullptr;
    if (in_kernel() == 0) return failed;
    while (io_uring_wait_cqe(&uring_, &done) != 0) {
    }
    do {
      const auto slot = static_cast<unsigned>(io_uring_cqe_get_data64(done));
      const int64_t start = starts_[slot];
      if (done->res != request_end(whole, start) - start)
        failed = std::min(failed, start);
      else
        whole.writing ? count_written(done->res) : count_read(done->res);
      free_.push_back(slot);
      io_uring_cqe_seen(&uring_, done);
    } while (in_kernel() > 0 && io_uring_peek_cqe(&uring_, &done) == 0);
    return failed;
  }

  io_uring uring_{};
  bool made_ = false, broken_ = false;
  std::vector<int64_t> starts_;  // of each slot's request
  std::vector<unsigned> free_;   // slots
};

bool has_io_uring() {
  io_uring ring{};
  const bool made = io_uring_queue_init(1, &ring, 0) == 0;
  if (made) io_uring_queue_exit(&ring);
  return made;
}

Uring::Uring(int64_t depth) : depth_(depth) {}
Uring::~Uring() = default;

bool Uring::ready() {
  if (!tried_) ring_ = Ring::make(depth_);
  tried_ = true;
  return ring_ != nullptr;
}

Status Uring::move(const Movement& whole, const Plain& plain) {
  if (depth_ <= 1 || static_cast<int64_t>(whole.bytes.size()) <= request_bytes) return plain(whole.offset, whole.bytes);
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || !ready()) return plain(whole.offset, whole.bytes);
  const int64_t moved = ring_->move(whole);
  if (ring_->broken()) ring_.reset();
  return plain(moved, whole.bytes.subspan(static_cast<size_t>(moved - whole.offset)));
}

}  // namespace penstock
