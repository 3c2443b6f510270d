// Converts MPI communicators to penstock's, in builds with MPI.
#pragma once

#include <string_view>

#include <penstock/config.h>
#include <penstock/communicator.hpp>

#if PENSTOCK_HAVE_MPI
#include <mpi.h>

namespace penstock {

// Collective over COMM. Returns a private duplicate of COMM that returns errors. The duplicate is kept with COMM for
// the next call, together with reusable state (shared memory, plans of exchange), and freed with COMM, never after
// MPI_Finalize. Two uses at the same time get two duplicates. MPI_COMM_NULL gives the serial communicator and needs no
// MPI_Init. PATH is the file that the communicator is for, as waiting ranks name it.
Result<Communicator> mpi_communicator(MPI_Comm comm, std::string_view path = {});

// Collective over COMM. Makes some ranks I/O servers for transport "servers:kind=ranks". Their number is
// PENSTOCK_SERVER_RANKS, by default one rank of 16, spread over the nodes. Compute ranks get their communicator in
// COMPUTE. On a server the call serves requests and returns with MPI_COMM_NULL after all compute ranks called
// unsplit_servers or MPI_Finalize.
Status split_servers(MPI_Comm comm, MPI_Comm* compute);
// Collective over COMPUTE, after all files on it are closed. Stops the servers and frees COMPUTE.
Status unsplit_servers(MPI_Comm* compute);

}  // namespace penstock
#endif
