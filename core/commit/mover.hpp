// Mover: one data movement in progress, driven by calls or by a thread of its own.
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
  // TRANSFER moves in calls of progress and finish.
  explicit Mover(std::unique_ptr<Transfer> transfer) : transfer_(std::move(transfer)) {}
  // TASK is the whole write of a third-party library; it has no steps.
  explicit Mover(std::function<Status()> task) : task_(std::move(task)) {}
  ~Mover();
  Mover(const Mover&) = delete;
  Mover& operator=(const Mover&) = delete;

  // Moves everything in a thread from now on. A task, or a transfer that needs the gate, then has the libraries that
  // are not thread-safe to itself. If no thread can be started, it runs at once, since other ranks' threads may be
  // waiting for this rank with their gates closed; other transfers then move in calls.
  void go_to_background();
  // Works for about SECONDS if there is no thread. True when only finish() is left and will be short.
  Result<bool> progress(double seconds);
  // Works until the movement goes on without this program's memory and time, if the transfer can do that.
  void detach() { detached_ = transfer_ && transfer_->detach(); }
  bool is_detached() const { return detached_; }
  // Runs until everything is done; returns the status. Calls MEANWHILE repeatedly while a thread works.
  Status finish(const std::function<void()>& meanwhile);
  // Needs::gate: another library moves the data, and may hold ranks for any time.
  Needs needs() const { return transfer_ ? transfer_->needs() : Needs::gate; }
  Moved moved() const { return transfer_ ? transfer_->moved() : Moved{true}; }
  // Abandons the movement: tells the ranks of this node that wait for it.
  void abandon() {
    if (transfer_) transfer_->abandon();
  }
  // The time at which the thread was done, on the clock of now(); 0 without a thread.
  double done_at() const { return done_at_; }

 private:
  Status run();
  void run_now();

  std::unique_ptr<Transfer> transfer_;
  std::function<Status()> task_;
  std::optional<GateReservation> gate_;
  std::thread thread_;
  bool detached_ = false;
  std::atomic<bool> done_ = false;
  double done_at_ = 0;
  Status status_;
};

}  // namespace penstock
