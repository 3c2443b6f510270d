// Neighbours: the ranks of a node, which reach each other's windows through shared memory instead of by messages.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <penstock/communicator.hpp>
#include <penstock/status.hpp>

#include "core/comm/shared_memory.hpp"
#include "core/transport/two_phase/domain.hpp"

namespace penstock {

// What the ranks of one node keep from one transfer to the next: the shared pages stay touched. Kept with the
// communicator; the same on all ranks of a node.
struct NodeMemory {
  Communicator node;       // null until the first transfer
  std::vector<int> ranks;  // of the job's communicator, by their rank in NODE
  int64_t nodes = 1;       // of the job's communicator
  std::vector<int> seats;  // ranks of it that write, of all nodes
  std::shared_ptr<SharedMemory> memory;
  int64_t refused = INT64_MAX;  // the node has no such memory: it is not asked for so much again
  bool in_doubt = false;        // a transfer was given up on this rank: others may still use the memory
  uint32_t transfers = 0;

  // Collective, at the first transfer.
  Status meet(const Communicator& comm);
};

// Windows travel like this. A writer opens one of its two windows for a round; each neighbour that has bytes there
// copies them, once, between its own memory and the window, and says that it is done; when all are, the writer goes on.
// A rank with nothing to do sleeps until its bell rings: spinning would take the cores from those who copy. All
// functions are local but prepare.
class Neighbours {
 public:
  Neighbours() = default;  // none
  // Collective. Where there is shared memory for both windows of all writers of the node.
  Status prepare(NodeMemory& kept, const Domains& domains, int rank);

  bool any() const { return memory_ != nullptr; }
  // Whether RANK, another one than this, is reached by shared memory.
  bool reaches(int rank) const { return any() && rank != rank_ && slot_of(rank) >= 0; }

  // As a writer. BUFFER is round % 2.
  std::byte* window(int64_t buffer) const { return window_of(own_, buffer); }
  void open(int64_t round, const std::vector<int>& clients);
  int64_t done_with(int64_t round) const;  // so many neighbours are

  // As a neighbour of WRITER, a rank. Null while the round is not open.
  std::byte* opened(int writer, int64_t round) const;
  void done(int writer, int64_t round);

  // A writer has closed its files. The others wait for that asleep, instead of in a reduction, which spins.
  void leave();
  bool writers_left() const;

  // Messages to other nodes failed on this rank: no neighbour must wait for it. It rings every bell.
  void fail();
  bool failed() const;

  uint32_t bell() const;                            // take it, look for work, and where there is none:
  void sleep(uint32_t bell, double seconds) const;  // until it rings again, if it has not yet
  void ring(int rank) const;

 private:
  struct Slot;    // of a rank
  struct Header;  // of the memory
  // Of a writer: which round is open in each window, and how many neighbours are done with it.
  struct Flags;

  int slot_of(int rank) const;  // -1: on another node
  Slot& slot(int number) const;
  Flags& flags(int number) const;
  std::byte* window_of(int number, int64_t buffer) const;
  uint64_t word(int64_t round) const { return uint64_t{transfer_} << 32 | static_cast<uint64_t>(round + 1); }

  std::shared_ptr<SharedMemory> memory_;
  std::vector<int> ranks_;
  std::vector<int64_t> windows_;  // where those of each slot begin
  std::vector<int> writers_;      // slots
  int64_t window_bytes_ = 0;
  uint32_t transfer_ = 0;
  int rank_ = 0;
  int own_ = 0;
};

}  // namespace penstock
