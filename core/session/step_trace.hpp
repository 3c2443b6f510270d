// StepTrace: records one commit or read in the trace, if there is one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <penstock/file.hpp>

namespace penstock {

struct StepTrace {
  int64_t start = -1;  // on the clock of Trace::time; -1: none in progress
  bool writes = false;
  uint64_t token = 0;                 // the same on all ranks of the step
  std::vector<std::string> datasets;  // pending on this rank, without repetition
};

// Local. Call before pending blocks are taken.
void begin_step(File::State& state, bool writes);
// Local. Call when the report is complete.
void end_step(File::State& state, const Status& status);

}  // namespace penstock
