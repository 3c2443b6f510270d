// PhaseBoard: which phases the threads of this process are in, and how long they were, for who looks from outside.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include <penstock/phase.hpp>

namespace penstock {

struct PhaseBoard {
  struct Entry {
    std::atomic<int64_t> inside;  // timers that run
    std::atomic<int64_t> nanoseconds;
  };
  std::array<Entry, phase_count> entries;
};

// From now on each PhaseTimer that begins is shown on BOARD, which is never freed; null: on none.
void show_phases(PhaseBoard* board);

}  // namespace penstock
