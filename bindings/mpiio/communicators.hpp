// Communicators: those of files that are closed serve the next ones. HDF5 and PnetCDF open each file by a duplicate of
// their own, and what penstock keeps with a communicator takes longer to make than a small file to read.
#pragma once

#include <mpi.h>

#include <string>

#include <penstock/communicator.hpp>

namespace penstock::mpiio {

// Collective over COMM. All its ranks choose the same: they open and close files in one order if none calls MPI by
// several threads at once.
Result<Communicator> communicator_for(MPI_Comm comm, const std::string& path);
// Local. Whether this rank can keep one more for other files.
bool may_share_communicators();
// Local, with the same WITH_OTHERS on all ranks of a file: whether its communicator serves others after it.
void use_communicator(const Communicator& comm, bool with_others);
// Local, on all its ranks: its file is closed, and the communicator serves the next one. A call whose error handler has
// closed the file may still hold both.
void leave_communicator(const Communicator& comm);
// Local, on all its ranks.
void drop_communicator(const Communicator& comm);
// Collective, before MPI ends.
void free_communicators();

}  // namespace penstock::mpiio
