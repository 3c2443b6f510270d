// Server ranks: the same service over messages between ranks, for servers that penstock_split set apart.
#pragma once

#include <memory>

#include "core/transport/servers/pool.hpp"

namespace penstock {

// On a server rank: serves until every client has said goodbye. Receives no more at once than the clients' plans let it
// (buffer_bytes), the rest waits at the clients.
Status serve(const ServerRanks& ranks);
// On a compute rank, when nothing is under way: the servers need not wait for it any more.
Status say_goodbye(const ServerRanks& ranks);

// Local on compute ranks, which all do it in the same order. The servers of COMM; Code::unsupported where it has none.
Result<ServerPoolPtr> take_server_ranks(const Communicator& comm, const Settings& settings);
// Local. Keeps the pool's memory for the next movement.
void keep_server_ranks(ServerPoolPtr pool);

}  // namespace penstock
