// Communicator: the ranks that share a file; penstock's only interface to message passing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <typeindex>
#include <vector>

#include <penstock/status.hpp>

namespace penstock {

struct Message {
  int peer = 0;
  std::vector<std::byte> bytes;
};

// A send or receive in progress. Move-only. Its buffer must live until the operation is done. The destructor waits for
// an operation in progress, up to the limit of timeout().
class Request {
 public:
  class State {
   public:
    virtual ~State() = default;
    virtual Result<bool> test() = 0;
    virtual void abandon() {}
    virtual Result<double> waited(double idle, std::string_view what);
  };
  Request() = default;
  explicit Request(std::unique_ptr<State> state) : state_(std::move(state)) {}
  // True when the buffer may be reused (send) or read (receive). An empty request is done.
  Result<bool> test() { return state_ ? state_->test() : Result<bool>(true); }
  // Same as CommunicatorInterface::waited, on the communicator of the request.
  Result<double> waited(double idle, std::string_view what) { return state_ ? state_->waited(idle, what) : idle; }
  // Gives up a send without waiting and empties the request. Unless the send was done, its buffer must stay allocated
  // forever.
  void abandon() {
    if (state_) state_->abandon();
    state_.reset();
  }

 private:
  std::unique_ptr<State> state_;
};

class CommunicatorInterface;
using Communicator = std::shared_ptr<const CommunicatorInterface>;

// The ranks that are I/O servers, as the compute ranks see them. ALL contains both kinds. CLIENTS and SERVERS are ranks
// in ALL; clients are in the order of the compute communicator. CHANNELS counts the data movements started so far.
struct ServerRanks {
  Communicator all;
  std::vector<int> clients, servers;
  mutable int64_t channels = 0;
  mutable bool lost = false;  // a server did not answer and may stay in that movement forever
};

// The collective call that the program has made on these ranks. The first message of every collective call contains it.
// If ranks made different calls, all of them get an error that names both calls.
struct CollectiveCall {
  std::string text;        // "commit of 'heat.h5'"; empty if the caller gave none
  uint64_t key = 0;        // equal on ranks that made the same call
  bool in_doubt = false;   // if ranks are lost now, nobody knows whether the file was published
  bool untimed = false;    // a foreign library may hold other ranks for any time
  bool timed_out = false;  // this rank exceeded a time limit; its next wait for others is short
};

// Objects that the layers above keep between collective calls of the same ranks (memory, plans). There is one value of
// each type, created on first use and freed with the communicator.
class Attachments {
 public:
  template <typename T>
  T& get() {
    std::shared_ptr<void>& slot = values_[std::type_index(typeid(T))];
    if (!slot) slot = std::make_shared<T>();
    return *static_cast<T*>(slot.get());
  }

 private:
  std::map<std::type_index, std::shared_ptr<void>> values_;
};

// All ranks must call collective functions in the same order; if a difference is detected, all ranks get
// Code::mismatch. No function waits forever (see waited()). Sizes over 2 GiB are allowed. All errors are returned; no
// function aborts. Two implementations exist: MPI (a private duplicate of the user's communicator, with errors
// returned) and serial.
class CommunicatorInterface {
 public:
  virtual ~CommunicatorInterface() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual int node_size() const = 0;  // ranks on this node, including this one
  virtual int node_rank() const = 0;  // this rank's number on its node
  // Whether other threads may exist at all (they never call MPI): false under MPI_THREAD_SINGLE.
  virtual bool threads_allowed() const = 0;
  // Whether other threads may call this communicator, one thread at a time: MPI_THREAD_MULTIPLE.
  virtual bool threads_may_communicate() const = 0;

