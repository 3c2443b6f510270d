// Mailbox: the packed messages that one rank has under way, and the buffers they lie in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <span>
#include <vector>

#include <penstock/communicator.hpp>
#include <penstock/phase.hpp>
#include <penstock/status.hpp>

#include "core/transport/two_phase/buffers.hpp"

namespace penstock {

// All functions are local, and none waits.
class Mailbox {
 public:
  // BUDGET: bytes of messages under way in each direction, beyond the first.
  Mailbox(Communicator comm, PhaseTimes& phases, int64_t budget)
      : comm_(std::move(comm)), phases_(phases), budget_(budget) {}
  // Given up while something is under way, it leaves MPI the buffers that other ranks may never take.
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  // Memory for one message of each of SIZES, so that it is not missing when others wait for this rank.
  Status reserve(std::span<const int64_t> sizes);

  // BYTES will come from PEER.
  Status expect(int peer, int tag, int64_t bytes, size_t number);
  // TAKE(NUMBER, data) for each message that has come; whether any has.
  Result<bool> take(const std::function<void(size_t number, std::byte* data)>& take);
  bool expecting() const { return !incoming_.empty(); }
  // Whether BYTES more may come within the budget.
  bool has_room(int64_t bytes) const { return !expecting() || coming_ + bytes <= budget_; }

  // FILL(data) packs the message. False, and nothing done, where others must have gone first.
  Result<bool> send(int peer, int tag, int64_t bytes, const std::function<void(std::byte* data)>& fill);
  // Takes back the buffers of what has gone; whether anything has.
  Result<bool> collect();
  bool sending() const { return !outgoing_.empty(); }
  int64_t bytes() const { return pool_.made(); }  // of all its buffers

 private:
  struct Outgoing {  // the request goes before its buffer
    Buffer buffer;
    Request request;
    int64_t bytes = 0;
  };
  struct Incoming {
    Buffer buffer;
    Request request;
    size_t number = 0;
    int64_t bytes = 0;
  };

  Communicator comm_;
  PhaseTimes& phases_;
  BufferPool pool_;
  std::vector<Incoming> incoming_;
  std::list<Outgoing> outgoing_;
  const int64_t budget_;
  int64_t coming_ = 0, going_ = 0;  // bytes
};

}  // namespace penstock
