// Transfer: data between memory and open datasets, in as many calls on each rank as the method demands.
#pragma once

#include <span>
#include <vector>

#include "core/engine/phdf5/options.hpp"
#include "core/engine/portions.hpp"

namespace penstock::phdf5 {

struct OpenDataset {
  int index = 0;  // into the catalogue
  hdf5::DatasetHandle handle;
  hdf5::Type type;     // of its elements in memory
  int64_t rounds = 0;  // calls of the rank that has most
};

// How a rank's blocks are cut for HDF5.
PortionLimits limits(const Options& options);
inline constexpr size_t datasets_at_once = 16;  // in one call that moves several

// Collective inside the library where OPTIONS say so. A rank that fails takes part in the calls that are left.
Status move(const Problem& problem, const Options& options, Direction direction, std::span<const OpenDataset> datasets);

}  // namespace penstock::phdf5
