// Library: which HDF5 is loaded, for those who do not see its header.
#pragma once

#include <string>

namespace penstock::hdf5 {

// Local. "1.10.8"; empty where it could not be initialised.
std::string library_version();

}  // namespace penstock::hdf5
