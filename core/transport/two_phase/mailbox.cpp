// Mailbox: sends within a budget, receives, and reuses the buffers.
#include "core/transport/two_phase/mailbox.hpp"

#include <utility>

#include <fmt/format.h>

namespace penstock {
namespace {

Status no_memory(int64_t bytes) {
  return {Code::memory, fmt::format("no memory for a message of {} bytes: lower buffer_bytes", bytes)};
}

}  // namespace

Mailbox::~Mailbox() {
  for (Outgoing& out : outgoing_) {
    const auto done = out.request.test();
    if (done.ok() && *done) continue;
    out.request.abandon();
    out.buffer.leak();
  }
  for (Incoming& in : incoming_) {
    const auto done = in.request.test();
    if (!done.ok() || !*done) in.buffer.leak();  // it may be arriving and never complete
  }
}

Status Mailbox::reserve(std::span<const int64_t> sizes) {
  std::vector<Buffer> taken;
  int64_t sum = 0;
  for (const int64_t bytes : sizes) {
    sum += bytes;
    if (sum > 2 * budget_ && !taken.empty()) break;
    taken.push_back(pool_.take(bytes));
    if (taken.back().data() == nullptr) return no_memory(bytes);
  }
  for (Buffer& buffer : taken) pool_.give(std::move(buffer));
  return {};
}

Status Mailbox::expect(int peer, int tag, int64_t bytes, size_t number) {
  Incoming in;
  in.buffer = pool_.take(bytes);
  in.number = number;
  in.bytes = bytes;
  if (in.buffer.data() == nullptr) return no_memory(bytes);
  PENSTOCK_ASSIGN(in.request, comm_->receive(peer, tag, std::span(in.buffer.data(), static_cast<size_t>(bytes))));
  coming_ += bytes;
  incoming_.push_back(std::move(in));
  return {};
}

Result<bool> Mailbox::take(const std::function<void(size_t number, std::byte* data)>& take) {
  bool any = false;
  for (size_t i = 0; i < incoming_.size();) {
    Incoming& in = incoming_[i];
    bool done = false;
    {
      PhaseTimer timer(phases_, Phase::exchange);
      PENSTOCK_ASSIGN(done, in.request.test());
    }
    if (!done) {
      ++i;
      continue;
    }
    take(in.number, in.buffer.data());
    pool_.give(std::move(in.buffer));
    coming_ -= in.bytes;
    if (i + 1 < incoming_.size()) in = std::move(incoming_.back());
    incoming_.pop_back();
    any = true;
  }
  return any;
}

Result<bool> Mailbox::send(int peer, int tag, int64_t bytes, const std::function<void(std::byte* data)>& fill) {
  if (sending() && going_ + bytes > budget_) return false;
  Outgoing out;
  out.buffer = pool_.take(bytes);
  out.bytes = bytes;
  if (out.buffer.data() == nullptr) {
    if (sending()) return false;  // the reserved memory becomes free again
    return no_memory(bytes);
  }
  fill(out.buffer.data());
  PhaseTimer timer(phases_, Phase::exchange);
  const std::span<const std::byte> message(out.buffer.data(), static_cast<size_t>(bytes));
  PENSTOCK_ASSIGN(out.request, comm_->send(peer, tag, message));
  going_ += bytes;
  outgoing_.push_back(std::move(out));
  return true;
}

Result<bool> Mailbox::collect() {
  PhaseTimer timer(phases_, Phase::exchange);
  bool any = false;
  for (auto out = outgoing_.begin(); out != outgoing_.end();) {
    PENSTOCK_ASSIGN(const bool done, out->request.test());
    if (!done) {
      ++out;
      continue;
    }
    going_ -= out->bytes;
    pool_.give(std::move(out->buffer));
    out = outgoing_.erase(out);
    any = true;
  }
  return any;
}

}  // namespace penstock
