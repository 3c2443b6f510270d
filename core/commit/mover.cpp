// Mover: the thread and the calls.
#include "core/commit/mover.hpp"

#include <chrono>
#include <system_error>

#include "core/base/guarded.hpp"

namespace penstock {

Mover::~Mover() {
  if (thread_.joinable()) thread_.join();
}

void Mover::go_to_background() {
  if (needs() == Needs::gate) gate_.emplace();
  try {
    thread_ = std::thread([this] {
      if (gate_) gate_->adopt();
      run_now();
      if (gate_) gate_->release();
    });
  } catch (const std::system_error&) {
    const bool others_wait = gate_.has_value();
    gate_.reset();
    if (others_wait) run_now();
  }
}

void Mover::run_now() {
  status_ = guarded([this] { return run(); });
  done_at_ = now();
  done_ = true;
}

Result<bool> Mover::progress(double seconds) {
  if (thread_.joinable() || done_) return done_.load();
  return transfer_ ? transfer_->progress(seconds) : Result<bool>(true);
}

Status Mover::finish(const std::function<void()>& meanwhile) {
  if (!thread_.joinable() && !done_) return run();
  for (; !done_; std::this_thread::sleep_for(std::chrono::microseconds(200))) meanwhile();
  if (thread_.joinable()) thread_.join();
  return status_;
}

Status Mover::run() {
  if (task_) return task_();
  return transfer_->finish();
}

}  // namespace penstock
