// WrappedCommunicator: another communicator, and when this rank was in its collective calls; or on nodes of its own.
#pragma once

#include <time.h>

#include <functional>
#include <memory>
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

// On one machine, the ways that data takes between nodes: NODE_OF says on which a rank is taken to be.
class WrappedCommunicator : public CommunicatorInterface {
 private:
  template <typename Body>
  auto timed(Body body) const {
    const Moment begin;
    auto result = body();
    if (node_of_) return result;
    calls_.push_back({begin, Moment()});
    return result;
  }

 public:
  struct Call {
    Moment begin, end;
  };

  using NodeOf = std::function<int(int rank)>;
  explicit WrappedCommunicator(Communicator inner, NodeOf node_of = {})
      : inner_(std::move(inner)), node_of_(std::move(node_of)) {}

  const std::vector<Call>& calls() const { return calls_; }
  int64_t words() const { return words_; }  // of this rank in reductions
  void forget() const {
    calls_.clear();
    words_ = 0;
  }

  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  int node_size() const override { return node_of_ ? neighbours_before(size()) : inner_->node_size(); }
  int node_rank() const override { return node_of_ ? neighbours_before(rank()) : inner_->node_rank(); }
  bool threads_allowed() const override { return inner_->threads_allowed(); }
  bool threads_may_communicate() const override { return inner_->threads_may_communicate(); }

  Status barrier() const override {
    return timed([&] { return inner_->barrier(); });
  }
  Status all_reduce_min(std::span<int64_t> values) const override {
    words_ += std::ssize(values);
    return timed([&] { return inner_->all_reduce_min(values); });
  }
  Status all_reduce_max(std::span<int64_t> values) const override {
    words_ += std::ssize(values);
    return timed([&] { return inner_->all_reduce_max(values); });
  }
  Status all_reduce_sum(std::span<int64_t> values) const override {
    words_ += std::ssize(values);
    return timed([&] { return inner_->all_reduce_sum(values); });
  }
  Status all_reduce_xor(std::span<int64_t> values) const override {
    words_ += std::ssize(values);
    return timed([&] { return inner_->all_reduce_xor(values); });
  }
  Status all_reduce_sum_xor(std::span<int64_t> sums, std::span<int64_t> bits) const override {
    words_ += std::ssize(sums) + std::ssize(bits);
    return timed([&] { return inner_->all_reduce_sum_xor(sums, bits); });
  }
  Status exclusive_sum(std::span<int64_t> values, std::span<int64_t> before) const override {
    words_ += std::ssize(values);
    return timed([&] { return inner_->exclusive_sum(values, before); });
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
  void progress() const override { inner_->progress(); }
  Result<double> waited(double idle, std::string_view what) const override { return inner_->waited(idle, what); }
  void working(double idle) const override { inner_->working(idle); }
  CollectiveCall& call() const override { return inner_->call(); }
  void set_in_doubt(bool in_doubt) const override { inner_->set_in_doubt(in_doubt); }
  Status usable() const override { return inner_->usable(); }
  Result<Communicator> duplicate() const override {
    PENSTOCK_ASSIGN(Communicator inner, inner_->duplicate());
    return Communicator(std::make_shared<WrappedCommunicator>(std::move(inner), node_of_));
  }
  Result<Communicator> split(int colour) const override { return inner_->split(colour); }
  Result<Communicator> node() const override { return node_of_ ? inner_->split(node_of_(rank())) : inner_->node(); }
  std::shared_ptr<const ServerRanks> server_ranks() const override { return inner_->server_ranks(); }
  int64_t messages_sent() const override { return inner_->messages_sent(); }
  int64_t bytes_sent() const override { return inner_->bytes_sent(); }

 private:
  int neighbours_before(int end) const {
    int count = 0;
    for (int r = 0; r < end; ++r) count += node_of_(r) == node_of_(rank());
    return count;
  }

  Communicator inner_;
  NodeOf node_of_;
  mutable std::vector<Call> calls_;
  mutable int64_t words_ = 0;
};

}  // namespace penstock
