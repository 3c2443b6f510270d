// Library: the version of the loaded HDF5, for code that does not include its header.
#pragma once

#include <string>

namespace penstock::hdf5 {

// Local. "1.10.8"; empty if initialisation failed.
std::string library_version();

}  // namespace penstock::hdf5
