// Attributes: converts between the catalogue and an open HDF5 object.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <penstock/attribute.hpp>

#include "core/hdf5/handles.hpp"
#include "core/hdf5/shared.hpp"

namespace penstock::hdf5 {

using AttributeMap = std::map<std::string, Attribute>;

Status write_attributes(hid_t object, const AttributeMap& attributes, Shared& shared);

// Adds the attributes of OBJECT to OUT. Attributes of unsupported type (references, variable-length lists), with more
// than 8 dimensions or more than 256 MiB are skipped and named in SKIPPED. Code::damaged if one cannot be read or
// claims more than FILE_BYTES.
Status read_attributes(hid_t object, int64_t file_bytes, AttributeMap& out, std::vector<std::string>& skipped);

// Adds the HDF5 comment of OBJECT as attribute "comment", unless that exists.
void add_comment(hid_t object, AttributeMap& out);

}  // namespace penstock::hdf5
