// Reuse: keeps one duplicate of a communicator for successive files, since the attached state (the node's shared
// memory, plans of exchange) is expensive to create.
#pragma once

#include <mpi.h>

#include <functional>
#include <string_view>

#include <penstock/communicator.hpp>

namespace penstock {

using Make = std::function<Result<Communicator>()>;

// Collective over COMM. Returns the result of MAKE from an earlier call with COMM, unless a rank still uses it or it is
// poisoned; then calls MAKE again. At the first call MAKE_PLAIN makes a communicator for this agreement. Freeing COMM
// releases what is kept. PATH: as in mpi_communicator.
Result<Communicator> reuse_duplicate(MPI_Comm comm, std::string_view path, const Make& make_plain, const Make& make);

}  // namespace penstock
