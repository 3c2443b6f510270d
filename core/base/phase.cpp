// Phases: timers and the board on which they are shown.
#include <penstock/phase.hpp>

#include <atomic>
#include <chrono>
#include <cmath>

#include "core/base/phase_board.hpp"

namespace penstock {
namespace {

std::atomic<PhaseObserver> observing = nullptr;
std::atomic<PhaseBoard*> shown = nullptr;

}  // namespace

std::string_view name(Phase phase) {
  static constexpr std::string_view names[phase_count] = {"define", "pack",   "exchange", "write",
                                                          "sync",   "commit", "read"};
  return names[static_cast<size_t>(phase)];
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

PhaseTimer::PhaseTimer(PhaseTimes& times, Phase phase)
    : times_(times), phase_(phase), start_(now()), board_(shown.load(std::memory_order_relaxed)) {
  if (board_ != nullptr) board_->entries[static_cast<size_t>(phase)].inside.fetch_add(1, std::memory_order_relaxed);
}
PhaseTimer::~PhaseTimer() {
  const double end = now();
  times_[phase_] += end - start_;
  if (board_ != nullptr) {
    PhaseBoard::Entry& entry = board_->entries[static_cast<size_t>(phase_)];
    entry.inside.fetch_sub(1, std::memory_order_relaxed);
    entry.nanoseconds.fetch_add(std::llround((end - start_) * 1e9), std::memory_order_relaxed);
  }
  if (const PhaseObserver observer = observing.load(std::memory_order_relaxed)) observer(phase_, start_, end);
}

void observe_phases(PhaseObserver observer) { observing = observer; }
void show_phases(PhaseBoard* board) { shown = board; }

}  // namespace penstock
