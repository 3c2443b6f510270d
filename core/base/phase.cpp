// Phases: where the time of a write or read goes.
#include <penstock/phase.hpp>

#include <atomic>
#include <chrono>

namespace penstock {
namespace {

std::atomic<PhaseObserver> observing = nullptr;

}  // namespace

std::string_view name(Phase phase) {
  static constexpr std::string_view names[phase_count] = {"define", "pack",   "exchange", "write",
                                                          "sync",   "commit", "read"};
  return names[static_cast<size_t>(phase)];
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

PhaseTimer::PhaseTimer(PhaseTimes& times, Phase phase) : times_(times), phase_(phase), start_(now()) {}
PhaseTimer::~PhaseTimer() {
  const double end = now();
  times_[phase_] += end - start_;
  if (const PhaseObserver observer = observing.load(std::memory_order_relaxed)) observer(phase_, start_, end);
}

void observe_phases(PhaseObserver observer) { observing = observer; }

}  // namespace penstock
