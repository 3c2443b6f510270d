// Mailbox: the packed messages of a writer in progress, and their buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <penstock/communicator.hpp>
#include <penstock/phase.hpp>
#include <penstock/status.hpp>

#include "core/transport/two_phase/buffers.hpp"

namespace penstock {

// All functions are local and never wait.
class Mailbox {
 public:
  // BUDGET: bytes of sends in progress, beyond the first.
  Mailbox(Communicator comm, PhaseTimes& phases, int64_t budget)
      : comm_(std::move(comm)), phases_(phases), budget_(budget) {}
  // If abandoned while messages are in progress, it leaves MPI the buffers that other ranks may never receive.
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  // Reserves memory for one message of each of SIZES, so that it is available when others wait for this rank.
  Status reserve(std::span<const int64_t> sizes);

  // Posts the receive of BYTES from PEER.
  Status expect(int peer, int tag, int64_t bytes, size_t number);
  // Calls TAKE(NUMBER, data) for each message that has arrived; returns whether any has.
  Result<bool> take(const std::function<void(size_t number, std::byte* data)>& take);
  bool expecting() const { return !incoming_.empty(); }

  // FILL(data) packs the message. False, without effect, if other messages must be sent first.
  Result<bool> send(int peer, int tag, int64_t bytes, const std::function<void(std::byte* data)>& fill);
  // Takes back the buffers of completed sends; returns whether there were any.
  Result<bool> collect();
  bool sending() const { return !outgoing_.empty(); }
  int64_t bytes() const { return pool_.made(); }  // of all its buffers

 private:
  struct Letter {  // the request is destroyed before its buffer
    Buffer buffer;
    Request request;
    int64_t bytes = 0;
    size_t number = 0;
  };
  Result<std::vector<Letter>> remove_done(std::vector<Letter>& letters);

  Communicator comm_;
  PhaseTimes& phases_;
  BufferPool pool_;
  std::vector<Letter> incoming_, outgoing_;
  const int64_t budget_;
  int64_t going_ = 0;  // bytes
};

}  // namespace penstock
