// Verify: what was written is looked at by plain system calls, since some MPI-IO libraries report success of data that
// is lost.
#pragma once

#include <vector>

#include "core/transport/mpiio/options.hpp"
#include "core/transport/transport.hpp"

namespace penstock::mpiio {

// Local, after PART was closed by all ranks. Compares the file with the memory of PIECES, all of PART: at a few places,
// or everywhere. Nothing where other pieces may have been written over them.
Status verify_part(const Job& job, const Part& part, const std::vector<const Piece*>& pieces, Verify how);

}  // namespace penstock::mpiio
