// Meaning: attributes for properties of an HDF5 type that element types cannot express.
#pragma once

#include "core/hdf5/attributes.hpp"
#include "core/hdf5/handles.hpp"

namespace penstock::hdf5 {

// Adds to ATTRIBUTES of a dataset of FILE_TYPE, which is not an array: dtype="bool" for h5py's booleans, as in xarray;
// CF's flag_values and flag_meanings for other enumerations; dtype="float16" for IEEE half precision. Existing
// attributes stay.
void add_meaning(hid_t file_type, AttributeMap& attributes);

}  // namespace penstock::hdf5
