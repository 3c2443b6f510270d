// Timed operations: one write and one read of a whole workload, under one clock.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <penstock/communicator.hpp>
#include <penstock/file.hpp>

#include "bench/workload/workload.hpp"

namespace penstock::bench {

// This rank's part of every field, and the memory that holds it.
struct Pieces {
  std::vector<Decomposition> parts;
  std::vector<std::vector<std::byte>> buffers;
};

struct Target {
  std::string path;
  std::string plan;
  const Workload* workload = nullptr;
  ElementType type;
};

// What happened on one rank.
struct Timing {
  double seconds = 0;  // from the opening barrier to the return of close on this rank
  Report report;
};

// Collective. Between two barriers: create, lend every field, close. The status is the same on all ranks.
Result<Timing> timed_write(const Communicator& comm, const Target& target, const Pieces& pieces);
// Collective over COMM; READERS, which is null on ranks that do not read, is a part of it. Between two barriers: open,
// get every field, close. Ranks that do not read take no time.
Result<Timing> timed_read(const Communicator& comm, const Communicator& readers, const Target& target, Pieces& pieces);

}  // namespace penstock::bench
