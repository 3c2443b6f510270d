// Messages between ranks: of bounded size, so that their receives can be posted in advance, and their data.
#pragma once

#include <array>
#include <deque>
#include <list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <penstock/communicator.hpp>

#include "core/transport/servers/message.hpp"

namespace penstock {

struct RankMessage {
  ServerMessage message;
  int32_t channel = 0;     // the number of the client's movement
  int64_t data_bytes = 0;  // that follow
};

// Tags: all clients use the first two; replies of a server use two for each channel.
inline constexpr int rank_channels = 100, to_server = 0;
inline int to_client(int32_t channel) { return 2 * (1 + channel % rank_channels); }

// Sends in progress, with their data.
class RankSends {
 public:
  explicit RankSends(Communicator all) : all_(std::move(all)) {}
  // DATA must not change until the send is done; KEEP is dropped then.
  Status send(int peer, int tag, const ServerMessage& m, int32_t channel, std::span<const std::byte> data,
              std::shared_ptr<const void> keep = {}) {
    auto& one = under_way_.emplace_back();
    one.keep = std::move(keep);
    Encoder out;
    out.value(channel);
    out.value(std::ssize(data));
    out.list(std::span<const std::byte>(encode_message(m)));
    one.bytes = out.take();
    PENSTOCK_TRY(add(one, peer, tag, one.bytes));
    return data.empty() ? Status() : add(one, peer, tag + 1, data);
  }
  // Drops completed sends. Requests are tested in turn, which also makes MPI progress.
  Status progress() {
    for (auto at = under_way_.begin(); at != under_way_.end();) {
      while (!at->requests.empty()) {
        PENSTOCK_ASSIGN(const bool done, at->requests.front().test());
        if (!done) break;
        at->requests.pop_front();
      }
      at = at->requests.empty() ? under_way_.erase(at) : std::next(at);
    }
    return {};
  }
  bool empty() const { return under_way_.empty(); }

 private:
  struct One {
    std::vector<std::byte> bytes;
    std::shared_ptr<const void> keep;
    std::deque<Request> requests;  // last member: they use the others
  };
  Status add(One& one, int peer, int tag, std::span<const std::byte> bytes) {
    PENSTOCK_ASSIGN(Request request, all_->send(peer, tag, bytes));
    one.requests.push_back(std::move(request));
    return {};
  }
  Communicator all_;
  std::list<One> under_way_;
};

// Receives the messages of one peer, one after another.
class RankReceive {
 public:
  RankReceive(Communicator all, int peer, int tag) : all_(std::move(all)), peer_(peer), tag_(tag) {}
  int peer() const { return peer_; }

  // True when a message has arrived, maybe without its data, until take() is called.
  Result<bool> arrived() {
    if (arrived_) return true;
    if (!posted_) {
      PENSTOCK_ASSIGN(request_, all_->receive(peer_, tag_, bytes_));
      posted_ = true;
    }
    PENSTOCK_ASSIGN(const bool done, request_.test());
    if (!done) return false;
    Decoder in(bytes_);
    message_.channel = in.value<int32_t>();
    message_.data_bytes = in.value<int64_t>();
    PENSTOCK_ASSIGN(message_.message, decode_message(in.list<std::byte>()));
    return arrived_ = true;
  }
  const RankMessage& get() const { return message_; }
  // Receives the data into DATA. True when complete.
  Result<bool> rest(std::span<std::byte> data) {
    if (!rest_posted_ && !data.empty()) {
      PENSTOCK_ASSIGN(data_request_, all_->receive(peer_, tag_ + 1, data));
    }
    rest_posted_ = true;
    return data_request_.test();
  }
  ServerMessage take() {
    arrived_ = posted_ = rest_posted_ = false;
    for (Request* request : {&request_, &data_request_}) *request = Request();
    return std::move(message_.message);
  }

 private:
  Communicator all_;
  int peer_, tag_;
  std::array<std::byte, max_message_bytes> bytes_;
  RankMessage message_;
  bool posted_ = false, arrived_ = false, rest_posted_ = false;
  Request request_, data_request_;  // last members: they use the others
};

}  // namespace penstock
