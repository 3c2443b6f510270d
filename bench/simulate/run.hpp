// Run: moves a demand through a machine, in SimGrid's S4U.
#pragma once

#include <string>

#include <penstock/status.hpp>

#include "bench/simulate/demand.hpp"
#include "bench/simulate/machine.hpp"

namespace penstock::bench {

struct Outcome {
  double seconds = 0;
  std::string limit;         // the resource that alone would take longest
  double limit_seconds = 0;  // that it alone would take
};

// Local. In a child process, since SimGrid knows one simulation in a process.
Result<Outcome> simulate(const Demand& demand, const Machine& machine, bool write);

}  // namespace penstock::bench
