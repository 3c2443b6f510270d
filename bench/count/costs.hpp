// Costs: countable costs of a write: messages, plans, bytes moved, metadata calls.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/count/virtual_job.hpp"
#include "core/transport/two_phase/domain.hpp"

namespace penstock::bench {

// Over all ranks.
struct PerRank {
  double mean = 0;
  int64_t most = 0;
};

// Storage calls (core/storage/storage.hpp) for one file, of all ranks together. ALLOCATE happens inside CREATE.
struct MetadataCalls {
  int64_t create = 0, allocate = 0, open = 0, sync = 0, close = 0, set_time = 0, stat = 0, rename = 0,
          sync_directory = 0;
  int64_t total() const { return create + allocate + open + sync + close + set_time + stat + rename + sync_directory; }
};

struct Costs {
  int64_t writers = 0;        // with data to write
  PerRank plan_messages;      // announcements of what will be sent
  PerRank data_messages;      // to other ranks, if each rank sends its own: one for each writer and round with bytes
  PerRank far_messages;       // to other nodes, as they are sent
  PerRank messages;           // plan and data: all messages
  PerRank plan_bytes;         // sent by a rank to others
  int64_t plan_received = 0;  // bytes of plans at the writer that receives most, from the visited nodes
  int64_t bytes = 0;          // of the workload
  int64_t far_bytes = 0;      // sent to other nodes
  int64_t near_bytes = 0;     // copied or sent to a writer on the same node, including the rank itself
  int64_t stripe_conflicts = 0, block_conflicts = 0;  // stripes and plan blocks written by several writers
  MetadataCalls metadata;

  // Over the network and to the file, per byte of the workload.
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

// Sums and maxima, rank by rank; keeps only a few numbers per writer.
class Tally {
 public:
  // BY_NODE: data within a node needs no messages.
  Tally(int64_t writers, bool by_node)
      : by_node_(by_node), told_(static_cast<size_t>(writers)), written_(told_.size()) {}
  void tell(int64_t writer, int64_t bytes) { told_[static_cast<size_t>(writer)] += bytes; }
  // Some rank has bytes of RANGE for WRITER.
  void write(int64_t writer, AddressRange range);
  void add_messages(const Sent& sent);
  void add_bytes(const Sent& sent);
  void add(const Sent& sent) {
    add_messages(sent);
    add_bytes(sent);
  }
  int64_t writers() const;                // with bytes
  int64_t conflicts(int64_t unit) const;  // units of this size in the file written by several writers
  // Means and maxima of everything added; without the metadata.
  Costs costs(const VirtualJob& job, int64_t stripe) const;

 private:
  bool by_node_;
  std::vector<int64_t> told_;
  std::vector<AddressRange> written_;  // begin == end: nothing
  Costs sums_;                         // still sums instead of means
  int64_t senders_ = 0;                // ranks whose messages were added
};

// Local. How the transport divides the file among writers.
Result<Domains> domains_of(const VirtualJob& job, const Settings& settings);
// Local. hdf5/two_phase and similar: uses the transport's own arithmetic.
Result<Costs> count_two_phase(const VirtualJob& job, const Settings& settings, int64_t stripe);
// Local. Two-phase writing as in ROMIO (Thakur, Gropp, Lusk 1999), for the same pieces: one aggregator per node, the
// file range divided evenly without alignment, lists of 16 bytes per contiguous run, whose lengths every rank sends to
// every rank, rounds of 16 MiB; all ranks open, sync and close. In favour of ROMIO, its initial gather and its messages
// to all ranks in each round are not counted.
Result<Costs> count_textbook(const VirtualJob& job, bool durable, int64_t stripe);

}  // namespace penstock::bench
