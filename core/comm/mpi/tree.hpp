// Tree: collective calls as polled messages along binomial trees. Each message names its call, so that no rank waits
// forever.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <penstock/communicator.hpp>
#include <penstock/status.hpp>

#include "core/comm/mpi/request.hpp"
#include "core/comm/mpi/watch.hpp"

namespace penstock {

// All functions are collective, like those of CommunicatorInterface. After an error the object is never freed, since
// messages in progress may use its memory.
class Tree {
 public:
  enum class Kind : int32_t { min, max, sum, bits, sum_bits, exclusive_sum, broadcast, gather };
  using CallOf = std::function<CollectiveCall&()>;

  Tree(MPI_Comm comm, int rank, int size, Watch& watch, CallOf call);

  // KIND: min, max, sum, bits (exclusive or), or sum_bits: the first SUMS values by sum, the others by bits; or
  // exclusive_sum: the first half of the values by sum over all ranks, the other by those of lower ranks, which was 0.
  // Empty VALUES: a barrier.
  Status reduce(std::span<int64_t> values, Kind kind, int sums = 0);
  Status exclusive_sum(std::span<int64_t> values, std::span<int64_t> before);
  Status broadcast(std::vector<std::byte>& bytes, int root);
  Result<std::vector<std::vector<std::byte>>> gather(std::span<const std::byte> bytes, int root);

  // Same as CommunicatorInterface::waited, in a thread that makes collective calls.
  Result<double> waited(double idle, std::string_view what);

 private:
  struct Head {
    Kind kind = Kind::sum;
    int32_t root = 0;    // of a reduction of sums and bits: how many sums
    int64_t number = 0;  // of preceding collective calls
    uint64_t key = 0;    // of the program's call
    int64_t bytes = 0;   // of data
  };
  struct Frame {
    Head head;
    std::array<std::byte, 480> data;
    std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(this, 1)); }
  };
  // A message: small data is inside its frame; the rest of large data follows.
  struct Slot {
    Frame frame;
    std::vector<std::byte> more;
    std::span<std::byte> data() {
      const auto bytes = static_cast<size_t>(frame.head.bytes);
      return bytes > frame.data.size() ? std::span(more) : std::span(frame.data).first(bytes);
    }
  };

  template <typename Body>
  Status call(Kind kind, int root, size_t bytes, Body body);
  int virtual_rank(int root) const { return (rank_ - root + size_) % size_; }
  // Position of this rank in the tree from ROOT: its parent (-1: none) and its children.
  int parent(int root) const;
  std::vector<int> children(int root) const;

  void fill(Slot& slot, std::span<const std::byte> data);
  Status send(Slot& slot, int peer, int tag);
  Status begin(Way way, std::span<std::byte> bytes, int peer, int tag);
  // Receives one frame from each of PEERS into the first of SLOTS, without data that follows the frames. On return all
  // requests that were started are done.
  Status receive_frames(std::span<const int> peers, int tag, std::span<Slot> slots);
  Status receive(std::span<const int> peers, int tag, std::span<Slot> slots);
  // Passes the rest of a long broadcast in pieces along a binary tree.
  Status pass_on(std::span<std::byte> bytes, int root);
  Status await(size_t from = 0);  // waits for requests_ from this index on
  void take_back_receives();

  MPI_Comm comm_;
  int rank_, size_;
  Watch& watch_;
  CallOf call_;
  Head head_;  // of the call in progress
  int64_t number_ = 0;
  bool has_waited_ = false;  // in the call in progress
  std::vector<Slot> in_, gathered_;
  Slot up_, down_;
  std::vector<MPI_Request> requests_;
  std::vector<bool> receives_;  // for each: whether it is a receive
  std::vector<int> indices_;
};

}  // namespace penstock
