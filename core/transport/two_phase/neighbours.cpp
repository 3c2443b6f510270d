// Neighbours: flags and bells in the shared memory.
#include "core/transport/two_phase/neighbours.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <span>

#include "core/base/units.hpp"
#include "core/comm/share.hpp"

namespace penstock {
namespace {

constexpr int64_t line = 64, page = 4096;

// Between processes, so not the private kind.
void futex(const std::atomic<uint32_t>& word, int operation, uint32_t value, const timespec* timeout) {
  static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t) && std::atomic<uint32_t>::is_always_lock_free);
  ::syscall(SYS_futex, &word, operation, value, timeout, nullptr, 0);
}

// Collective. The items of all ranks, by rank, on each of them.
Result<std::vector<int>> collect(const Communicator& comm, std::span<const int> own) {
  PENSTOCK_ASSIGN(const auto bytes, from_all_ranks(comm, std::as_bytes(own)));
  std::vector<int> all(bytes.size() / sizeof(int));
  std::memcpy(all.data(), bytes.data(), bytes.size());
  return all;
}

}  // namespace

struct alignas(line) Neighbours::Header {
  std::atomic<uint32_t> failed;  // number of the transfer
};

struct alignas(line) Neighbours::Slot {
  std::atomic<uint32_t> bell;
  std::atomic<uint32_t> sleepers;
};

struct alignas(line) Neighbours::Flags {
  std::atomic<uint64_t> open[2];
  std::atomic<int64_t> done[2];
  std::atomic<uint32_t> left;  // number of the transfer
};

Status NodeMemory::meet(const Communicator& comm) {
  if (node != nullptr) return {};
  PENSTOCK_ASSIGN(node, comm->node());
  const int rank = comm->rank();
  PENSTOCK_ASSIGN(ranks, collect(node, std::span(&rank, 1)));
  // The first rank of each node says how many it has, and which.
  std::vector<int> own;
  if (node->rank() == 0) {
    own = candidates_among(ranks);
    own.insert(own.begin(), static_cast<int>(own.size()));
  }
  PENSTOCK_ASSIGN(const std::vector<int> all, collect(comm, own));
  candidates.clear();
  for (auto at = all.begin(); at != all.end(); at += *at + 1) candidates.emplace_back(at + 1, at + 1 + *at);
  nodes = std::ssize(candidates);
  number =
      std::ranges::find(candidates, ranks.front(), [](const auto& its) { return its.front(); }) - candidates.begin();
  if (nodes > 1) couriers = candidates_among(ranks);
  return {};
}

// The parts whose places are the same in every transfer.
int64_t Neighbours::fixed_bytes(const NodeMemory& kept) {
  return round_up(flags_end(kept.ranks.size()) + Couriers::control_bytes(kept.couriers.size(), kept.ranks.size()),
                  page);
}

int64_t Neighbours::flags_end(size_t ranks) {
  return static_cast<int64_t>(sizeof(Header) + ranks * (sizeof(Slot) + sizeof(Flags)));
}

int64_t Neighbours::bytes_for(const NodeMemory& kept, const Domains& domains, int64_t outbox) {
  int64_t bytes = fixed_bytes(kept) + std::ssize(kept.couriers) * outbox;
  for (const int rank : kept.ranks)
    if (domains.writer_of(rank) >= 0) bytes += domains.windows_bytes();
  return bytes;
}

Status Neighbours::prepare(NodeMemory& kept, const Domains& domains, int64_t outbox, int rank) {
  if (kept.ranks.size() < 2) return {};
  const int64_t bytes = bytes_for(kept, domains, outbox);
  if (!kept.is_settled(bytes)) {
    PENSTOCK_ASSIGN(auto memory, SharedMemory::create(kept.node, bytes));
    if (memory == nullptr) {
      kept.refused = bytes;
    } else {
      kept.memory = std::move(memory);
      kept.taken.assign(kept.couriers.size(), 0);
    }
  }
  if (!kept.has(bytes)) return {};
  ranks_ = kept.ranks;
  window_bytes_ = domains.largest_window();
  transfer_ = ++kept.transfers;
  rank_ = rank;
  memory_ = kept.memory;
  own_ = slot_of(rank);
  int64_t at = fixed_bytes(kept);
  for (const int neighbour : kept.ranks) {
    windows_.push_back(at);
    if (domains.writer_of(neighbour) < 0) continue;
    writers_.push_back(static_cast<int>(windows_.size()) - 1);
    at += domains.windows_bytes();
  }
  if (!kept.couriers.empty())
    couriers_ = Couriers(kept.couriers, kept.ranks, rank, memory_, memory_->data() + flags_end(ranks_.size()),
                         memory_->data() + at, outbox, kept.taken);
  return {};
}

void Neighbours::open(int64_t round, const std::vector<int>& clients) {
  Flags& mine = flags(own_);
  mine.done[round % 2].store(0);
  mine.open[round % 2].store(word(round));
  for (const int client : clients) ring(client);
}

int64_t Neighbours::done_with(int64_t round) const { return flags(own_).done[round % 2].load(); }

std::byte* Neighbours::opened(int writer, int64_t round) const {
  const int number = slot_of(writer);
  return flags(number).open[round % 2].load() == word(round) ? window_of(number, round % 2) : nullptr;
}

void Neighbours::done(int writer, int64_t round) {
  flags(slot_of(writer)).done[round % 2].fetch_add(1);
  ring(writer);
}

void Neighbours::leave() {
  if (std::ranges::find(writers_, own_) == writers_.end()) return;
  flags(own_).left.store(transfer_);
  for (const int rank : ranks_) ring(rank);
}

bool Neighbours::writers_left() const {
  return std::ranges::all_of(writers_, [&](int writer) { return flags(writer).left.load() == transfer_; });
}

void Neighbours::fail() {
  reinterpret_cast<Header*>(memory_->data())->failed.store(transfer_);
  for (const int rank : ranks_) ring(rank);
}

bool Neighbours::failed() const { return reinterpret_cast<Header*>(memory_->data())->failed.load() == transfer_; }

uint32_t Neighbours::bell() const { return slot(own_).bell.load(); }

void Neighbours::sleep(uint32_t bell, double seconds) const {
  Slot& mine = slot(own_);
  const timespec limit{static_cast<time_t>(seconds),
                       static_cast<long>((seconds - static_cast<int64_t>(seconds)) * 1e9)};
  mine.sleepers.fetch_add(1);
  futex(mine.bell, FUTEX_WAIT, bell, &limit);
  mine.sleepers.fetch_sub(1);
}

void Neighbours::ring(int rank) const {
  Slot& there = slot(slot_of(rank));
  there.bell.fetch_add(1);
  if (there.sleepers.load() > 0) futex(there.bell, FUTEX_WAKE, INT_MAX, nullptr);
}

int Neighbours::slot_of(int rank) const {
  const auto at = std::lower_bound(ranks_.begin(), ranks_.end(), rank);
  return at != ranks_.end() && *at == rank ? static_cast<int>(at - ranks_.begin()) : -1;
}

Neighbours::Slot& Neighbours::slot(int number) const {
  return reinterpret_cast<Slot*>(memory_->data() + sizeof(Header))[number];
}

Neighbours::Flags& Neighbours::flags(int number) const {
  return reinterpret_cast<Flags*>(memory_->data() + sizeof(Header) + ranks_.size() * sizeof(Slot))[number];
}

std::byte* Neighbours::window_of(int number, int64_t buffer) const {
  return memory_->data() + windows_[static_cast<size_t>(number)] + buffer * window_bytes_;
}

}  // namespace penstock
