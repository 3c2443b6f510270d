// Moving: a commit whose data is on its way to files that nobody sees yet.
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "core/commit/contents.hpp"
#include "core/commit/encode.hpp"
#include "core/commit/mover.hpp"
#include "core/publication/output.hpp"

namespace penstock {

// Not movable: threads use it. TARGET must outlive it. Its end abandons an unfinished commit: other ranks that wait for
// its movement fail, and what this rank made is removed.
struct Moving {
  const Target& target;
  NewContents contents;       // until the files are placed; then the catalogue is in OUTPUT
  std::vector<Pending> puts;  // own the captured data
  Encoded encoded;            // owns encoded data
  Communicator comm;          // of the data movement
  Output output;
  Job job;
  PhaseTimes phases;  // of the data movement, which may run in a thread
  HintsOutcome hints_outcome;
  bool background = false;  // the program computes meanwhile
  bool known = false;       // the contents that complete() leaves, to all ranks
  bool finished = false;    // published, or nothing is left to remove
  double started_at = 0;
  Status supplied;      // of an engine's suppliers, on this rank
  std::thread summing;  // computes the sums of CONTENTS
  std::unique_ptr<Mover> mover;

  Moving(const Target& of, NewContents new_contents, std::vector<Pending> owned, Communicator over)
      : target(of), contents(std::move(new_contents)), puts(std::move(owned)), comm(std::move(over)) {}
  Moving(const Moving&) = delete;
  Moving& operator=(const Moving&) = delete;
  ~Moving();
  void end_summing() {
    if (summing.joinable()) summing.join();
  }
};

// Collective. Places and creates the files for CONTENTS, and starts the movement of PUTS over COMM. It continues in the
// background if BACKGROUND is set and the transport allows it. If a transport hands the data over to others, all puts
// are released. After a failure nothing is left.
Result<std::unique_ptr<Moving>> start_moving(Opened& file, NewContents contents, std::vector<Pending> puts,
                                             Communicator comm, bool background);
// Collective. Ends the movement, publishes the files, and makes them the contents of FILE. After a failure nothing is
// left, except where it is unknown what rank 0 did.
Status publish_moved(Opened& file, Moving& moving);
// Local. What a movement did, also one that reads, and which hints had an effect.
void report_moved(const Moved& moved, Report& report);
void report_hints(const HintsOutcome& outcome, Report& report);

}  // namespace penstock
