// Meaning: what an HDF5 type says of its elements that no element type can, as attributes that others use for it.
#pragma once

#include "core/hdf5/attributes.hpp"
#include "core/hdf5/handles.hpp"

namespace penstock::hdf5 {

// Adds to ATTRIBUTES of a dataset of FILE_TYPE, which is not an array: of h5py's booleans dtype="bool", as xarray has
// it; of other enumerations CF's flag_values and flag_meanings; of IEEE half precision dtype="float16". What is there
// stays.
void add_meaning(hid_t file_type, AttributeMap& attributes);

}  // namespace penstock::hdf5
