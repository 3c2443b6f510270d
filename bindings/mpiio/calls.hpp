// Calls: our functions in the place of MPI's, by their names without MPI_.
#pragma once

#include <mpi.h>

#include "bindings/mpiio/file.hpp"

namespace penstock::mpiio {

// Views of one opening that MPI is told at once; it learns of later ones when it needs them. HDF5 sets two for each
// collective write.
inline constexpr int most_given_views = 4;

// Collective. MPI gets the view of FILE.
Status give_view(File& file);

}  // namespace penstock::mpiio
