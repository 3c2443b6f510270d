// Attributes: converts between the catalogue and an open HDF5 object.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <penstock/attribute.hpp>

#include "core/hdf5/global_heap.hpp"
#include "core/hdf5/handles.hpp"
#include "core/hdf5/shared.hpp"
#include "core/model/catalogue.hpp"

namespace penstock::hdf5 {

using AttributeMap = std::map<std::string, Attribute>;

// Writes the attributes that CATALOGUE has for NAME ("" is the file).
Status write_attributes(hid_t object, const Catalogue& catalogue, const std::string& name, Shared& shared);

// The names of an object's attributes that no Attribute can hold as they are.
struct Unheld {
  std::vector<std::string> skipped;            // unsupported type (reference, ...), more than 8 dimensions or 256 MiB
  std::vector<std::string> rounded;            // read as f64, which has fewer bits
  std::map<std::string, std::string> damaged;  // what is wrong with each in the global heap
  bool unlisted = false;                       // the library does not know one of them, and lists none
};

// Adds the attributes of OBJECT to OUT, without those SKIPPED or DAMAGED. Code::damaged if another cannot be read or
// claims more bytes than the file has. HEAP is that of the file.
Status read_attributes(hid_t object, GlobalHeap& heap, AttributeMap& out, Unheld& unheld);

// Adds the HDF5 comment of OBJECT as attribute "comment", unless that exists.
void add_comment(hid_t object, AttributeMap& out);

}  // namespace penstock::hdf5
