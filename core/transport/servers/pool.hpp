// ServerPool: the servers of one rank, and the memory through which it hands data over; kept between movements.
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

// One server as one of its clients sees it.
class ServerLink {
 public:
  virtual ~ServerLink() = default;
  // SLOT: what a chunk describes, else empty. It stays untouched until the server has freed it.
  virtual Status send(const ServerMessage& message, std::span<std::byte> slot) = 0;
  // Waits at most about WAIT_MS. A server that died is an error, every time.
  virtual Result<std::optional<ServerMessage>> receive(int wait_ms) = 0;
  // Which server it is, for a person.
  virtual std::string name() const = 0;
};

struct ServerPool {
  ServerPool() = default;
  virtual ~ServerPool() = default;
  ServerPool(const ServerPool&) = delete;
  ServerPool& operator=(const ServerPool&) = delete;

  std::vector<std::unique_ptr<ServerLink>> links;
  std::vector<std::span<std::byte>> slots;
  int64_t cache_bytes = 0;    // what each server may assemble in
  bool first_client = false;  // this rank stands for a server where ranks are counted
  bool communicates = false;  // its links call MPI
  bool healthy = true;        // else it is not used again
  bool disposable = true;     // dropping it ends the servers, whatever they were doing
};
using ServerPoolPtr = std::unique_ptr<ServerPool>;

// Cuts MEMORY into slots: as large as makes good calls, but several of them.
std::vector<std::span<std::byte>> cut_slots(std::span<std::byte> memory);
inline constexpr int64_t least_slots_bytes = 32 << 10;  // what a rank needs at least

// Collective. Servers beside the ranks of each node: those of an earlier movement of the same ranks with the same
// settings where they still live, else new ones.
Result<ServerPoolPtr> take_node_servers(const Communicator& comm, const Settings& settings);
// Local. Keeps POOL for the next movement; the servers end when it is dropped, at the latest with this process.
void keep_node_servers(ServerPoolPtr pool);

// The program that a node server is, or where it was looked for.
Result<std::string> find_server_program();

}  // namespace penstock
