// Dimension scales: HDF5's representation of dimension names, for xarray, netCDF-4 and h5py.
#pragma once

#include <string_view>

#include "core/hdf5/handles.hpp"
#include "core/model/dimension_scales.hpp"

namespace penstock::hdf5 {

// netCDF-4's mark of a scale that is not a dataset of the user.
inline constexpr std::string_view dimension_only_name = "This is a netCDF dimension but not a netCDF variable.";

// Code::invalid if an attribute in CATALOGUE has a name that HDF5 needs for dimension scales.
Status check_scales(const Catalogue& catalogue);

// Writes SCALES in FILE, which contains the datasets. In a parallel file all ranks make the same call.
Status write_scales(hid_t file, const DimensionScales& scales);

// The additional metadata of SCALES: CATALOGUE with attributes and datasets of the same size; and bytes of the file's
// heap, which HDF5 places like data.
Catalogue with_scales(const Catalogue& catalogue, const DimensionScales& scales);
int64_t heap_bytes(const DimensionScales& scales);

}  // namespace penstock::hdf5
