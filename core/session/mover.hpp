// Mover: one movement of data under way: driven by calls, or by a thread of its own beside the program's work.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include <penstock/status.hpp>

#include "core/base/library_gate.hpp"
#include "core/transport/transport.hpp"

namespace penstock {

// All functions are local. Not movable: a thread may be using it.
class Mover {
 public:
  // TRANSFER moves by calls of progress and finish.
  explicit Mover(std::unique_ptr<Transfer> transfer) : transfer_(std::move(transfer)) {}
  // TASK is somebody else's whole write, which has no steps.
  explicit Mover(std::function<Status()> task) : task_(std::move(task)) {}
  ~Mover();
  Mover(const Mover&) = delete;
  Mover& operator=(const Mover&) = delete;

  // From now on a thread does all of it. A task, or a transfer that needs the gate, has the libraries that are not
  // thread-safe for itself meanwhile. Where there is no thread to be had it is done at once, since other ranks' threads
  // may be waiting for this rank with their gates closed; another transfer then moves by calls.
  void go_behind();
  // Works for about SECONDS where there is no thread; true when only finish() is left and will not take long.
  Result<bool> progress(double seconds);
  // Where the transfer detaches: until it has, or has failed, which finish() will tell.
  bool detaches() const { return transfer_ && transfer_->detaches(); }
  void hand_over();
  // Until everything is done; its status. MEANWHILE is called again and again while a thread does it.
  Status finish(const std::function<void()>& meanwhile);
  // Whether another library moves the data, which keeps ranks for as long as it likes.
  bool is_foreign() const { return task_ || (transfer_ && transfer_->needs_gate()); }
  bool touched_files() const { return transfer_ ? transfer_->touched_files() : true; }
  // Nobody will finish it: what other ranks wait for, on this node, is told.
  void give_up() {
    if (transfer_) transfer_->give_up();
  }
  int64_t memory_peak() const { return transfer_ ? transfer_->memory_peak() : 0; }
  std::string statistics() const { return transfer_ ? transfer_->statistics() : std::string(); }
  std::vector<int64_t> slot_order() const { return transfer_ ? transfer_->slot_order() : std::vector<int64_t>(); }
  // When the thread was done, on the clock of now(); 0 where there was none.
  double done_at() const { return done_at_; }

 private:
  Status run();
  void run_now();

  std::unique_ptr<Transfer> transfer_;
  std::function<Status()> task_;
  std::optional<GateReservation> gate_;
  std::thread thread_;
  std::atomic<bool> done_ = false;
  double done_at_ = 0;
  Status status_;
};

}  // namespace penstock
