// Server ranks: the same service over messages between ranks, for servers set apart by penstock_split.
#pragma once

#include "core/transport/servers/pool.hpp"

namespace penstock {

// On a server rank: serves until every client has said goodbye. Receives at most the amount in the clients' plans
// (buffer_bytes) at once; the rest waits at the clients.
Status serve(const ServerRanks& ranks);
// On a compute rank, when nothing is in progress: tells the servers that this rank is done.
Status say_goodbye(const ServerRanks& ranks);

// Local on compute ranks, called by all in the same order. The servers of COMM; Code::unsupported if it has none.
Result<ServerPoolPtr> take_server_ranks(const Communicator& comm, const Settings& settings);
// Local. Keeps the pool's memory for the next movement.
void keep_server_ranks(ServerPoolPtr pool);

}  // namespace penstock
