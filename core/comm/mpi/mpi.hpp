// The way from MPI's communicators to ours.
#pragma once

#include <mpi.h>
#include <penstock/communicator.hpp>

namespace penstock {

// Collective over COMM. Makes a private duplicate whose errors are returned; freed with the last reference, which is
// collective in the way of MPI_Comm_free (done lazily after MPI_Finalize: never). MPI_COMM_NULL is the serial
// communicator.
Result<Communicator> mpi_communicator(MPI_Comm comm);

}  // namespace penstock
