// Read: the contents of an HDF5 file of any origin.
#pragma once

#include <memory>
#include <string>

#include "core/format/format.hpp"
#include "core/hdf5/stored_bytes.hpp"
#include "core/model/layout.hpp"

namespace penstock::hdf5 {

// The first bytes of an HDF5 file, or those after its user block.
inline constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";
// The group of penstock's own data, which other tools can ignore.
inline constexpr const char* own_group = "_penstock";
inline constexpr const char* index_dataset = "_penstock/index";

// Opens an existing file. Code::not_found, Code::denied, or Code::damaged if it is not HDF5, truncated or corrupt.
Result<File> open_file(const std::string& path);

// The catalogue and blocks of a single file, or the index in the master of a set.
Result<Contents> read_contents(const std::string& path);

// The stored blocks of an open dataset in FILE, in the order of elements; FOREIGN if only the library can read it.
Status find_blocks(hid_t dataset, const Dataset& definition, const StoredBytes& file, bool swapped,
                   std::vector<StoredBlock>& blocks, bool& foreign);

Result<std::unique_ptr<ForeignDataset>> open_foreign(const std::string& path, const Dataset& dataset,
                                                     int64_t cache_bytes);

}  // namespace penstock::hdf5
