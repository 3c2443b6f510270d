// Against: by how much the values of a file differ from those of a reference.
#pragma once

#include <penstock/communicator.hpp>

#include "programs/diff/options.hpp"

namespace penstock::program {

// Collective. Compares all datasets of A with those of the reference B by unpacked values; rank 0 prints a line for
// each. Returns whether all are in both and within the limits.
Result<bool> compare_against(const Communicator& comm, const Options& options);

}  // namespace penstock::program
