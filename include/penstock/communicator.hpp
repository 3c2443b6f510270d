// Communicator: the ranks that share a file; the only thing penstock knows about message passing.
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

// A send or receive under way. Move-only; its buffer must live until done. Destroying one that is under way waits for
// it, up to the limit of timeout().
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
  // As CommunicatorInterface::waited, of the communicator that it came from.
  Result<double> waited(double idle, std::string_view what) { return state_ ? state_->waited(idle, what) : idle; }
  // Gives up a send without waiting; its buffer must stay for ever unless it was done. The request is empty then.
  void abandon() {
    if (state_) state_->abandon();
    state_.reset();
  }

 private:
  std::unique_ptr<State> state_;
};

class CommunicatorInterface;
using Communicator = std::shared_ptr<const CommunicatorInterface>;

// Ranks that were set apart as I/O servers, as the compute ranks see them. ALL has both; CLIENTS and SERVERS are ranks in it,
// clients in the order of the compute communicator. CHANNELS counts the movements that were begun.
struct ServerRanks {
  Communicator all;
  std::vector<int> clients, servers;
  mutable int64_t channels = 0;
  mutable bool lost = false;  // one of them did not answer: it may be in the middle of that movement for ever
};

// What the program has called on these ranks: the first message of every collective call says so, and where ranks differ
// all get the error that names both calls.
struct CollectiveCall {
  std::string text;       // "commit of 'heat.h5'"; empty where nobody says so
  uint64_t key = 0;       // the same on ranks that made the same call
  bool in_doubt = false;  // if the ranks lose each other now, nobody knows whether the file was published
  bool untimed = false;   // somebody else's library may keep other ranks for as long as it likes
  bool hurried = false;   // something ran into the limit on this rank: the next wait for others has little time left
};

// What the layers above keep between collective calls of the same ranks (memory, plans): one value of each type, made when
// it is first asked for, freed with the communicator.
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

// Collective functions must be called by all ranks in the same order: where that is seen to be otherwise, all ranks get
// Code::mismatch. None waits for ever (waited() says how long). Any size over 2 GiB is legal.
// Every error is returned, none aborts. Two implementations: MPI (a private duplicate of the user's
// communicator, errors returned) and serial.
class CommunicatorInterface {
 public:
  virtual ~CommunicatorInterface() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual int program_size() const { return size(); }  // ranks of MPI_COMM_WORLD
  virtual int node_size() const = 0;                   // ranks on this node, this one included
  virtual int node_rank() const = 0;                   // among them
  // Whether other threads may exist at all (they never call MPI): false under MPI_THREAD_SINGLE.
  virtual bool threads_allowed() const = 0;
  // Whether another thread may call this communicator, one at a time: MPI_THREAD_MULTIPLE.
  virtual bool threads_may_communicate() const = 0;

  virtual Status barrier() const = 0;
  virtual Status all_reduce_min(std::span<int64_t> values) const = 0;
  virtual Status all_reduce_max(std::span<int64_t> values) const = 0;
  virtual Status all_reduce_sum(std::span<int64_t> values) const = 0;
  virtual Status all_reduce_xor(std::span<int64_t> values) const = 0;
  // VALUES become the sums over all lower ranks (0 on rank 0).
  virtual Status exclusive_sum(std::span<int64_t> values) const = 0;
  // BYTES of ROOT on every rank; resized there.
  virtual Status broadcast(std::vector<std::byte>& bytes, int root) const = 0;
  // At ROOT, one entry for each rank; elsewhere empty. O(P) at the root only.
  virtual Result<std::vector<std::vector<std::byte>>> gather(std::span<const std::byte> bytes, int root) const = 0;
  // Every rank sends any messages to any ranks, and returns those sent to it, by ascending peer. Sparse consensus
  // (NBX: Hoefler, Siebert, Lumsdaine, PPoPP 2010): nobody needs to know who sends, and no array of size P is made.
  virtual Result<std::vector<Message>> sparse_exchange(std::vector<Message> messages) const = 0;

  // Point to point, matched by (peer, tag) in order. 0 <= TAG < 1024. PEER may be this rank.
  virtual Result<Request> send(int peer, int tag, std::span<const std::byte> bytes) const = 0;
  virtual Result<Request> receive(int peer, int tag, std::span<std::byte> bytes) const = 0;

  // Lets messages go on that are under way, where that takes calls.
  virtual void progress() const {}

  // Local, for whoever polls for what other ranks do: nothing has moved for IDLE seconds, waiting for WHAT. For how long
  // nothing has moved on any of the ranks, IDLE or less; or, past the limit of timeout(), the error with which all ranks
  // that wait end. It names those that are missing; every later call of this communicator returns it too.
  virtual Result<double> waited(double idle, std::string_view what) const;
  // Local, for whoever works for long while others wait for it: from time to time, with the seconds since something moved,
  // so that it is not taken for lost.
  virtual void working(double idle) const { (void)idle; }
  virtual CollectiveCall& call() const { return call_; }
  // Local. Sets call().in_doubt, unless the ranks are being given up at this moment: then usable() says so afterwards.
  virtual void set_in_doubt(bool in_doubt) const { call().in_doubt = in_doubt; }
  // Local. The error of every call from now on, where the ranks have been given up.
  virtual Status usable() const { return {}; }

  // Collective. One of the same ranks, whose messages and collective calls meet none of this one's.
  virtual Result<Communicator> duplicate() const = 0;

  // Collective. A communicator of the ranks that pass the same COLOUR, ordered by rank; null for a colour < 0.
  virtual Result<Communicator> split(int colour) const = 0;

  // Collective. A communicator of the ranks on this node, ordered by rank.
  virtual Result<Communicator> node() const = 0;

  // Null unless the communicator is, or duplicates, one of compute ranks that servers were split from.
  virtual std::shared_ptr<const ServerRanks> server_ranks() const { return nullptr; }

  // Messages and bytes sent point to point by this rank since it was made.
  virtual int64_t messages_sent() const = 0;
  virtual int64_t bytes_sent() const = 0;

  // Local.
  Attachments& attachments() const { return attachments_; }

  // Local. Messages may be under way that nobody will receive: it is not handed out again, and never freed, since
  // MPICH gives the number of a freed communicator to the next one, whose receives would take them.
  void spoil() const { spoiled_ = true; }
  bool spoiled() const { return spoiled_; }

 private:
  mutable Attachments attachments_;
  mutable CollectiveCall call_;
  mutable std::atomic<bool> spoiled_ = false;
};

// One rank, without MPI.
Communicator serial_communicator();

// Collective: the same status on every rank: ok where all are ok, else the error of the lowest rank that has one of
// its own (Code::elsewhere counts only if there is no other), with "rank R: " before its message.
Status agree(const Communicator& comm, const Status& status);

// Waits, by polling and yielding, until every request is done, or nothing moves for too long: then those that are not done
// keep their buffers.
Status wait_all(std::span<Request> requests);

}  // namespace penstock
