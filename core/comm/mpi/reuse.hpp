// Reuse: one duplicate of a communicator for one file after another, since what is kept with it (the node's shared
// memory, plans of exchange) is dear to make.
#pragma once

#include <mpi.h>

#include <functional>

#include <penstock/communicator.hpp>

namespace penstock {

using Make = std::function<Result<Communicator>()>;

// Collective over COMM. What MAKE returned at an earlier call with COMM, unless a rank still uses it or it is spoiled;
// then a new one. MAKE_PLAIN, at the first call, makes one to ask on. What is kept goes when COMM is freed.
Result<Communicator> reuse_duplicate(MPI_Comm comm, const Make& make_plain, const Make& make);

}  // namespace penstock
