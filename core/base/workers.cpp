// Workers: one queue for all.
#include "core/base/workers.hpp"

#include <system_error>
#include <utility>

#include "core/base/guarded.hpp"

namespace penstock {

Workers::Workers(int count) {
  for (int worker = 0; count > 1 && worker < count; ++worker) try {
      threads_.emplace_back([this, worker] { run(worker); });
    } catch (const std::system_error&) {
      break;
    }
}

Workers::~Workers() {
  (void)finish();
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  handed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

Status Workers::hand(Work work) {
  if (threads_.empty()) {
    if (failure_.ok()) failure_ = work(0);
    return failure_;
  }
  std::unique_lock lock(mutex_);
  // Woken when half of it is done: a switch between threads for each piece would cost more than small pieces.
  if (unfinished_ >= 4 * threads_.size()) half_done_.wait(lock, [this] { return unfinished_ <= 2 * threads_.size(); });
  if (!failure_.ok()) return failure_;
  waiting_.push_back(std::move(work));
  ++unfinished_;
  handed_.notify_one();
  return {};
}

Status Workers::finish() {
  std::unique_lock lock(mutex_);
  half_done_.wait(lock, [this] { return unfinished_ == 0; });
  return failure_;
}

void Workers::run(int worker) {
  std::unique_lock lock(mutex_);
  while (true) {
    handed_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const Work work = std::move(waiting_.front());
    waiting_.pop_front();
    const bool failed = !failure_.ok();
    lock.unlock();
    Status status = failed ? Status() : guarded([&] { return work(worker); });
    lock.lock();
    if (failure_.ok()) failure_ = std::move(status);
    --unfinished_;
    if (unfinished_ == 2 * threads_.size() || unfinished_ == 0) half_done_.notify_one();
  }
}

}  // namespace penstock
