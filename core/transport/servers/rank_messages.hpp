// Messages between ranks: a header of fixed size, so that its receive can be posted in advance, and an optional
// payload.
#pragma once

#include <deque>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <penstock/communicator.hpp>

#include "core/transport/servers/message.hpp"

namespace penstock {

struct RankHeader {
  ServerMessage::Kind kind = ServerMessage::Kind::end;
  int32_t number = 0;
  int64_t a = 0, b = 0, c = 0, d = 0;
  double x = 0, y = 0;
  Code code = Code::ok;
  int32_t channel = 0;  // the number of the client's movement
  int64_t text_bytes = 0;
  int64_t data_bytes = 0;
};

inline RankHeader header_of(const ServerMessage& m, int32_t channel, size_t data_bytes) {
  return {m.kind,
          m.number,
          m.a,
          m.b,
          m.c,
          m.d,
          m.x,
          m.y,
          m.code,
          channel,
          static_cast<int64_t>(m.text.size()),
          static_cast<int64_t>(data_bytes)};
}
inline ServerMessage message_of(const RankHeader& h, std::string text) {
  return {h.kind, h.number, h.a, h.b, h.c, h.d, h.x, h.y, h.code, std::move(text)};
}

// Tags: all clients use the first three; replies of a server use three for each channel.
inline constexpr int rank_channels = 100, to_server = 0;
inline int to_client(int32_t channel) { return 3 * (1 + channel % rank_channels); }

// Sends in progress, with their data.
class RankSends {
 public:
  explicit RankSends(Communicator all) : all_(std::move(all)) {}
  // DATA must not change until the send is done; KEEP is dropped then.
  Status send(int peer, int tag, const ServerMessage& m, int32_t channel, std::span<const std::byte> data,
              std::shared_ptr<const void> keep = {}) {
    auto& one = under_way_.emplace_back();
    one.keep = std::move(keep);
    one.header = header_of(m, channel, data.size());
    one.text = m.text;
    PENSTOCK_TRY(add(one, peer, tag, std::as_bytes(std::span(&one.header, 1))));
    if (!one.text.empty()) PENSTOCK_TRY(add(one, peer, tag + 1, std::as_bytes(std::span(one.text))));
    if (!data.empty()) PENSTOCK_TRY(add(one, peer, tag + 2, data));
    return {};
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
    RankHeader header;
    std::string text;
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

  // True when a header has arrived, until done() is called.
  Result<bool> header() {
    if (arrived_) return true;
    if (!posted_) {
      PENSTOCK_ASSIGN(request_, all_->receive(peer_, tag_, std::as_writable_bytes(std::span(&header_, 1))));
      posted_ = true;
    }
    PENSTOCK_ASSIGN(arrived_, request_.test());
    return arrived_;
  }
  const RankHeader& get() const { return header_; }
  // Receives what follows the header, the data into DATA. True when complete.
  Result<bool> rest(std::span<std::byte> data) {
    if (!rest_posted_) {
      text_.resize(static_cast<size_t>(header_.text_bytes));
      if (!text_.empty()) {
        PENSTOCK_ASSIGN(text_request_, all_->receive(peer_, tag_ + 1, std::as_writable_bytes(std::span(text_))));
      }
      if (!data.empty()) {
        PENSTOCK_ASSIGN(data_request_, all_->receive(peer_, tag_ + 2, data));
      }
      rest_posted_ = true;
    }
    PENSTOCK_ASSIGN(const bool text, text_request_.test());
    PENSTOCK_ASSIGN(const bool all, data_request_.test());
    return text && all;
  }
  ServerMessage take() {
    arrived_ = posted_ = rest_posted_ = false;
    for (Request* request : {&request_, &text_request_, &data_request_}) *request = Request();
    return message_of(header_, std::move(text_));
  }

 private:
  Communicator all_;
  int peer_, tag_;
  RankHeader header_;
  std::string text_;
  bool posted_ = false, arrived_ = false, rest_posted_ = false;
  Request request_, text_request_, data_request_;  // last members: they use the others
};

}  // namespace penstock
