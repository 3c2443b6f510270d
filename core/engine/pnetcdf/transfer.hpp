// Transfer: moves this rank's blocks as lists of boxes, one list per call.
#pragma once

#include <vector>

#include "core/engine/pnetcdf/file.hpp"
#include "core/engine/portions.hpp"

namespace penstock::pnetcdf {

enum class Way : uint8_t { collective, independent, nonblocking };

// Collective. VARIABLES belong to EngineJob::datasets; -1 for datasets without elements. A rank that fails still takes
// part in the remaining calls.
Status move(const EngineJob& job, const File& file, const std::vector<int>& variables, Way way, Direction direction);

}  // namespace penstock::pnetcdf
