// Node servers: starts them, connects the ranks of a node, and keeps them for the next movement.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <random>

#include <fmt/format.h>
#include <penstock/phase.hpp>

#include "core/comm/share.hpp"
#include "core/transport/servers/node.hpp"
#include "core/transport/servers/pool.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace penstock {
namespace {

constexpr int welcome_seconds = 30;
constexpr size_t max_kept = 2;

// A server process that this rank started.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  Child& operator=(Child&&) = delete;
  // Its sockets are closed now, so it ends by itself unless a file system blocks it.
  ~Child() {
    if (pid_ < 0 || ends_within_a_second()) return;
    ::kill(pid_, SIGKILL);
    (void)ends_within_a_second();  // if a file system blocks even that, it ends later
  }

 private:
  bool ends_within_a_second() const {
    for (int i = 0; i < 500; ++i) {
      if (::waitpid(pid_, nullptr, WNOHANG) != 0) return true;
      ::usleep(2000);
    }
    return false;
  }

  pid_t pid_;
};

class NodeLink : public ServerLink {
 public:
  explicit NodeLink(FileDescriptor socket) : socket_(std::move(socket)) {}
  Status send(const ServerMessage& message, std::span<std::byte>) override {
    return named(send_message(socket_.get(), message));
  }
  Result<std::optional<ServerMessage>> receive(int wait_ms) override {
    auto received = receive_message(socket_.get(), wait_ms);
    if (!received.ok()) return named(received.status());
    if (!*received) return std::optional<ServerMessage>();
    return std::optional<ServerMessage>((*received)->message);
  }

  std::string name() const override { return fmt::format("the I/O server on {} (process {})", host(), process_); }

  Status greet(const SharedSegment& segment, int64_t slot_bytes, int rank) {
    const auto bytes = static_cast<int64_t>(segment.memory().size());
    return named(send_message(socket_.get(),
                              {.kind = ServerMessage::Kind::hello, .number = rank, .a = bytes, .b = slot_bytes},
                              segment.fd()));
  }

  Status be_welcomed() {
    const double deadline = now() + welcome_seconds;
    while (now() < deadline) {
      PENSTOCK_ASSIGN(const auto message, receive(100));
      if (!message) continue;
      process_ = message->a;
      return {};
    }
    return {Code::timeout, fmt::format("an I/O server did not begin within {} s", welcome_seconds)};
  }

 private:
  Status named(const Status& status) const {
    if (status.ok()) return status;
    if (process_ == 0) return status.in(fmt::format("the I/O server on {} did not begin", host()));
    const bool silent = status.code() == Code::timeout;
    return {status.code(), fmt::format("{} {}: {}", name(), silent ? "takes nothing" : "died", status.message())};
  }
  static std::string host() {
    char host[256] = "";
    ::gethostname(host, sizeof host - 1);
    return host;
  }

  FileDescriptor socket_;
  int64_t process_ = 0;
};

struct NodePool : ServerPool {
  // Identifies equal pools on all ranks.
  uint64_t id = 0;
  std::string wanted;
  int rank = 0, size = 0;
  pid_t owner = ::getpid();  // a fork has copies that do not own the servers

  SharedSegment segment;
  std::vector<Child> children;
  ~NodePool() override { links.clear(); }  // the children notice it and end
};

std::mutex kept_mutex;
std::vector<std::unique_ptr<NodePool>>& kept() {
  static std::vector<std::unique_ptr<NodePool>> pools;
  return pools;
}

std::string wanted_of(const Settings& settings) {
  return fmt::format("{}/{}/{}", settings.integer("per_node"), settings.integer("buffer_bytes"),
                     settings.word("assignment"));
}

// Between movements a server sends nothing unless it died.
bool alive(NodePool& pool) {
  return std::all_of(pool.links.begin(), pool.links.end(), [](const auto& link) {
    const auto message = link->receive(0);
    return message.ok() && !*message;
  });
}

