// Demand: what a method asks of a machine for one write or read, counted with the code that plans real ones.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <penstock/status.hpp>

#include "bench/case.hpp"
#include "bench/simulate/machine.hpp"

namespace penstock::bench {

// Sums over the whole job, unless said otherwise.
struct Demand {
  int64_t ranks = 1, nodes = 1;
  int64_t movers = 1;         // nodes whose ranks call the file system, spread evenly
  double streams = 1;         // ranks of such a node that do
  double busiest = 1;         // bytes of the node that moves most, divided by the mean of those that do
  double bytes = 0;           // of the workload
  double file_bytes = 0;      // to or from the file system: more than BYTES where blocks are read to be changed
  double calls = 0;           // that move data
  double far_bytes = 0;       // between nodes
  double messages = 0;        // that carry them
  double senders = 1;         // ranks that send those
  double copied_bytes = 0;    // by all ranks
  double gathered_bytes = 0;  // by those that call the file system, each in one thread
  double lock_moves = 0;      // of blocks that another node wrote to
  double lock_grants = 0;     // of others, in a file that several nodes use
  double creates = 0, opens = 0;
  double rounds = 0;      // after each of which all ranks wait for each other
  double turns = 0;       // messages of which each waits for the one before
  bool overlaps = false;  // data moves between nodes while earlier data moves to or from the file
  bool in_step = false;   // ranks wait for each other after each call: nobody moves data during its latency
  int64_t targets = 1;    // that the data lies on
  // Of a library (library.hpp). PLACES are read by every node, one after another.
  double metadata_places = 0, metadata_writes = 0;
  bool sets_size = false;  // of the file, when it is closed

  bool operator==(const Demand&) const = default;
};

struct SimulatedJob {
  Case what;  // whose workload is made for each number of ranks, unless it is there
  int ranks = 1, ranks_per_node = 1;
  bool write = true;
};

// What stretches of a file ask of its blocks.
struct Touched {
  double bytes = 0;    // in whole smallest writes; one that a stretch covers in part is read and written
  double partial = 0;  // blocks that a stretch covers in part
  double blocks = 0;   // that a stretch covers

  void add(int64_t begin, int64_t end, const Machine& machine);
};
// Bytes of the file and locks of a demand whose calls and bytes are known.
void set_touched(Demand& demand, const Touched& touched, const Machine& machine, bool write);

// Of the BYTES that each node moves: those of the busiest, divided by the mean of the nodes that move any.
double busiest_of(const std::vector<int64_t>& bytes);

// Local.
Result<std::shared_ptr<const Workload>> workload_of(const SimulatedJob& job);

// Local. For METHOD. Code::unsupported if the simulator does not know how it works.
Result<Demand> demand_of(const SimulatedJob& job, const Method& method, const Machine& machine);

}  // namespace penstock::bench
