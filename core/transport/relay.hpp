// Relay: token passing, so that at most K ranks call the file system at once.
#pragma once

#include <array>
#include <utility>

#include <penstock/communicator.hpp>
#include <penstock/status.hpp>

#include "core/comm/patience.hpp"
#include "core/model/descriptor.hpp"

namespace penstock {

inline constexpr Parameter max_concurrent_writers{
    "max_concurrent_writers", Parameter::Type::integer, "0", "0",
    "at most so many ranks write, or read, at once (0: no limit): for file systems that suffer from many clients"};

// Rank R begins after rank R - K has ended; K lanes of tokens. With K = 0 all ranks begin at once.
class Relay {
 public:
  Relay(Communicator comm, int64_t most) : comm_(std::move(comm)), most_(most < comm_->size() ? most : 0) {}

  bool waits() const { return most_ > 0; }

  // Local. Call first.
  Status start() {
    if (most_ == 0 || comm_->rank() < most_) return {};
    has_token_ = false;
    return hold(comm_->receive(comm_->rank() - static_cast<int>(most_), tag, token_));
  }

  Result<bool> my_turn() {
    if (has_token_) return true;
    PENSTOCK_ASSIGN(has_token_, request_.test());
    return has_token_;
  }

  Status wait() {
    return wait_until([this] { return my_turn(); }, request_, "its turn at the file system");
  }

  // Lets the next rank begin, whether this rank failed or not.
  Status pass_on() {
    const int64_t next = comm_->rank() + most_;
    if (most_ == 0 || next >= comm_->size()) return {};
    PENSTOCK_TRY(hold(comm_->send(static_cast<int>(next), tag, token_)));
    return wait_all(std::span(&request_, 1));
  }

 private:
  static constexpr int tag = 1001;  // above those of rounds

  Status hold(Result<Request> request) {
    if (!request.ok()) return request.status();
    request_ = *std::move(request);
    return {};
  }

  Communicator comm_;
  int64_t most_;
  bool has_token_ = true;
  std::array<std::byte, 1> token_{};
  Request request_;
};

}  // namespace penstock
