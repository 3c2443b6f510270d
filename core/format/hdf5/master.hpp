// Master: the small HDF5 file that makes a set of part files look like one file.
#pragma once

#include <cstddef>
#include <vector>

#include "core/model/layout.hpp"

namespace penstock::hdf5 {

Result<std::vector<std::byte>> master_image(const Contents& contents);

}  // namespace penstock::hdf5
