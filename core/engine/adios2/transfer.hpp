// Transfer: moves portions of datasets to and from an open folder; every call is local.
#pragma once

#include "core/engine/adios2/folder.hpp"

namespace penstock::bp5 {

// Whether DATASET is one value to ADIOS2, without dimensions.
bool is_value(const Dataset& dataset);

// Call between begin and end of a step. Contiguous elements must stay alive until the step ends. SCALARS: for each of
// EngineJob::datasets the bytes of its one element, on rank 0.
Status put(const EngineJob& job, const Folder& folder, const std::vector<std::vector<std::byte>>& scalars);
Status get(const EngineJob& job, const Folder& folder);

}  // namespace penstock::bp5
