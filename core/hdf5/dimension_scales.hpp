// Dimension scales: how HDF5 says what the dimensions of datasets are called, so that xarray, netCDF-4 and h5py know
// it.
#pragma once

#include <string_view>

#include "core/hdf5/handles.hpp"
#include "core/model/dimension_scales.hpp"

namespace penstock::hdf5 {

// How netCDF-4 marks a scale that is no dataset of anybody's.
inline constexpr std::string_view dimension_only_name = "This is a netCDF dimension but not a netCDF variable.";

// Makes SCALES in FILE, whose datasets are there. In a parallel file all ranks call it alike.
Status write_scales(hid_t file, const DimensionScales& scales);

// How much that adds to the metadata: CATALOGUE with attributes and datasets of that size; and bytes of the file's
// heap, which HDF5 places as if they were data.
Catalogue with_scales(const Catalogue& catalogue, const DimensionScales& scales);
int64_t heap_bytes(const DimensionScales& scales);

}  // namespace penstock::hdf5
