// ServersTransfer: packs, hands over, waits for room, and completes.
#include "core/transport/servers/transfer.hpp"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>

#include <fmt/format.h>
#include <penstock/timeout.hpp>

#include "core/transport/servers/stream.hpp"

namespace penstock {
namespace {

constexpr int patience_ms = 20;         // between polls of the other servers
constexpr int64_t min_streamed = 4096;  // bytes of a run

std::string absolute(const std::string& path) {
  char folder[PATH_MAX];
  if (path.starts_with('/') || ::getcwd(folder, sizeof folder) == nullptr) return path;
  return fmt::format("{}/{}", folder, path);
}

}  // namespace

ServersTransfer::ServersTransfer(const Job& job, const Settings& settings, ServerPoolPtr pool,
                                 std::function<void(ServerPoolPtr)> keep)
    : job_(job), settings_(settings), pool_(std::move(pool)), keep_(std::move(keep)) {
  for (const auto& memory : pool_->slots) slots_.push_back({memory});
  servers_.resize(pool_->links.size());
}

// An abandoned movement ends its servers, which have half of the data. Servers that cannot be restarted are told that
// nothing more comes.
ServersTransfer::~ServersTransfer() {
  if (!finished_ && !pool_->disposable) {
    fail({Code::internal, "given up"});
    (void)finish();
  }
  if (finished_ && pool_->healthy)
    keep_(std::move(pool_));
  else if (pool_->communicates)
    keep_for_ever(std::shared_ptr<ServerPool>(std::move(pool_)));  // messages may be in progress
}

void ServersTransfer::tell(size_t link, const ServerMessage& message, std::span<std::byte> slot) {
  if (servers_[link].lost) return;
  if (const Status sent = pool_->links[link]->send(message, slot); !sent.ok()) {
    take_replies(0);  // the reason, if the server reported one
    lose(link, sent);
  }
}

void ServersTransfer::tell_all(const ServerMessage& message) {
  for (size_t link = 0; link < servers_.size(); ++link) tell(link, message);
}

// The slots of a lost server are free at once: nothing will read them.
void ServersTransfer::lose(size_t link, const Status& status) {
  pool_->healthy = false;
  if (servers_[link].lost) return;
  servers_[link].lost = true;
  if (!servers_[link].done || servers_[link].answer.code == Code::ok) fail(status);
  for (Slot& slot : slots_) {
    if (!slot.busy || slot.link != link) continue;
    slot.busy = false;
    --in_flight_;
  }
}

Status ServersTransfer::begin() {
  std::vector<int64_t> bytes(job_.parts.size(), 0);
  int64_t total = 0;
  for (const Piece& piece : job_.pieces) {
    const int64_t size = piece.selection.count() * piece.element_bytes;
    bytes[static_cast<size_t>(piece.part)] += size;
    total += size;
  }
  moved_anything_ = total > 0;
  const auto servers = static_cast<int64_t>(servers_.size());
  const bool syncs = job_.sync && !reading();
  const std::string& scratch = settings_.word("scratch");
  const int64_t flags = (reading() ? job_reads : 0) | (syncs ? job_syncs : 0) |
                        (job_.io.value_or(parse_io(settings_.word("io"))) == Io::direct ? job_direct : 0);
  tell_all({.kind = ServerMessage::Kind::job,
            .a = total / servers,
            .b = flags,
            .c = pool_->cache_bytes,
            .text = scratch.empty() ? scratch : absolute(scratch)});
  for (size_t p = 0; p < bytes.size(); ++p)
    if (bytes[p] > 0)
      tell_all({.kind = ServerMessage::Kind::part,
                .number = static_cast<int32_t>(p),
                .a = bytes[p] / servers,
                .text = absolute(job_.parts[p].path)});
  if (!scratch.empty() && !reading()) {
    tell_all({.kind = ServerMessage::Kind::ready});
    const auto waits = [](const Server& s) { return !s.lost && s.answer.kind != ServerMessage::Kind::ready; };
    while (std::ranges::any_of(servers_, waits)) wait(patience_ms);
  }
  return {};
}

// Takes replies of any server; waits only if there is a single one.
bool ServersTransfer::take_replies(int wait_ms) {
  bool any = false;
  for (size_t link = 0; link < servers_.size(); ++link) {
    while (!servers_[link].lost) {
      auto message = pool_->links[link]->receive(any || servers_.size() > 1 ? 0 : wait_ms);
      if (!message.ok()) {
        lose(link, message.status());
        break;
      }
      if (!*message) break;
      any = true;
      take_reply(link, **message);
    }
  }
  return any;
}

void ServersTransfer::wait(int wait_ms) {
  PhaseTimer timer(*job_.phases, reading() ? Phase::read : Phase::write);
  if (take_replies(wait_ms)) return patience_.moved();
  if (servers_.size() > 1) ::usleep(200);
  // Ranks that wait for this one need not consider it lost: it ends by itself.
  job_.comm->working(0);
  const bool drains = handed_over_ && !reading() && !settings_.word("scratch").empty();  // no message for hours
  if (!drains && !patience_.idle("I/O servers").ok()) lose_silent();
}

void ServersTransfer::lose_silent() {
  if (pool_->communicates) job_.comm->server_ranks()->lost = true;
  for (size_t link = 0; link < servers_.size(); ++link)
    if (!servers_[link].done)
      lose(link,
           {Code::timeout, fmt::format("{} has not answered for {:g} s: it was stopped, or is held by its file system",
                                       pool_->links[link]->name(), timeout())});
}

void ServersTransfer::take_reply(size_t link, const ServerMessage& message) {
  Server& server = servers_[link];
  if (message.kind == ServerMessage::Kind::freed) {
    const auto number = static_cast<size_t>(message.number);
    if (number >= slots_.size() || !slots_[number].busy) return;
    Slot& slot = slots_[number];
    if (reading() && message.code == Code::ok) {
      PhaseTimer timer(*job_.phases, Phase::pack);
      copy_windows(slot);
    }
    slot.busy = false;
    --server.in_flight;
    --in_flight_;
    return;
  }
  server.answer = message;
  if (message.kind == ServerMessage::Kind::done) server.done = true;
  if (message.code != Code::ok) fail({message.code, message.text});
}

ServersTransfer::Slot* ServersTransfer::free_slot() {
  const auto at = std::ranges::find(slots_, false, &Slot::busy);
  return at == slots_.end() ? nullptr : &*at;
}

// Among equally loaded servers, ranks begin with different ones.
size_t ServersTransfer::least_loaded() const {
  const size_t n = servers_.size(), start = static_cast<size_t>(job_.comm->rank()) % n;
  size_t best = start;
  for (size_t i = 1; i < n; ++i)
    if (servers_[(start + i) % n].in_flight < servers_[best].in_flight) best = (start + i) % n;
  return best;
}

bool ServersTransfer::done() const {
  return handed_over_ && std::ranges::all_of(servers_, [](const Server& s) { return s.lost || s.done; });
}

// Hands over one slot, or waits for an event.
void ServersTransfer::step(int wait_ms) {
  const bool any = take_replies(0);
  Slot* slot = handed_over_ ? nullptr : free_slot();
  if (slot == nullptr) {
    if (!any) wait(wait_ms);
    return;
  }
  ServerMessage chunk{.kind = ServerMessage::Kind::chunk, .number = static_cast<int32_t>(slot - slots_.data())};
  const bool filled = failure_.ok() && fill(*slot, chunk);
  if (!filled) {
    handed_over_ = true;
    return tell_all({.kind = ServerMessage::Kind::end});
  }
  patience_.moved();
  slot->link = least_loaded();
  slot->busy = true;
  ++servers_[slot->link].in_flight;
  ++in_flight_;
  tell(slot->link, chunk, slot->memory);
  if (urgent_ || in_flight_ * 2 <= static_cast<int64_t>(slots_.size())) return;
  urgent_ = true;
  tell_all({.kind = ServerMessage::Kind::urgent});
}

Result<bool> ServersTransfer::progress(double seconds) {
  const double deadline = now() + seconds;
  if (detached()) {
    take_replies(0);
    return done();
  }
  do step(std::clamp(static_cast<int>((deadline - now()) * 1000), 0, patience_ms));
  while (!detached() && now() < deadline);
  return done();
}

Status ServersTransfer::finish() {
  while (!done() || in_flight_ > 0) step(patience_ms);
  finished_ = true;
  return failure_;
}

bool ServersTransfer::detach() {
  if (reading()) return false;
  while (!detached()) {
    const auto finished = progress(1);
    if (!finished.ok() || *finished) break;
  }
  return true;
}

Moved ServersTransfer::moved() const {
  if (!pool_->first_client) return {};
  std::string list;
  for (const Server& s : servers_)
    list += fmt::format(
        "{}{{\"bytes\": {}, \"calls\": {}, \"buffered_bytes\": {}, \"scratch_seconds\": {:.6f}, "
        "\"target_seconds\": {:.6f}}}",
        list.empty() ? "" : ", ", s.answer.a, s.answer.b, s.answer.c, s.answer.x, s.answer.y);
  return {moved_anything_, 0, fmt::format("{{\"servers\": [{}]}}", list)};
}

bool ServersTransfer::next_slice() {
  while (slice_.bytes == 0) {
    if (piece_ == job_.pieces.size()) return false;
    const Piece& piece = job_.pieces[piece_];
    const Part& part = job_.parts[static_cast<size_t>(piece.part)];
    if (!cursor_) cursor_.emplace(piece, part.virtual_base, part.virtual_base + part.bytes);
    if (cursor_->next(slice_)) continue;
    slice_ = {};
    cursor_.reset();
    ++piece_;
  }
  return true;
}

// Packs as much data as fits, followed by its strips. The data has the same page offset as in the file, so that direct
// calls can use it in place.
bool ServersTransfer::fill(Slot& slot, ServerMessage& chunk) {
  PhaseTimer timer(*job_.phases, Phase::pack);
  const auto size = static_cast<int64_t>(slot.memory.size());
  slot.windows.clear();
  int64_t at = -1;
  while (next_slice()) {
    const Piece& piece = job_.pieces[piece_];
    const int64_t offset = slice_.address - job_.parts[static_cast<size_t>(piece.part)].virtual_base;
    if (at < 0) chunk.a = at = offset % direct_alignment;
    const int64_t room = size - at - strips_.max_bytes();
    if (room <= 0) break;
    Slice head = slice_;
    if (head.bytes > room) {
      const int64_t aligned = (offset + room) / direct_alignment * direct_alignment - offset;
      head.bytes = aligned > 0 ? aligned : room;
    }
    strips_.add(piece.part, offset, head.bytes);
    add_run(slot, head, slot.memory.data() + at);
    at += head.bytes;
    slice_.address += head.bytes;
    slice_.skip += head.bytes;
    slice_.bytes -= head.bytes;
    if (slice_.bytes > 0) break;  // the slot is full
  }
  if (at < 0) return false;
  const auto strips = strips_.take();
  chunk.b = at - chunk.a;
  chunk.c = at;
  chunk.d = static_cast<int64_t>(strips.size());
  std::memcpy(slot.memory.data() + at, strips.data(), strips.size());
  if (!reading()) copy_windows(slot);
  stream_fence();
  return true;
}

// Long runs bypass the caches, since this rank does not use them again; others are left for copy_windows().
void ServersTransfer::add_run(Slot& slot, const Slice& slice, std::byte* at) {
  const Piece& piece = job_.pieces[piece_];
  if (!reading() && slice.bytes >= min_streamed && slice.stride == 1 && piece.swap_bytes <= 1)
    return stream_copy(at, piece.memory + slice.memory * piece.element_bytes + slice.skip,
                       static_cast<size_t>(slice.bytes));
  if (slot.windows.empty() || slot.windows.back().piece != piece_ || slot.windows.back().end != at)
    slot.windows.push_back({piece_, {slice.address, slice.address}, at, at});
  slot.windows.back().range.end = slice.address + slice.bytes;
  slot.windows.back().end = at + slice.bytes;
}

void ServersTransfer::copy_windows(const Slot& slot) {
  for (const Window& window : slot.windows)
    (void)copy_packed(job_.pieces[window.piece], window.range, window.begin, job_.direction);
}

}  // namespace penstock
