// Library: the name that MPI reports.
#include "core/comm/library.hpp"

#include "core/comm/mpi/io_library.hpp"

namespace penstock {

std::string message_library() { return mpi_library_name(); }

}  // namespace penstock
