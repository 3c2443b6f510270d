// Preconditions: what must hold before anything is measured.
#pragma once

#include <penstock/communicator.hpp>

#include "bench/options.hpp"
#include "bench/workload/workload.hpp"

namespace penstock::bench {

// Collective; the same status everywhere. The folder exists and can be written, the disk has room for one file at a
// time (for one of each method with --keep), the node has memory for what its ranks write and read back.
Status check_preconditions(const Communicator& comm, const Options& options, const Workload& workload);

}  // namespace penstock::bench
