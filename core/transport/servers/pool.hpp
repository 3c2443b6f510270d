// ServerPool: the servers of one rank, and the memory for data transfer; kept between movements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <penstock/communicator.hpp>
#include <penstock/status.hpp>

#include "core/model/settings.hpp"
#include "core/transport/servers/message.hpp"

namespace penstock {

// One server as seen by one of its clients.
class ServerLink {
 public:
  virtual ~ServerLink() = default;
  // SLOT: the data of a chunk, otherwise empty. It must not change until the server has freed it.
  virtual Status send(const ServerMessage& message, std::span<std::byte> slot) = 0;
  // Waits at most about WAIT_MS. Always returns an error after the server died.
  virtual Result<std::optional<ServerMessage>> receive(int wait_ms) = 0;
  // The server's name for messages.
  virtual std::string name() const = 0;
};

struct ServerPool {
  ServerPool() = default;
  virtual ~ServerPool() = default;
  ServerPool(const ServerPool&) = delete;
  ServerPool& operator=(const ServerPool&) = delete;

  std::vector<std::unique_ptr<ServerLink>> links;
  std::vector<std::span<std::byte>> slots;
  int64_t cache_bytes = 0;    // memory of each server for assembling
  bool first_client = false;  // this rank represents a server in counts of ranks
  bool communicates = false;  // its links call MPI
  bool healthy = true;        // false: do not reuse it
  bool disposable = true;     // dropping it ends the servers at any time
};
using ServerPoolPtr = std::unique_ptr<ServerPool>;

// Which servers serve which ranks: server S those from first(S) on, the first of which represents it; if ANY, all.
struct Groups {
  int ranks = 1, servers = 1;
  bool any = false;
  int first(int server) const { return static_cast<int>(static_cast<int64_t>(ranks) * server / servers); }
  int clients(int server) const { return any ? ranks : first(server + 1) - first(server); }
  bool serves(int server, int rank) const { return any || (rank >= first(server) && rank < first(server + 1)); }
};

// Divides MEMORY into slots: large enough for efficient calls, but several.
std::vector<std::span<std::byte>> cut_slots(std::span<std::byte> memory);
inline constexpr int64_t min_slots_bytes = 32 << 10;  // of a rank

// Collective. Servers beside the ranks of each node: those of an earlier movement of the same ranks with the same
// settings if they still run, else new ones.
Result<ServerPoolPtr> take_node_servers(const Communicator& comm, const Settings& settings);
// Local. Keeps POOL for the next movement. The servers end when it is dropped, at the latest with this process.
void keep_node_servers(ServerPoolPtr pool);

// The path of the node server program, or the error with the searched places.
Result<std::string> find_server_program();

}  // namespace penstock
