// Transfer: portions of datasets into and out of an open folder; every call is local.
#pragma once

#include "core/engine/adios2/folder.hpp"

namespace penstock::bp5 {

// Between the beginning and the end of a step. Elements that lie without gaps must stay until the step ends.
// SCALARS: of each of Problem::datasets the bytes of its one element, on rank 0.
Status put(const Problem& problem, const Folder& folder, const std::vector<std::vector<std::byte>>& scalars);
Status get(const Problem& problem, const Folder& folder);

}  // namespace penstock::bp5
