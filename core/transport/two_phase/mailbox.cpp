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
  for (Letter& out : outgoing_) {
    const auto done = out.request.test();
    if (done.ok() && *done) continue;
    out.request.abandon();
    out.buffer.leak();
  }
  for (Letter& in : incoming_) {
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
  Letter in{pool_.take(bytes), {}, bytes, number};
  if (in.buffer.data() == nullptr) return no_memory(bytes);
  PENSTOCK_ASSIGN(in.request, comm_->receive(peer, tag, std::span(in.buffer.data(), static_cast<size_t>(bytes))));
  incoming_.push_back(std::move(in));
  return {};
}

Result<std::vector<Mailbox::Letter>> Mailbox::remove_done(std::vector<Letter>& letters) {
  PhaseTimer timer(phases_, Phase::exchange);
  std::vector<Letter> removed;
  for (size_t i = 0; i < letters.size();) {
    PENSTOCK_ASSIGN(const bool done, letters[i].request.test());
    if (!done) {
      ++i;
      continue;
    }
    removed.push_back(std::move(letters[i]));
    if (i + 1 < letters.size()) letters[i] = std::move(letters.back());
    letters.pop_back();
  }
  return removed;
}

Result<bool> Mailbox::take(const std::function<void(size_t number, std::byte* data)>& take) {
  PENSTOCK_ASSIGN(auto arrived, remove_done(incoming_));
  for (Letter& in : arrived) {
    take(in.number, in.buffer.data());
    pool_.give(std::move(in.buffer));
  }
  return !arrived.empty();
}

Result<bool> Mailbox::send(int peer, int tag, int64_t bytes, const std::function<void(std::byte* data)>& fill) {
  if (sending() && going_ + bytes > budget_) return false;
  Letter out{pool_.take(bytes), {}, bytes};
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
  PENSTOCK_ASSIGN(auto sent, remove_done(outgoing_));
  for (Letter& out : sent) {
    going_ -= out.bytes;
    pool_.give(std::move(out.buffer));
  }
  return !sent.empty();
}

}  // namespace penstock
