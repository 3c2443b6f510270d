// Verify: checks written data by plain system calls, since some MPI-IO libraries report success for data that is lost.
#pragma once

#include <vector>

#include "core/transport/mpiio/options.hpp"
#include "core/transport/transport.hpp"

namespace penstock::mpiio {

// Local, after all ranks closed PART. Compares the file with the memory of PIECES, those of PART with elements: at a
// few places, or everywhere. Skips data that other pieces may have overwritten.
Status verify_part(const Job& job, const Part& part, const std::vector<const Piece*>& pieces, Verify how);

}  // namespace penstock::mpiio
