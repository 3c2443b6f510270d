// Metadata size: how large the region at a file's head must be for all of its metadata.
#pragma once

#include <cstdint>

#include "core/model/catalogue.hpp"

namespace penstock::hdf5 {

// Attributes of an object that lie in its header; with more they move to a heap and a B-tree of their own, which is
// dearer to make, to read and to hold (docs/decisions/0011-definition-cost.md). HDF5's default is 8.
inline constexpr int64_t most_in_header = 64;

// An estimate, generous by a few tens of percent: too small costs a second attempt, too large wasted bytes in the file.
int64_t estimate_metadata_bytes(const Catalogue& catalogue);

// Attributes that HDF5 keeps outside object headers and as *raw data*: one of over 64 KiB, or of over 4 KiB on an
// object that has more than most_in_header. The largest such attribute's bytes, 0 where there is none.
int64_t largest_outside_header(const std::map<std::string, Attribute>& attributes);

}  // namespace penstock::hdf5
