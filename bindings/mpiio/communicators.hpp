// Communicators: those of files that are closed serve the next ones. HDF5 and PnetCDF open each file by a duplicate of
// their own, and what penstock keeps with a communicator takes longer to make than a small file to read.
#pragma once

#include <mpi.h>

#include <memory>

#include <penstock/communicator.hpp>

namespace penstock::mpiio {

struct File;

// Collective over COMM.
Result<Communicator> communicator_for(MPI_Comm comm, const std::string& path);
// Local. That of FILE may serve others after it. It is the same on all ranks whether this is called, and only where no
// rank calls MPI by several threads at once: then all ranks open and close files in one order.
void share_communicator(const std::shared_ptr<File>& file);
// Collective, before MPI ends, or where one of them cannot be used any more.
void free_communicators();

}  // namespace penstock::mpiio
