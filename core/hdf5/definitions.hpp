// Definitions: maps names, shapes and attributes of a catalogue to HDF5, and checks that HDF5 supports them.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include <penstock/decomposition.hpp>

#include "core/hdf5/handles.hpp"
#include "core/model/catalogue.hpp"
#include "core/model/encoding.hpp"

namespace penstock::hdf5 {

inline constexpr int64_t largest_chunk = (int64_t{1} << 32) - 1;  // bytes

// ok, or why HDF5 cannot hold CATALOGUE, naming the dataset or attribute.
Status check_definitions(const Catalogue& catalogue);

// "fluid" for "fluid/rho", "" without a group; and "rho".
std::string group_name(const std::string& name);
std::string last_part(const std::string& name);
// All groups of CATALOGUE except the root, parents before children.
std::set<std::string> group_names(const Catalogue& catalogue);

// A dataspace of SHAPE; if UNLIMITED, the first extent may grow.
Space dataset_space(const Dims& shape, bool unlimited);
// Selects BOX of SPACE, by OPERATION with what is selected; nothing to do for a scalar. False if the library reports an
// error.
bool select_box(hid_t space, const Box& box, H5S_seloper_t operation = H5S_SELECT_SET);
// The shape of SPACE, {0} for a null space, and whether the first extent may grow. Nothing if Dims cannot hold it.
std::optional<Dims> shape_of(hid_t space, bool& unlimited);
// Whether the storage that CREATION describes stays in the folder of the file at PATH. External and virtual storage
// name other files; a hostile file might name any file on the machine, or a pipe that would block the library.
Status check_inside(hid_t creation, const std::string& path);
// The files of external storage, by name.
Result<std::vector<std::string>> external_files(hid_t creation);
// The sources of a virtual dataset; none for other datasets.
struct VirtualSource {
  std::string file, dataset;
};
Result<std::vector<VirtualSource>> virtual_sources(hid_t creation);
// The filters of CREATION, as applied: "shuffle", "deflate 4", "32099".
std::vector<std::string> filter_names(hid_t creation);
std::vector<std::string> names_of(std::span<const Filter> filters);
// The same as numbers, with their values.
std::vector<Filter> filters_of(hid_t creation);
// Code::unsupported if the storage that CREATION describes needs a filter that the library does not have, or another
// file that does not exist.
Status check_sources(hid_t creation, const std::string& path);
// Explains a read that failed with FAILURE: the status of check_sources if that failed, otherwise FAILURE.
Status explain_failure(hid_t creation, const std::string& path, const Status& failure);

}  // namespace penstock::hdf5
