// Definitions: how a catalogue's names, shapes and attributes appear in an HDF5 file, and which HDF5 cannot hold.
#pragma once

#include <set>
#include <string>

#include "core/hdf5/handles.hpp"
#include "core/model/catalogue.hpp"

namespace penstock::hdf5 {

inline constexpr int64_t largest_chunk = (int64_t{1} << 32) - 1;  // bytes

// Why HDF5 cannot hold CATALOGUE, naming the dataset or attribute.
Status check_definitions(const Catalogue& catalogue);

// "fluid" of "fluid/rho", "" where there is no group; and "rho".
std::string group_name(const std::string& name);
std::string last_part(const std::string& name);
// Every group of CATALOGUE but the root, each after the group that it is in.
std::set<std::string> group_names(const Catalogue& catalogue);
// Null where OBJECT ("" is the file) has none.
const std::map<std::string, Attribute>* attributes_of(const Catalogue& catalogue, const std::string& object);

// The creation properties of a link to NAME.
Result<Properties> link_creation(const std::string& name);
// A dataspace of SHAPE; the first extent may grow where UNLIMITED.
Space dataset_space(const Dims& shape, bool unlimited);
// Whether storage that a creation property list describes stays in the folder of its file: external and virtual storage
// name other files, and a hostile file might name any file on the machine, or a pipe, which the library would wait for.
// PATH is the file's own.
Status check_inside(hid_t creation, const Dataset& dataset, const std::string& path);
// Of a read that failed with FAILURE: Code::unsupported where its storage, as a creation property list describes it,
// needs a filter that the library has not, or an external file that is not there; else FAILURE.
Status explain_failure(hid_t creation, const std::string& path, const Status& failure);

}  // namespace penstock::hdf5
