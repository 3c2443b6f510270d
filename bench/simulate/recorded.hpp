// Recorded: what a program did to its files, of a pattern: its own calls as a demand, its data as a workload.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/replay/pattern.hpp"
#include "bench/simulate/demand.hpp"

namespace penstock::bench {

using Recorded = std::vector<Variant>;  // [rank]

// Local. The first variant of the pattern PATH. Code::unsupported if it calls MPI: what a library does then is not in a
// pattern.
Result<Recorded> read_recorded(const std::string& path);

// Local. Its writes, or reads, and what is opened: call by call, all ranks at once, without pauses.
Result<Demand> demand_of(const Recorded& recorded, int ranks_per_node, bool write, const Machine& machine);

// Local. What its ranks wrote, or read: a dataset of bytes for each file, without the places that nobody touched.
// Code::unsupported where much was moved more than once, so that it is not known whose it is.
Result<std::shared_ptr<const Workload>> data_of(const Recorded& recorded, bool write);

}  // namespace penstock::bench
