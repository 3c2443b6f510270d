// Timed communicator: another communicator, and when this rank was inside its collective calls.
#pragma once

#include <time.h>

#include <utility>
#include <vector>

#include <penstock/communicator.hpp>
#include <penstock/phase.hpp>

namespace penstock {

// Seconds that this thread has had a processor.
inline double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

struct Moment {
  double wall = now();
  double processor = processor_seconds();
};

class TimedCommunicator : public CommunicatorInterface {
 private:
  template <typename Body>
  auto timed(Body body) const {
    const Moment begin;
    auto result = body();
    calls_.push_back({begin, Moment()});
    return result;
  }

 public:
  struct Call {
    Moment begin, end;
  };

  explicit TimedCommunicator(Communicator inner) : inner_(std::move(inner)) {}

  const std::vector<Call>& calls() const { return calls_; }
  void forget() const { calls_.clear(); }

  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  int node_size() const override { return inner_->node_size(); }
  int node_rank() const override { return inner_->node_rank(); }
  bool threads_allowed() const override { return inner_->threads_allowed(); }
  bool threads_may_communicate() const override { return inner_->threads_may_communicate(); }

  Status barrier() const override {
    return timed([&] { return inner_->barrier(); });
  }
  Status all_reduce_min(std::span<int64_t> values) const override {
    return timed([&] { return inner_->all_reduce_min(values); });
  }
  Status all_reduce_max(std::span<int64_t> values) const override {
    return timed([&] { return inner_->all_reduce_max(values); });
  }
  Status all_reduce_sum(std::span<int64_t> values) const override {
    return timed([&] { return inner_->all_reduce_sum(values); });
  }
  Status exclusive_sum(std::span<int64_t> values) const override {
    return timed([&] { return inner_->exclusive_sum(values); });
  }
  Status broadcast(std::vector<std::byte>& bytes, int root) const override {
    return timed([&] { return inner_->broadcast(bytes, root); });
  }
  Result<std::vector<std::vector<std::byte>>> gather(std::span<const std::byte> bytes, int root) const override {
    return timed([&] { return inner_->gather(bytes, root); });
  }
  Result<std::vector<Message>> sparse_exchange(std::vector<Message> messages) const override {
    return timed([&] { return inner_->sparse_exchange(std::move(messages)); });
  }

  Result<Request> send(int peer, int tag, std::span<const std::byte> bytes) const override {
    return inner_->send(peer, tag, bytes);
  }
  Result<Request> receive(int peer, int tag, std::span<std::byte> bytes) const override {
    return inner_->receive(peer, tag, bytes);
  }
  Result<Communicator> duplicate() const override { return inner_->duplicate(); }
  Result<Communicator> split(int colour) const override { return inner_->split(colour); }
  Result<Communicator> node() const override { return inner_->node(); }
  int64_t messages_sent() const override { return inner_->messages_sent(); }
  int64_t bytes_sent() const override { return inner_->bytes_sent(); }

 private:
  Communicator inner_;
  mutable std::vector<Call> calls_;
};

}  // namespace penstock