  virtual Status barrier() const = 0;
  virtual Status all_reduce_min(std::span<int64_t> values) const = 0;
  virtual Status all_reduce_max(std::span<int64_t> values) const = 0;
  virtual Status all_reduce_sum(std::span<int64_t> values) const = 0;
  virtual Status all_reduce_xor(std::span<int64_t> values) const = 0;
  // Both, in one message if the implementation can.
  virtual Status all_reduce_sum_xor(std::span<int64_t> sums, std::span<int64_t> bits) const {
    const Status status = all_reduce_sum(sums);
    return status.ok() ? all_reduce_xor(bits) : status;
  }
  // Replaces VALUES by the sums over all ranks, and BEFORE, of the same size, by those over all lower ranks (0 on
  // rank 0).
  virtual Status exclusive_sum(std::span<int64_t> values, std::span<int64_t> before) const = 0;
  // Copies BYTES of ROOT to every rank; resizes BYTES there.
  virtual Status broadcast(std::vector<std::byte>& bytes, int root) const = 0;
  // Returns one entry for each rank at ROOT, and an empty list elsewhere. O(P) memory at ROOT only.
  virtual Result<std::vector<std::vector<std::byte>>> gather(std::span<const std::byte> bytes, int root) const = 0;
  // Every rank sends any messages to any ranks and returns the messages it received, by ascending peer. It uses sparse
  // consensus (NBX: Hoefler, Siebert, Lumsdaine, PPoPP 2010): receivers need not know the senders, and no array has
  // size P.
  virtual Result<std::vector<Message>> sparse_exchange(std::vector<Message> messages) const = 0;

  // Point to point, matched in order by (peer, tag). 0 <= TAG < 1024. PEER may be this rank. The bytes must live until
  // the request is done.
  virtual Result<Request> send(int peer, int tag, std::span<const std::byte> bytes) const = 0;
  virtual Result<Request> receive(int peer, int tag, std::span<std::byte> bytes) const = 0;

  // Lets pending messages progress, for implementations that need calls to do so.
  virtual void progress() const {}

  // Local, for code that polls for actions of other ranks: the caller waits for WHAT and saw no progress for IDLE
  // seconds. Returns the time without progress on any of the ranks, at most IDLE. Past the limit of timeout() it
  // returns the error that ends the wait on all waiting ranks. This error names the missing ranks; all later calls of
  // this communicator return it too.
  virtual Result<double> waited(double idle, std::string_view what) const;
  // Local, for long work while other ranks wait for the result. Call it from time to time with the seconds since the
  // last progress, so that the others do not consider this rank lost.
  virtual void working(double idle) const { (void)idle; }
  virtual CollectiveCall& call() const { return call_; }
  // Local. Sets call().in_doubt, unless the ranks are being given up at this moment; usable() then returns the error.
  virtual void set_in_doubt(bool in_doubt) const { call().in_doubt = in_doubt; }
  // Local. The error of all calls from now on if the ranks were given up; otherwise ok.
  virtual Status usable() const { return {}; }

  // Collective. A communicator of the same ranks, with separate messages and collective calls.
  virtual Result<Communicator> duplicate() const = 0;

  // Collective. A communicator of the ranks that pass the same COLOUR, ordered by rank; null for COLOUR < 0.
  virtual Result<Communicator> split(int colour) const = 0;

  // Collective. A communicator of the ranks on this node, ordered by rank. What it sends counts here, too.
  virtual Result<Communicator> node() const = 0;

  // Null unless the communicator is, or duplicates, the compute communicator of a split into servers and compute ranks.
  virtual std::shared_ptr<const ServerRanks> server_ranks() const { return nullptr; }

  // Point-to-point messages and bytes that this rank has sent since the communicator was created.
  virtual int64_t messages_sent() const = 0;
  virtual int64_t bytes_sent() const = 0;

  // Local.
  Attachments& attachments() const { return attachments_; }

  // Local. Marks a communicator that may have messages in flight which nobody will receive. It is never reused and
  // never freed: MPICH gives the number of a freed communicator to the next one, which would receive those messages.
  void poison() const { poisoned_ = true; }
  bool poisoned() const { return poisoned_; }

 private:
  mutable Attachments attachments_;
  mutable CollectiveCall call_;
  mutable std::atomic<bool> poisoned_ = false;
};

// A communicator of one rank, without MPI.
Communicator serial_communicator();

// Collective. Returns the same status on every rank: ok if all are ok; otherwise the error of the lowest rank with an
// error of its own, prefixed with "rank R: ". Code::elsewhere counts only if there is no other error.
Status agree(const Communicator& comm, const Status& status);

// Waits, by polling and yielding, until every request is done or nothing moves for too long. In the second case
// unfinished requests keep their buffers.
Status wait_all(std::span<Request> requests);

}  // namespace penstock
