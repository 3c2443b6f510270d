// Transfer: the blocks of this rank as lists of boxes, one list to a call.
#pragma once

#include <vector>

#include "core/engine/pnetcdf/file.hpp"
#include "core/engine/portions.hpp"

namespace penstock::pnetcdf {

enum class Way : uint8_t { collective, independent, nonblocking };

// Collective. VARIABLES are those of Problem::datasets; -1 for datasets without elements. A rank that fails takes part
// in the calls that are left.
Status move(const Problem& problem, const File& file, const std::vector<int>& variables, Way way, Direction direction);

}  // namespace penstock::pnetcdf
