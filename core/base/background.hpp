// Background: runs one task at a time on a helper thread, which makes system calls and never calls MPI.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <penstock/status.hpp>

#include "core/base/guarded.hpp"

namespace penstock {

class Background {
 public:
  // Without THREADED, tasks run inside submit(). The thread calls RESTED after each task.
  explicit Background(bool threaded, std::function<void()> rested = {})
      : threaded_(threaded), rested_(std::move(rested)) {}
  ~Background() {
    if (!thread_.joinable()) return;
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // Waits for the previous task, then starts this one. Returns the status of the previous task.
  Status submit(std::function<Status()> task) {
    Status before = wait();
    task_ = std::move(task);  // the thread is not in it
    try {
      if (threaded_ && !thread_.joinable()) thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {  // no thread available: work without
      threaded_ = false;
    }
    if (!threaded_) {
      status_ = guarded(task_);
      return before;
    }
    {
      std::lock_guard lock(mutex_);
      busy_ = true;
    }
    changed_.notify_all();
    return before;
  }

  // Whether wait() would return at once.
  bool idle() {
    std::lock_guard lock(mutex_);
    return !busy_;
  }

  void wait_idle() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !busy_; });
  }

  // Returns the status of the last task, once.
  Status wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !busy_; });
    return std::exchange(status_, Status());
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return busy_ || stop_; });
      if (!busy_) return;
      lock.unlock();
      Status status = guarded(task_);
      lock.lock();
      status_ = std::move(status);
      busy_ = false;
      changed_.notify_all();
      if (!rested_) continue;
      lock.unlock();
      rested_();
      lock.lock();
    }
  }

  bool threaded_;
  std::function<void()> rested_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<Status()> task_;
  Status status_;
  bool busy_ = false;
  bool stop_ = false;
};

}  // namespace penstock
