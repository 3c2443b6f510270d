// Server ranks: some ranks of a communicator set apart, and how a communicator of the others remembers them.
#pragma once

#include <memory>

#include <mpi.h>
#include <penstock/communicator.hpp>

namespace penstock {

// Collective over COMM. Sets SERVERS of its ranks apart, spread over the nodes. COMPUTE is the communicator of the
// others, MPI_COMM_NULL on servers; it carries the result with it, also to its duplicates.
Result<std::shared_ptr<const ServerRanks>> set_servers_apart(MPI_Comm comm, int servers, MPI_Comm* compute);

// What set_servers_apart attached to COMM; null for other communicators. Local.
std::shared_ptr<const ServerRanks> attached_servers(MPI_Comm comm);

}  // namespace penstock
