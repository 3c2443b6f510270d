// Neighbours: the ranks of a node, which access each other's windows in shared memory instead of sending messages.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <penstock/communicator.hpp>
#include <penstock/status.hpp>

#include "core/comm/shared_memory.hpp"
#include "core/transport/two_phase/couriers.hpp"
#include "core/transport/two_phase/domain.hpp"

namespace penstock {

// State that the ranks of one node keep between transfers: the shared pages stay touched. Kept with the communicator;
// the same on all ranks of a node, but for TAKEN and IN_DOUBT.
struct NodeMemory {
  Communicator node;                         // null until the first transfer
  std::vector<int> ranks;                    // ranks in the job's communicator, by rank in NODE
  int64_t nodes = 1;                         // of the job's communicator
  int64_t number = 0;                        // of this node, in the order of the nodes' first ranks
  std::vector<std::vector<int>> candidates;  // those of each node that may write
  std::shared_ptr<SharedMemory> memory;
  int64_t refused = INT64_MAX;  // amount that the node could not provide; it is not requested again
  bool in_doubt = false;        // a transfer was abandoned on this rank: others may still use the memory
  uint32_t transfers = 0;
  std::vector<int> couriers;    // of this node, if there are others
  std::vector<uint32_t> taken;  // errands that this rank has taken from each courier, since the memory was made

  // Collective, at the first transfer.
  Status meet(const Communicator& comm);
  // Local.
  bool has(int64_t bytes) const { return ranks.size() > 1 && memory != nullptr && memory->bytes() >= bytes; }
  // Local. Whether it is known that the node has BYTES, or that it does not have them.
  bool is_settled(int64_t bytes) const { return ranks.size() < 2 || has(bytes) || bytes >= refused; }
};

// How windows move: a writer opens one of its two windows for a round. Each neighbour with bytes there copies them,
// once, between its own memory and the window, and signals that it is done. When all are done, the writer continues. An
// idle rank sleeps until its bell rings, since spinning would take cores from ranks that copy. All functions except
// prepare are local.
class Neighbours {
 public:
  Neighbours() = default;  // none
  // Local. The memory that transfers in DOMAINS take, with OUTBOX bytes for each courier.
  static int64_t bytes_for(const NodeMemory& kept, const Domains& domains, int64_t outbox);
  // Collective. Sets up shared memory for both windows of all writers of the node, and for its couriers, if available.
  Status prepare(NodeMemory& kept, const Domains& domains, int64_t outbox, int rank);

  bool any() const { return memory_ != nullptr; }
  // Whether RANK, another than this one, is reached through shared memory.
  bool reaches(int rank) const { return any() && rank != rank_ && slot_of(rank) >= 0; }
  Couriers& couriers() { return couriers_; }

  // For a writer. BUFFER is round % 2.
  std::byte* window(int64_t buffer) const { return window_of(own_, buffer); }
  void open(int64_t round, const std::vector<int>& clients);
  int64_t done_with(int64_t round) const;  // number of neighbours that are done

  // For a neighbour of rank WRITER. Null while the round is not open.
  std::byte* opened(int writer, int64_t round) const;
  void done(int writer, int64_t round);

  // Signals that a writer has closed its files. The others sleep meanwhile, instead of spinning in a reduction.
  void leave();
  bool writers_left() const;

  // Messages to other nodes failed on this rank: rings every bell, so that no neighbour waits for it.
  void fail();
  bool failed() const;

  uint32_t bell() const;                            // read it, look for work, and if there is none:
  void sleep(uint32_t bell, double seconds) const;  // until the next ring, unless it has rung already
  void ring(int rank) const;

 private:
  struct Slot;    // of a rank
  struct Header;  // of the memory
  // For a writer: the round that is open in each window, and the number of neighbours that are done with it.
  struct Flags;

  static int64_t flags_end(size_t ranks);
  static int64_t fixed_bytes(const NodeMemory& kept);
  int slot_of(int rank) const;  // -1: on another node
  Slot& slot(int number) const;
  Flags& flags(int number) const;
  std::byte* window_of(int number, int64_t buffer) const;
  uint64_t word(int64_t round) const { return uint64_t{transfer_} << 32 | static_cast<uint64_t>(round + 1); }

  std::shared_ptr<SharedMemory> memory_;
  Couriers couriers_;
  std::vector<int> ranks_;
  std::vector<int64_t> windows_;  // start of the windows of each slot
  std::vector<int> writers_;      // slots
  int64_t window_bytes_ = 0;
  uint32_t transfer_ = 0;
  int rank_ = 0;
  int own_ = 0;
};

}  // namespace penstock
