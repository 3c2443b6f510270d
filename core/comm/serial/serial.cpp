// The serial communicator: one rank, without MPI; messages to itself are matched in order.
#include <cstring>
#include <deque>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <penstock/communicator.hpp>

namespace penstock {
namespace {

// Sends are buffered, so they are done at once; receives take the first message of their tag.
class SerialCommunicator : public CommunicatorInterface {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  int node_size() const override { return 1; }
  int node_rank() const override { return 0; }
  bool threads_allowed() const override { return true; }
  bool threads_may_communicate() const override { return true; }
  Status barrier() const override { return {}; }
  Status all_reduce_min(std::span<int64_t>) const override { return {}; }
  Status all_reduce_max(std::span<int64_t>) const override { return {}; }
  Status all_reduce_sum(std::span<int64_t>) const override { return {}; }
  Status all_reduce_xor(std::span<int64_t>) const override { return {}; }
  Status exclusive_sum(std::span<int64_t>, std::span<int64_t> before) const override {
    std::ranges::fill(before, 0);
    return {};
  }
  Status broadcast(std::vector<std::byte>&, int) const override { return {}; }
  Result<std::vector<std::vector<std::byte>>> gather(std::span<const std::byte> bytes, int) const override {
    return std::vector<std::vector<std::byte>>{std::vector<std::byte>(bytes.begin(), bytes.end())};
  }
  Result<std::vector<Message>> sparse_exchange(std::vector<Message> messages) const override {
    for (const Message& message : messages) PENSTOCK_TRY(check(message.peer));
    return messages;
  }
  Result<Request> send(int peer, int tag, std::span<const std::byte> bytes) const override {
    PENSTOCK_TRY(check(peer));
    queue_[tag].emplace_back(bytes.begin(), bytes.end());
    ++messages_;
    bytes_ += static_cast<int64_t>(bytes.size());
    return Request();
  }
  Result<Request> receive(int peer, int tag, std::span<std::byte> bytes) const override {
    PENSTOCK_TRY(check(peer));
    return Request(std::make_unique<Receive>(queue_[tag], bytes));
  }
  Result<Communicator> duplicate() const override { return serial_communicator(); }
  Result<Communicator> split(int colour) const override { return colour < 0 ? Communicator() : serial_communicator(); }
  Result<Communicator> node() const override { return serial_communicator(); }
  int64_t messages_sent() const override { return messages_; }
  int64_t bytes_sent() const override { return bytes_; }

 private:
  using Queue = std::deque<std::vector<std::byte>>;

  class Receive : public Request::State {
   public:
    Receive(Queue& queue, std::span<std::byte> out) : queue_(queue), out_(out) {}
    Result<bool> test() override {
      if (done_) return true;
      if (queue_.empty()) return false;
      const auto bytes = std::move(queue_.front());
      queue_.pop_front();
      done_ = true;
      if (bytes.size() > out_.size()) return Status(Code::internal, "a message is longer than its receive buffer");
      if (!bytes.empty()) std::memcpy(out_.data(), bytes.data(), bytes.size());
      return true;
    }

   private:
    Queue& queue_;
    std::span<std::byte> out_;
    bool done_ = false;
  };

  static Status check(int peer) {
    if (peer == 0) return {};
    return {Code::invalid, fmt::format("rank {} does not exist in a communicator of one rank", peer)};
  }

  mutable std::map<int, Queue> queue_;
  mutable int64_t messages_ = 0;
  mutable int64_t bytes_ = 0;
};

}  // namespace

Communicator serial_communicator() { return std::make_shared<SerialCommunicator>(); }

}  // namespace penstock
