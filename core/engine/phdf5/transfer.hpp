// Transfer: moves data between memory and open datasets; the method determines the number of calls on each rank.
#pragma once

#include <span>

#include "core/engine/phdf5/options.hpp"
#include "core/engine/portions.hpp"

namespace penstock::phdf5 {

struct OpenDataset {
  size_t at = 0;  // index in EngineJob::datasets
  hdf5::DatasetHandle handle;
  hdf5::Type type;     // of its elements in memory
  int64_t rounds = 0;  // calls of the rank with most
};

// Limits for dividing a rank's blocks into HDF5 calls.
PortionLimits limits(const Options& options);
inline constexpr size_t datasets_at_once = 16;  // in one multi-dataset call

// Collective inside the library if OPTIONS say so. A rank that fails still takes part in the remaining calls.
Status move(const EngineJob& job, const Options& options, Direction direction, std::span<const OpenDataset> datasets);

}  // namespace penstock::phdf5
