// Image: the metadata of an HDF5 file, made by libhdf5 in a private file that holds no data.
#pragma once

#include "core/format/hdf5/private_file.hpp"
#include "core/model/layout.hpp"

namespace penstock::hdf5 {

// Where everything in CATALOGUE lies, with all metadata in one extent at offset 0, below the first dataset's first
// byte.
Result<Layout> image_layout(const Catalogue& catalogue, const Alignment& alignment);

// Rows of one chunk of an unlimited dataset: all of them where that is less than 4 GiB, else so many that chunks lie
// one behind another. 0 where that cannot be.
int64_t rows_per_chunk(const Dataset& dataset, int64_t block);

}  // namespace penstock::hdf5
