// Timed operations: one write and one read of a whole workload, by one clock.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <penstock/communicator.hpp>
#include <penstock/file.hpp>

#include "bench/workload/piece.hpp"

namespace penstock::bench {

using Pieces = std::vector<Piece>;  // in the order of the calls

struct TimedFile {
  std::string path;
  std::string plan;
  const Workload* workload = nullptr;
};

// The times of one rank.
struct Timing {
  double seconds = 0;  // from the opening barrier to the return of close on this rank
  Report report;
  std::optional<int64_t> resident_growth;  // maximum growth in bytes
  double copy_seconds = 0;                 // with a compute phase: copying the data of all ranks once
  double compute_seconds = 0;              // of the phase alone on all ranks, measured just before
};

// The work of a program between its writes: a number of arithmetic steps that take about the same time on every call,
// or sleep.
class Compute {
 public:
  // Collective: all ranks compute at once. Enough steps for about SECONDS.
  static Result<Compute> calibrate(const Communicator& comm, double seconds);
  // Sleeps for SECONDS, like a program whose work is done elsewhere.
  static Compute asleep(double seconds);
  // Local. Calls STEP from time to time.
  void run(const std::function<void()>& step) const;

 private:
  int64_t steps_ = 0;
  double sleep_seconds_ = 0;
};

// Collective. Between two barriers: create, lend (or put) every field, close. The status is the same on all ranks.
Result<Timing> timed_write(const Communicator& comm, const TimedFile& target, const Pieces& pieces, bool put);
// Collective. Same with the data movement in the background of COMPUTE. SECONDS is the time that the write adds to the
// phase of all ranks, from barrier to barrier, with both measured here in succession; and at least the time before and
// after the phase of the slowest rank, since the same phase may be shorter the second time. Ranks that share cores do
// not end a phase together: to wait for the slowest is part of the phase. PUT copies the data; otherwise it is lent.
Result<Timing> timed_background_write(const Communicator& comm, const TimedFile& target, const Pieces& pieces,
                                      const Compute& compute, bool put);
// Collective over COMM; READERS, null on ranks that do not read, is a subset. Between two barriers: open, get every
// field, close. Ranks that do not read are not timed.
Result<Timing> timed_read(const Communicator& comm, const Communicator& readers, const TimedFile& target,
                          const Pieces& pieces);

}  // namespace penstock::bench
