// Preconditions: what must hold before anything is measured.
#pragma once

#include <penstock/communicator.hpp>

#include "bench/options.hpp"

namespace penstock::bench {

// Collective; the same status everywhere. The folder exists and can be written, the disk has room for one file of
// the largest case at a time (for one of each method with --keep), the node has memory for what its ranks write and
// read back of it.
Status check_preconditions(const Communicator& comm, const Options& options);

}  // namespace penstock::bench
