// Server ranks: sets some ranks of a communicator apart, and attaches them to the communicator of the others.
#pragma once

#include <memory>

#include <mpi.h>
#include <penstock/communicator.hpp>

namespace penstock {

// Collective over COMM. Sets SERVERS of its ranks apart, spread over the nodes. COMPUTE is the communicator of the
// other ranks, MPI_COMM_NULL on servers. The result is attached to COMPUTE and its duplicates.
Result<std::shared_ptr<const ServerRanks>> set_servers_apart(MPI_Comm comm, int servers, MPI_Comm* compute);

// Local. The result of set_servers_apart that is attached to COMM; null for other communicators.
std::shared_ptr<const ServerRanks> attached_servers(MPI_Comm comm);

}  // namespace penstock
