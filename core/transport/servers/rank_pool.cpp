// Server ranks as seen by their clients: slots are memory of this rank, and chunks are messages.
#include <sched.h>

#include <algorithm>
#include <mutex>

#include <fmt/format.h>
#include <penstock/phase.hpp>

#include "core/comm/patience.hpp"
#include "core/storage/aligned.hpp"
#include "core/transport/servers/rank_messages.hpp"
#include "core/transport/servers/ranks.hpp"

namespace penstock {
namespace {

using Kind = ServerMessage::Kind;

// The place of this rank among the clients of one server.
struct Seat {
  int server = 0;  // rank in ALL
  int index = 0;   // of this client
  int clients = 1;
};

class RankLink : public ServerLink {
 public:
  RankLink(const Communicator& all, const Seat& seat, int32_t channel, const std::vector<std::span<std::byte>>& slots)
      : sends_(all),
        receive_(all, seat.server, to_client(channel)),
        seat_(seat),
        channel_(channel),
        slots_(slots),
        chunks_(slots.size()) {}

  // A read request consists of its strips only; a write also sends the data.
  Status send(const ServerMessage& message, std::span<std::byte> slot) override {
    ServerMessage m = message;
    std::span<const std::byte> data;
    if (m.kind == Kind::job) {
      m.number = seat_.index;
      m.d = seat_.clients;
      reads_ = (m.b & job_reads) != 0;
    }
    if (m.kind == Kind::chunk) {
      chunks_[static_cast<size_t>(m.number)] = m;
      const int64_t from = reads_ ? m.c : m.a;
      data = slot.subspan(static_cast<size_t>(from), static_cast<size_t>(m.c + m.d - from));
    }
    return sends_.send(seat_.server, to_server, m, channel_, data);
  }

  Result<std::optional<ServerMessage>> receive(int wait_ms) override {
    const double deadline = now() + wait_ms * 1e-3;
    while (true) {
      PENSTOCK_TRY(sends_.progress());
      PENSTOCK_ASSIGN(const bool there, receive_.arrived());
      if (there) {
        PENSTOCK_ASSIGN(const bool complete, receive_.rest(place()));
        if (complete) return std::optional(receive_.take());
      }
      if (now() >= deadline) return std::optional<ServerMessage>();
      ::sched_yield();
    }
  }

  std::string name() const override { return fmt::format("the I/O server that is rank {} of all", seat_.server); }

  bool idle() { return sends_.progress().ok() && sends_.empty(); }

 private:
  // The place of a server's data in its slot.
  std::span<std::byte> place() const {
    const auto& [message, channel, bytes] = receive_.get();
    const auto number = static_cast<size_t>(message.number);
    if (bytes == 0 || message.kind != Kind::freed || number >= slots_.size()) return {};
    return slots_[number].subspan(static_cast<size_t>(chunks_[number].a), static_cast<size_t>(bytes));
  }

  RankSends sends_;
  RankReceive receive_;
  Seat seat_;
  int32_t channel_;
  const std::vector<std::span<std::byte>>& slots_;
  std::vector<ServerMessage> chunks_;  // the last of each slot
  bool reads_ = false;
};

struct SlotMemory {
  AlignedMemory memory;
  int64_t bytes = 0;
};

struct RankPool : ServerPool {
  SlotMemory own;
  std::shared_ptr<const ServerRanks> ranks;
};

// Memory of earlier movements, whose pages exist already.
std::mutex spare_mutex;
SlotMemory& spare() {
  static SlotMemory one;
  return one;
}

Status take_memory(RankPool& pool, int64_t bytes) {
  AlignedMemory& memory = pool.own.memory;
  pool.own.bytes = bytes;
  {
    std::lock_guard lock(spare_mutex);
    if (spare().bytes == bytes) memory = std::move(spare().memory);
  }
  if (!memory) {
    memory = aligned_memory(bytes);
    if (!memory) return {Code::memory, "no memory for what is handed to server ranks: lower buffer_bytes"};
    for (int64_t at = 0; at < bytes; at += direct_alignment) memory.get()[at] = {};
  }
  pool.slots = cut_slots(std::span(memory.get(), static_cast<size_t>(bytes)));
  return {};
}

}  // namespace

Result<ServerPoolPtr> take_server_ranks(const Communicator& comm, const Settings& settings) {
  const auto ranks = comm->server_ranks();
  if (!ranks)
    return Status(Code::unsupported,
                  "servers:kind=ranks needs penstock_split(comm, &compute), and a file on the communicator compute");
  if (ranks->lost)
    return Status(Code::timeout,
                  "an I/O server that is a rank did not answer in an earlier commit: use servers:kind=node "
                  "or another transport from now on");
  auto pool = std::make_unique<RankPool>();
  pool->ranks = ranks;
  pool->disposable = false;
  pool->communicates = true;
  pool->cache_bytes = settings.integer("buffer_bytes");
  const int64_t unit = min_slots_bytes, share = settings.integer("buffer_bytes") / comm->node_size();
  PENSTOCK_TRY(take_memory(*pool, std::max(unit, share / unit * unit)));
  const auto channel = static_cast<int32_t>(ranks->channels++ % rank_channels);
  const Groups groups{static_cast<int>(ranks->clients.size()), static_cast<int>(ranks->servers.size()),
                      settings.word("assignment") == "any"};
  for (int s = 0; s < groups.servers; ++s) {
    if (!groups.serves(s, comm->rank())) continue;
    const int first = groups.first(s);
    const Seat seat{ranks->servers[static_cast<size_t>(s)], comm->rank() - (groups.any ? 0 : first), groups.clients(s)};
    pool->links.push_back(std::make_unique<RankLink>(ranks->all, seat, channel, pool->slots));
    pool->first_client = pool->first_client || comm->rank() == first;
  }
  return ServerPoolPtr(std::move(pool));
}

void keep_server_ranks(ServerPoolPtr pool) {
  auto& mine = static_cast<RankPool&>(*pool);
  Patience patience;
  for (const auto& link : pool->links)  // all requests were answered; the rest needs no answer
    while (!static_cast<RankLink&>(*link).idle()) {
      if (patience.wait(*mine.ranks->all, "I/O servers to take messages").ok()) continue;
      return keep_for_ever(std::shared_ptr<ServerPool>(std::move(pool)));
    }
  std::lock_guard lock(spare_mutex);
  spare() = std::move(mine.own);
}

Status say_goodbye(const ServerRanks& ranks) {
  RankSends sends(ranks.all);
  for (const int server : ranks.servers) PENSTOCK_TRY(sends.send(server, to_server, {.kind = Kind::bye}, 0, {}));
  const auto sent = [&]() -> Result<bool> {
    PENSTOCK_TRY(sends.progress());
    return sends.empty();
  };
  return wait_until(sent, *ranks.all, "I/O servers to be dismissed");
}

}  // namespace penstock
