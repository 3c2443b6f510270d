// Meaning: attributes for properties of an HDF5 type that element types cannot express.
#pragma once

#include "core/hdf5/attributes.hpp"
#include "core/hdf5/handles.hpp"
#include "core/model/catalogue.hpp"

namespace penstock::hdf5 {

// Adds to ATTRIBUTES of a dataset of FILE_TYPE, which is not an array: dtype="bool" for h5py's booleans, as in xarray;
// CF's flag_values and flag_meanings for other enumerations; dtype="float16" for IEEE half precision; the mark below
// for texts in UTF-8. Existing attributes stay.
void add_meaning(hid_t file_type, AttributeMap& attributes);

// _Encoding="utf-8", as netCDF has it. In HDF5 the character set of a dataset's type says so: beside strings netCDF-4
// tools do not expect the attribute.
bool is_utf8_mark(const Attribute& attribute);
// Whether dataset NAME of CATALOGUE has it.
bool is_utf8(const Catalogue& catalogue, const std::string& name);

}  // namespace penstock::hdf5
