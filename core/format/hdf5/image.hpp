// Image: the metadata of an HDF5 file or of the master of a set, made by libhdf5 in a private file without data.
#pragma once

#include "core/model/layout.hpp"

namespace penstock::hdf5 {

// The layout of everything in CATALOGUE, with metadata in one extent at offset 0, before the first byte of the first
// dataset. Only large indexes of encoded datasets are elsewhere: between the data of the others and theirs.
Result<Layout> image_layout(const Catalogue& catalogue, const LayoutOptions& options);

// The master: the small HDF5 file that makes a set of part files look like one file.
Result<std::vector<std::byte>> master_image(const Contents& contents);

// Rows of one chunk of an unlimited dataset: all rows if they have less than 4 GiB, else as many as make chunks
// contiguous. 0 if that is impossible.
int64_t rows_per_chunk(const Dataset& dataset, int64_t block);

}  // namespace penstock::hdf5
