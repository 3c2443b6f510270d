// Phases: where the time of a write or read goes.
#include <penstock/phase.hpp>

#include <chrono>

namespace penstock {

std::string_view name(Phase phase) {
  static constexpr std::string_view names[phase_count] = {"define", "pack",   "exchange", "write",
                                                          "sync",   "commit", "read"};
  return names[static_cast<size_t>(phase)];
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

PhaseTimer::PhaseTimer(PhaseTimes& times, Phase phase) : times_(times), phase_(phase), start_(now()) {}
PhaseTimer::~PhaseTimer() { times_[phase_] += now() - start_; }

}  // namespace penstock
