// Library: the name that MPI reports.
#include "core/comm/library.hpp"

#include <mpi.h>

#include "core/comm/mpi/io_library.hpp"

namespace penstock {

std::string message_library() { return mpi_library_name(); }

int program_size() {
  int started = 0, ended = 0, size = 1;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  if (started && !ended) MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

}  // namespace penstock
