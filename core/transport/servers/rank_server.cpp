// A server rank: passes messages of many clients to services, one for each movement in progress.
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <list>
#include <map>

#include "core/base/units.hpp"
#include "core/storage/aligned.hpp"
#include "core/transport/servers/rank_messages.hpp"
#include "core/transport/servers/ranks.hpp"
#include "core/transport/servers/service.hpp"

namespace penstock {
namespace {

using Kind = ServerMessage::Kind;

constexpr int max_idle_us = 1000;

// Memory for one chunk, laid out like the slot of its client.
struct ChunkMemory {
  std::shared_ptr<std::byte> bytes;
  int64_t size = 0;
  int64_t data_at = 0, data_bytes = 0;
};

struct Movement {
  std::unique_ptr<Service> service;
  std::vector<int> clients;                               // their ranks in ALL, by index
  std::map<std::pair<int, int32_t>, ChunkMemory> memory;  // of a client's slot
  bool reads = false;
};

class RankServer {
 public:
  explicit RankServer(const ServerRanks& ranks) : ranks_(ranks), sends_(ranks.all) {
    for (const int client : ranks.clients) clients_.push_back({RankReceive(ranks.all, client, to_server)});
  }

  Status run() {
    int idle_us = 0;
    while (staying_ > 0 || !sends_.empty()) {
      bool any = false;
      for (Client& client : clients_) {
        if (client.left) continue;
        PENSTOCK_ASSIGN(const bool moved, receive(client));
        any = any || moved;
      }
      for (auto& [channel, movement] : movements_) {
        if (!movement.service->has_work()) continue;
        movement.service->work();
        any = true;
      }
      PENSTOCK_TRY(failure_);
      PENSTOCK_TRY(sends_.progress());
      idle_us = any ? 0 : std::min(idle_us + 10, max_idle_us);
      if (idle_us > 100) ::usleep(static_cast<useconds_t>(idle_us));  // frees a core that others may need
      if (!any) ::sched_yield();
    }
    return {};
  }

 private:
  struct Client {
    RankReceive receive;
    ChunkMemory memory;  // of the current message
    bool left = false;
  };

  // Receives one message of CLIENT, if it has arrived completely.
  Result<bool> receive(Client& client) {
    PENSTOCK_ASSIGN(const bool there, client.receive.arrived());
    if (!there) return false;
    const auto& [m, channel, bytes] = client.receive.get();
    std::span<std::byte> data;
    if (m.kind == Kind::chunk) {
      if (!client.memory.bytes && !reserve(client, m)) return false;
      data = {client.memory.bytes.get() + (m.c + m.d - bytes), static_cast<size_t>(bytes)};
    }
    PENSTOCK_ASSIGN(const bool complete, client.receive.rest(data));
    if (!complete) return false;
    handle(client, client.receive.take(), channel);
    return true;
  }

  // Reserves room for a chunk, or returns false: the movements must then process waiting chunks urgently.
  bool reserve(Client& client, const ServerMessage& m) {
    const int64_t size = round_up(m.c + m.d, direct_alignment);
    AlignedMemory memory;
    if (held_ == 0 || held_ + size <= limit_) memory = aligned_memory(size);
    if (!memory) {
      for (auto& [channel, movement] : movements_) movement.service->handle(0, {.kind = Kind::urgent}, {});
      return false;
    }
    held_ += size;
    client.memory = {std::move(memory), size, m.a, m.b};
    return true;
  }

  void handle(Client& client, const ServerMessage& m, int32_t channel) {
    if (m.kind == Kind::bye) {
      client.left = true;
      --staying_;
      return;
    }
    Movement& movement = movements_[channel];
    if (m.kind == Kind::job) join(movement, channel, client.receive.peer(), m);
    const int index = index_of(movement, client.receive.peer());
    std::span<std::byte> memory;
    if (m.kind == Kind::chunk) {
      memory = {client.memory.bytes.get(), static_cast<size_t>(client.memory.size)};
      movement.memory[{index, m.number}] = std::move(client.memory);
      client.memory = {};
    }
    movement.service->handle(index, m, memory);
  }

  void join(Movement& movement, int32_t channel, int peer, const ServerMessage& m) {
    if (!movement.service || !movement.service->busy()) {
      movement.clients.assign(static_cast<size_t>(m.d), -1);
      movement.reads = (m.b & job_reads) != 0;
      movement.service = std::make_unique<Service>(
          static_cast<int>(m.d), posix_storage(),
          [this, channel](int to, const ServerMessage& reply) { answer(channel, to, reply); });
      limit_ = m.c;
    }
    movement.clients[static_cast<size_t>(m.number)] = peer;
  }

  static int index_of(const Movement& movement, int peer) {
    const auto at = std::find(movement.clients.begin(), movement.clients.end(), peer);
    return static_cast<int>(at - movement.clients.begin());
  }

  void answer(int32_t channel, int to, const ServerMessage& m) {
    Movement& movement = movements_[channel];
    std::span<const std::byte> data;
    std::shared_ptr<const void> keep;
    if (m.kind == Kind::freed) {
      const auto at = movement.memory.find({to, m.number});
      ChunkMemory memory = std::move(at->second);
      movement.memory.erase(at);
      held_ -= memory.size;
      if (movement.reads && m.code == Code::ok)
        data = {memory.bytes.get() + memory.data_at, static_cast<size_t>(memory.data_bytes)};
      keep = std::move(memory.bytes);
    }
    const int peer = movement.clients[static_cast<size_t>(to)];
    if (const Status sent = sends_.send(peer, to_client(channel), m, channel, data, std::move(keep)); failure_.ok())
      failure_ = sent;
  }

  const ServerRanks& ranks_;
  RankSends sends_;
  std::list<Client> clients_;
  std::map<int32_t, Movement> movements_;
  int64_t staying_ = static_cast<int64_t>(ranks_.clients.size());
  int64_t held_ = 0, limit_ = 256 << 20;
  Status failure_;
};

}  // namespace

Status serve(const ServerRanks& ranks) { return RankServer(ranks).run(); }

}  // namespace penstock
