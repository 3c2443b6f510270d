// The way from MPI's communicators to penstock's, in builds with MPI.
#pragma once

#include <penstock/config.h>
#include <penstock/communicator.hpp>

#if PENSTOCK_HAVE_MPI
#include <mpi.h>

namespace penstock {

// Collective over COMM. Makes a private duplicate whose errors are returned; it is freed with the last reference (never
// after MPI_Finalize). MPI_COMM_NULL is the serial communicator, and needs no MPI_Init.
Result<Communicator> mpi_communicator(MPI_Comm comm);

}  // namespace penstock
#endif
