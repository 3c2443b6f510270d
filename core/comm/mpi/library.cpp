// Library: the name that MPI reports.
#include "core/comm/library.hpp"

#include <mpi.h>

#include "core/comm/mpi/io_library.hpp"
#include "core/comm/mpi/native.hpp"

namespace penstock {

std::string message_library() { return mpi_library_name(); }

int program_size() {
  int size = 1;
  if (mpi_runs()) MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

}  // namespace penstock
