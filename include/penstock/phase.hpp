// Phases: the parts of a write or read in which time is spent.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace penstock {

enum class Phase : uint8_t { define, pack, exchange, write, sync, commit, read };
inline constexpr int phase_count = 7;
std::string_view name(Phase phase);

struct PhaseTimes {
  std::array<double, phase_count> seconds{};
  double& operator[](Phase phase) { return seconds[static_cast<size_t>(phase)]; }
  double operator[](Phase phase) const { return seconds[static_cast<size_t>(phase)]; }
};

struct PhaseBoard;

// Adds the time between its constructor and its destructor to one phase.
class PhaseTimer {
 public:
  PhaseTimer(PhaseTimes& times, Phase phase);
  ~PhaseTimer();
  PhaseTimer(const PhaseTimer&) = delete;
  PhaseTimer& operator=(const PhaseTimer&) = delete;

 private:
  PhaseTimes& times_;
  Phase phase_;
  double start_;
  PhaseBoard* board_;
};

// Seconds of a monotonic clock.
double now();

// A function called at the end of each PhaseTimer of the process, in its thread, with start and end time; null: none.
// For traces.
using PhaseObserver = void (*)(Phase phase, double start, double end);
void observe_phases(PhaseObserver observer);

}  // namespace penstock
