// Attributes: between the catalogue and an open HDF5 object.
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

// Adds OBJECT's attributes to OUT. Those whose type has no Kind (references, variable-length lists), of more than 8
// dimensions or of more than 256 MiB are left out, and named in SKIPPED. Code::damaged where one cannot be read or
// claims more than FILE_BYTES.
Status read_attributes(hid_t object, int64_t file_bytes, AttributeMap& out, std::vector<std::string>& skipped);

// Adds what HDF5 calls OBJECT's comment as the attribute "comment", unless there is one.
void add_comment(hid_t object, AttributeMap& out);

}  // namespace penstock::hdf5
