// Metadata size: estimates the size of the metadata region at the start of a file.
#pragma once

#include <cstdint>

#include "core/model/catalogue.hpp"

namespace penstock::hdf5 {

// The largest number of attributes in an object's header. More attributes move to a heap and a B-tree, which cost more
// to create, read and store (docs/decisions/0011-definition-cost.md). HDF5's default is 8.
inline constexpr int64_t max_in_header = 64;

// An estimate, too large by some tens of percent: too small costs a second attempt, too large wastes bytes in the file.
int64_t estimate_metadata_bytes(const Catalogue& catalogue);

// Attributes that HDF5 keeps outside object headers and as *raw data*: those over 64 KiB, or over 4 KiB on an object
// with more than max_in_header attributes. Returns the size of the largest one; 0 if there is none.
int64_t largest_outside_header(const std::map<std::string, Attribute>& attributes);

}  // namespace penstock::hdf5
