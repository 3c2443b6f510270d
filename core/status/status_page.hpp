// StatusPage: the current file activity of this process, in a page of memory that `penstock monitor` reads
// (docs/formats/status.md).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "core/base/phase_board.hpp"

namespace penstock {

// A commit or read in progress. SEQUENCE is odd while members that are not atomic change.
struct StatusStep {
  enum class Kind : uint32_t { none, write, read };
  std::atomic<uint32_t> sequence;
  Kind kind;
  uint64_t token;  // the same on all ranks
  int64_t start;   // nanoseconds of CLOCK_MONOTONIC
  int32_t rank, ranks;
  int32_t commit;  // of this file, from 0
  uint32_t path_bytes;
  int64_t mine;                // bytes that this rank put or requested
  std::atomic<int64_t> total;  // of the file, all ranks; 0: unknown
  int64_t base;                // the page's written or read bytes at the start of the step
  std::array<char, 64> plan;   // both end with NUL and are cut if too long
  std::array<char, 512> path;
};
static_assert(sizeof(StatusStep) == 640);

struct StatusPage {
  std::array<char, 8> magic;
  uint32_t process, role;  // 0: program, 1: server
  uint32_t max_steps, step_bytes;
  std::atomic<int64_t> written, read;   // bytes, by our own calls on files
  std::atomic<int64_t> commits, reads;  // completed
  std::atomic<int64_t> ended;           // end time of the last, on the clock of StatusStep::start
  std::array<char, 80> reserved;
  PhaseBoard phases;
  std::array<StatusStep, 6> steps;
};
static_assert(sizeof(StatusPage) == 4096);

// The page of this process; null before show_status, and if it is disabled or cannot be created.
inline std::atomic<StatusPage*> status_page = nullptr;

// Creates the page, unless PENSTOCK_STATUS is "off". Failures do not affect the caller.
void show_status(uint32_t role = 0);

inline void count_written(int64_t bytes) {
  if (StatusPage* page = status_page.load(std::memory_order_relaxed))
    page->written.fetch_add(bytes, std::memory_order_relaxed);
}
inline void count_read(int64_t bytes) {
  if (StatusPage* page = status_page.load(std::memory_order_relaxed))
    page->read.fetch_add(bytes, std::memory_order_relaxed);
}

// Shows a step from begin to end, if the page has room.
class ShownStep {
 public:
  ShownStep() = default;
  ~ShownStep() { end(); }
  ShownStep(const ShownStep&) = delete;
  ShownStep& operator=(const ShownStep&) = delete;

  struct What {
    bool writes = false;
    std::string_view path, plan;
    uint64_t token = 0;
    int rank = 0, ranks = 1, commit = 0;
    int64_t bytes = 0;
  };
  void begin(const What& what);
  // Call as soon as the total is known.
  void set_total(int64_t bytes);
  void end();

 private:
  StatusStep* step_ = nullptr;
  StatusPage* page_ = nullptr;
};

}  // namespace penstock
