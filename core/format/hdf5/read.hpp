// Read: what is in an HDF5 file, whoever wrote it.
#pragma once

#include <span>
#include <string>

#include "core/hdf5/handles.hpp"
#include "core/model/layout.hpp"

namespace penstock::hdf5 {

// Where penstock keeps what other tools may ignore.
inline constexpr const char* own_group = "_penstock";
inline constexpr const char* index_dataset = "_penstock/index";

// Opens an existing file; Code::not_found, Code::denied, or Code::damaged where it is not HDF5, was cut off or is
// corrupt.
Result<File> open_file(const std::string& path, int64_t& file_bytes);

// A single file's catalogue and blocks, or what the index of a set's master says.
Result<Contents> read_contents(const std::string& path);

// One stored block after another of an open dataset, in the order of elements; FOREIGN where only the library can read
// it.
Status find_blocks(hid_t dataset, const Dataset& definition, int64_t file_bytes, bool swapped,
                   std::vector<StoredBlock>& blocks, bool& foreign);

Status read_box(const std::string& path, const Dataset& dataset, const Box& box, std::span<std::byte> out);

}  // namespace penstock::hdf5
