// Workers: threads that do small pieces of work beside the one that hands them out.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include <penstock/status.hpp>

namespace penstock {

// Used by one thread.
class Workers {
 public:
  // What a worker does; its number is below count().
  using Work = std::function<Status(int worker)>;

  // No threads for COUNT below 2: work is then done in hand(). Fewer, or none, if the system gives no more.
  explicit Workers(int count);
  ~Workers();  // finishes what was handed out
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  int count() const { return threads_.empty() ? 1 : static_cast<int>(threads_.size()); }
  bool has_threads() const { return !threads_.empty(); }
  // Waits while four times as much as there are workers is handed out. Returns the first failure so far.
  Status hand(Work work);
  // Waits until nothing is left. Returns the first failure.
  Status finish();

 private:
  void run(int worker);

  std::mutex mutex_;
  std::condition_variable handed_, half_done_;
  std::deque<Work> waiting_;
  size_t unfinished_ = 0;  // waiting, or in a worker
  bool ends_ = false;
  Status failure_;
  std::vector<std::thread> threads_;
};

}  // namespace penstock
