// Preconditions: what must hold before anything is measured.
#pragma once

#include <penstock/communicator.hpp>

#include "bench/options.hpp"

namespace penstock::bench {

// Collective; the same status everywhere. The folder exists and can be written, the disk has room for one file of
// the largest case at a time (for one of each method with --keep), the node has memory for what its ranks write and
// read back of it.
Status check_preconditions(const Communicator& comm, const Options& options);

// Local. Bytes of the file system that the largest case needs at a time, and of memory on all RANKS together.
struct Needs {
  int64_t disk = 0, memory = 0;
};
// REQUIRES: the workloads are made, for so many RANKS.
Needs needs_of(const Options& options, int ranks);

}  // namespace penstock::bench