// Reuses the kept pool if every rank of COMM has the same one and no other ranks use it.
Result<std::unique_ptr<NodePool>> take_kept(const Communicator& comm, const std::string& wanted) {
  std::unique_ptr<NodePool> mine;
  {
    std::lock_guard lock(kept_mutex);
    auto& pools = kept();
    std::erase_if(pools, [](const auto& pool) { return pool->owner != ::getpid(); });
    const auto at = std::find_if(pools.begin(), pools.end(), [&](const auto& pool) {
      return pool->wanted == wanted && pool->rank == comm->rank() && pool->size == comm->size();
    });
    if (at != pools.end()) {
      mine = std::move(*at);
      pools.erase(at);
    }
  }
  if (mine && !alive(*mine)) mine.reset();
  const auto id = static_cast<int64_t>(mine ? mine->id : 0);
  int64_t same[2] = {id, -id};
  PENSTOCK_TRY(comm->all_reduce_max(same));
  if (same[0] != -same[1]) mine.reset();
  return mine;
}

Status spawn(const std::string& program, int listener, int clients, pid_t& pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, listener, 3);
  for (const int fd : {0, 1, 2}) posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const std::string count = std::to_string(clients);
  char* arguments[] = {const_cast<char*>("penstock-server"), const_cast<char*>(count.c_str()), nullptr};
  const int error = ::posix_spawn(&pid, program.c_str(), &actions, &attributes, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return error == 0 ? Status() : Status::from_errno(error, fmt::format("starting '{}'", program));
}

// Data from the first rank of a group about its server, and from the node's first rank about memory.
struct Started {
  Status status;
  std::string socket;
  int64_t share_bytes = 0;
};

std::vector<std::byte> pack(const Started& started) {
  Encoder out;
  out.value(started.status.code());
  out.text(started.status.message());
  out.text(started.socket);
  out.value(started.share_bytes);
  return out.take();
}

Started unpack(std::span<const std::byte> bytes) {
  Decoder in(bytes);
  Started started;
  const auto code = in.value<Code>();
  started.status = {code, in.text()};
  started.socket = in.text();
  started.share_bytes = in.value<int64_t>();
  return started;
}

Status start_servers(NodePool& pool, const Groups& groups, int node_rank, Started& started) {
  for (int s = 0; s < groups.servers; ++s) {
    if (groups.first(s) != node_rank) continue;
    PENSTOCK_ASSIGN(const std::string program, find_server_program());
    PENSTOCK_ASSIGN(const Listener listener, listen_here());
    pid_t pid = -1;
    PENSTOCK_TRY(spawn(program, listener.socket.get(), groups.clients(s), pid));
    pool.children.emplace_back(pid);
    started.socket = listener.name;
  }
  return {};
}

// Collective over the node. Sends the starters' data to all ranks, in the order of the servers.
Result<std::vector<Started>> share(const Communicator& node, const Started& mine, const Groups& groups) {
  PENSTOCK_ASSIGN(const auto all, node->gather(pack(mine), 0));
  Encoder out;
  for (int s = 0; s < groups.servers && !all.empty(); ++s)
    out.list(std::span<const std::byte>(all[static_cast<size_t>(groups.first(s))]));
  auto bytes = out.take();
  PENSTOCK_TRY(node->broadcast(bytes, 0));
  Decoder in(bytes);
  std::vector<Started> started;
  for (int s = 0; s < groups.servers; ++s) started.push_back(unpack(in.list<std::byte>()));
  return started;
}

Status connect_all(NodePool& pool, const Groups& groups, int node_rank, const std::vector<Started>& servers) {
  for (const Started& server : servers) PENSTOCK_TRY(server.status);
  PENSTOCK_ASSIGN(pool.segment, SharedSegment::create(servers[0].share_bytes, min_slots_bytes));
  pool.slots = cut_slots(pool.segment.memory());
  for (int s = 0; s < groups.servers; ++s) {
    if (!groups.serves(s, node_rank)) continue;
    PENSTOCK_ASSIGN(FileDescriptor socket, connect_to(servers[static_cast<size_t>(s)].socket));
    auto link = std::make_unique<NodeLink>(std::move(socket));
    PENSTOCK_TRY(link->greet(pool.segment, static_cast<int64_t>(pool.slots[0].size()), pool.rank));
    pool.links.push_back(std::move(link));
    pool.first_client = pool.first_client || groups.first(s) == node_rank;
  }
  return {};
}

