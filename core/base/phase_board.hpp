// PhaseBoard: shows to other processes the phases of this process's threads, and how long they took.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include <penstock/phase.hpp>

namespace penstock {

struct PhaseBoard {
  struct Entry {
    std::atomic<int64_t> inside;  // running timers
    std::atomic<int64_t> nanoseconds;
  };
  std::array<Entry, phase_count> entries;
};

// Shows each later PhaseTimer on BOARD, which is never freed; null: on no board.
void show_phases(PhaseBoard* board);

}  // namespace penstock
