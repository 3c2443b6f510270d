// The way from MPI's communicators to penstock's, in builds with MPI.
#pragma once

#include <penstock/config.h>
#include <penstock/communicator.hpp>

#if PENSTOCK_HAVE_MPI
#include <mpi.h>

namespace penstock {

// Collective over COMM. A private duplicate whose errors are returned. It is kept with COMM for the next call, together with
// what the ranks need again (shared memory, plans of exchange), and freed with COMM (never after MPI_Finalize). Two in use at
// once are two duplicates. MPI_COMM_NULL is the serial communicator, and needs no MPI_Init.
Result<Communicator> mpi_communicator(MPI_Comm comm);

// Collective over COMM: some of its ranks become I/O servers for transport "servers:kind=ranks": as many as
// PENSTOCK_SERVER_RANKS says, by default one of 16, spread over the nodes. On compute ranks COMPUTE is their communicator; on
// servers the call serves, and returns with MPI_COMM_NULL when all compute ranks have called unsplit_servers, or
// MPI_Finalize.
Status split_servers(MPI_Comm comm, MPI_Comm* compute);
// Collective over COMPUTE, after all files on it were closed. Dismisses the servers and frees COMPUTE.
Status unsplit_servers(MPI_Comm* compute);

}  // namespace penstock
#endif