// A whole number of slots of every size, and at most a large share of the free memory.
int64_t share_of(int64_t buffer_bytes, int ranks) {
  const int64_t room = std::min(buffer_bytes, shared_memory_free() / 10 * 9);
  const int64_t unit = min_slots_bytes;
  return std::max(unit, room / ranks / unit * unit);
}

Result<uint64_t> agree_id(const Communicator& comm) {
  const auto bytes = from_rank_0(comm, [](Encoder& out) -> Status {
    std::random_device device;
    out.value((uint64_t{device()} << 31 | device()) >> 1 | 1);  // positive as a signed number, not 0
    return {};
  });
  PENSTOCK_TRY(bytes.status());
  return Decoder(*bytes).value<uint64_t>();
}

Result<std::unique_ptr<NodePool>> new_pool(const Communicator& comm, const Settings& settings) {
  auto pool = std::make_unique<NodePool>();
  pool->wanted = wanted_of(settings);
  pool->rank = comm->rank();
  pool->size = comm->size();
  PENSTOCK_ASSIGN(pool->id, agree_id(comm));
  PENSTOCK_ASSIGN(const Communicator node, comm->node());
  const Groups groups{node->size(), static_cast<int>(std::min<int64_t>(settings.integer("per_node"), node->size())),
                      settings.word("assignment") == "any"};
  pool->cache_bytes = settings.integer("buffer_bytes") / groups.servers;
  Started mine;
  mine.share_bytes = share_of(settings.integer("buffer_bytes"), groups.ranks);
  mine.status = start_servers(*pool, groups, node->rank(), mine);
  PENSTOCK_ASSIGN(const auto servers, share(node, mine, groups));
  // No rank waits for a server's welcome, which requires all ranks, before all are known to have arrived.
  PENSTOCK_TRY(agree(comm, connect_all(*pool, groups, node->rank(), servers)));
  Status welcomed;
  for (const auto& link : pool->links)
    if (welcomed.ok()) welcomed = static_cast<NodeLink&>(*link).be_welcomed();
  PENSTOCK_TRY(agree(comm, welcomed));
  return pool;
}

}  // namespace

std::vector<std::span<std::byte>> cut_slots(std::span<std::byte> memory) {
  constexpr size_t page = 4096, least = min_slots_bytes / 2, most = 4 << 20, many = 64;
  const size_t bytes = std::clamp(memory.size() / many / page * page, least, most);
  std::vector<std::span<std::byte>> slots;
  for (size_t at = 0; at + bytes <= memory.size(); at += bytes) slots.push_back(memory.subspan(at, bytes));
  return slots;
}

Result<ServerPoolPtr> take_node_servers(const Communicator& comm, const Settings& settings) {
  PENSTOCK_ASSIGN(auto pool, take_kept(comm, wanted_of(settings)));
  if (!pool) {
    PENSTOCK_ASSIGN(pool, new_pool(comm, settings));
  }
  return ServerPoolPtr(std::move(pool));
}

void keep_node_servers(ServerPoolPtr pool) {
  if (!pool || !pool->healthy) return;
  std::unique_ptr<NodePool> dropped;  // outside the lock: it waits for its servers to end
  std::lock_guard lock(kept_mutex);
  auto& pools = kept();
  if (pools.size() >= max_kept) {
    dropped = std::move(pools.front());
    pools.erase(pools.begin());
  }
  pools.emplace_back(static_cast<NodePool*>(pool.release()));
}

}  // namespace penstock
