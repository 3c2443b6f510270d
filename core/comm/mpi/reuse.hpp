// Reuse: one duplicate of a communicator for one file after another, since what is kept with it (the node's shared memory,
// plans of exchange) is dear to make.
#pragma once

#include <mpi.h>

#include <functional>

#include <penstock/communicator.hpp>

namespace penstock {

// Collective over COMM. What MAKE returned at an earlier call with COMM, unless a rank still uses it or it is spoiled; then
// a new one. What is kept goes when COMM is freed.
Result<Communicator> reuse_duplicate(MPI_Comm comm, const std::function<Result<Communicator>()>& make);

}  // namespace penstock
