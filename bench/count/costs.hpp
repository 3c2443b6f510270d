// Costs: what a write costs that can be counted instead of timed: messages, plans, bytes moved, calls on metadata.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bench/count/virtual_job.hpp"

namespace penstock::bench {

// Of all ranks.
struct PerRank {
  double mean = 0;
  int64_t most = 0;
};

// Calls of storage (core/storage/storage.hpp) for one file, of all ranks together. ALLOCATE happens inside CREATE.
struct MetadataCalls {
  int64_t create = 0, allocate = 0, open = 0, sync = 0, close = 0, permit = 0, set_time = 0, stat = 0, rename = 0,
          sync_directory = 0;
  int64_t total() const {
    return create + allocate + open + sync + close + permit + set_time + stat + rename + sync_directory;
  }
};

struct Costs {
  int64_t writers = 0;        // that have anything to write
  PerRank plan_messages;      // which say what will be sent
  PerRank data_messages;      // to any other rank: one for each writer and round with bytes
  PerRank far_messages;       // those of them that go to other nodes
  PerRank messages;           // plan and data: all that this way sends
  PerRank plan_bytes;         // told by a rank to others
  int64_t plan_received = 0;  // bytes of plans that the writer who is told most receives
  int64_t bytes = 0;          // of the workload
  int64_t far_bytes = 0;      // sent to other nodes
  int64_t near_bytes = 0;     // copied or sent to a writer of the own node, that of the rank itself included
  int64_t stripe_conflicts = 0, block_conflicts = 0;  // stripes, blocks of the plan, that several writers write to
  MetadataCalls metadata;

  // Over the network and into the file, for each byte of the workload.
  double moved_per_byte() const {
    return bytes > 0 ? 1 + static_cast<double>(far_bytes) / static_cast<double>(bytes) : 0;
  }
  double copied_per_byte() const {
    return bytes > 0 ? static_cast<double>(near_bytes) / static_cast<double>(bytes) : 0;
  }
};

// What one rank sends.
struct Sent {
  int64_t plan_messages = 0, plan_bytes = 0;
  int64_t data_messages = 0, far_messages = 0;
  int64_t far_bytes = 0, near_bytes = 0;
};

// Sums and maxima, rank by rank: nothing is kept but a few numbers for each writer.
class Tally {
 public:
  // BY_NODE: data for the own node goes without messages.
  Tally(int64_t writers, bool by_node)
      : by_node_(by_node), told_(static_cast<size_t>(writers)), written_(told_.size()) {}
  void tell(int64_t writer, int64_t bytes) { told_[static_cast<size_t>(writer)] += bytes; }
  // Some rank has bytes of RANGE for WRITER.
  void write(int64_t writer, AddressRange range);
  void add(const Sent& sent);
  int64_t writers() const;                // that have bytes
  int64_t conflicts(int64_t unit) const;  // units of so many bytes of the file that several writers write to
  Costs costs(int64_t ranks) const;       // what was added, as means and maxima

 private:
  bool by_node_;
  std::vector<int64_t> told_;
  std::vector<AddressRange> written_;  // begin == end: nothing
  Costs sums_;                         // the means are sums still
};

// Local. hdf5/two_phase and the like: the transport's own arithmetic.
Result<Costs> count_two_phase(const VirtualJob& job, const Settings& settings, int64_t stripe);
// Local. Two-phase writing as ROMIO does it (Thakur, Gropp, Lusk 1999), of the same pieces: one aggregator on each
// node, the range of the file cut evenly among them without alignment, lists of 16 bytes for each contiguous run, whose
// lengths everybody tells everybody, rounds of 16 MiB; all ranks open, sync and close. In its favour, what ROMIO
// gathers from all at the start and tells all again in each round is left out.
Result<Costs> count_textbook(const VirtualJob& job, bool durable, int64_t stripe);

}  // namespace penstock::bench
