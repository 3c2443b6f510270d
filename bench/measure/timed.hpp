// Timed operations: one write and one read of a whole workload, under one clock.
#pragma once

#include <cstddef>
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

struct Target {
  std::string path;
  std::string plan;
  const Workload* workload = nullptr;
};

// What happened on one rank.
struct Timing {
  double seconds = 0;  // from the opening barrier to the return of close on this rank
  Report report;
  std::optional<int64_t> resident_growth;  // bytes, at most, meanwhile
  double copy_seconds = 0;                 // behind a compute phase: of copying this rank's data once
  double compute_seconds = 0;              // of the phase alone, right before
};

// What a program does besides: so many steps of arithmetic, which take about as long on every call, or sleep.
class Compute {
 public:
  // Collective: all ranks compute at once. Steps for about SECONDS.
  static Result<Compute> calibrate(const Communicator& comm, double seconds);
  // Sleeps for SECONDS, as a program whose work is done elsewhere.
  static Compute asleep(double seconds);
  // Local. Calls STEP now and then.
  void run(const std::function<void()>& step) const;

 private:
  int64_t steps_ = 0;
  double sleep_seconds_ = 0;
};

// Collective. Between two barriers: create, lend (or put) every field, close. The status is the same on all ranks.
Result<Timing> timed_write(const Communicator& comm, const Target& target, const Pieces& pieces, bool put);
// Collective. The same with the movement behind COMPUTE: SECONDS is what the write adds to the phase's own length, both
// measured here one after the other, and not less than what it takes before and after the phase: the same phase may be
// shorter the second time. PUT copies the data, else it is lent.
Result<Timing> timed_write_behind(const Communicator& comm, const Target& target, const Pieces& pieces,
                                  const Compute& compute, bool put);
// Collective over COMM; READERS, which is null on ranks that do not read, is a part of it. Between two barriers: open,
// get every field, close. Ranks that do not read take no time.
Result<Timing> timed_read(const Communicator& comm, const Communicator& readers, const Target& target,
                          const Pieces& pieces);

}  // namespace penstock::bench
