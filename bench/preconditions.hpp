// Preconditions: requirements that are checked before any measurement.
#pragma once

#include <penstock/communicator.hpp>

#include "bench/options.hpp"

namespace penstock::bench {

// Collective; same status on all ranks. Checks that the folder exists and is writable, that the disk has room for one
// file of the largest case at a time (with --keep for one per method), and that each node has memory for the data that
// its ranks write and read back.
Status check_preconditions(const Communicator& comm, const Options& options);

// Local. Bytes of disk that the largest case needs at a time, and of memory on all RANKS together.
struct Needs {
  int64_t disk = 0, memory = 0;
};
// REQUIRES: the workloads are made for RANKS.
Needs needs_of(const Options& options, int ranks);

}  // namespace penstock::bench
