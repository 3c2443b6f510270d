// Index: the contents of a file set as JSON: raw's sidecar, and dataset /_penstock/index in the HDF5 master of a set.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/status.hpp>

#include "core/model/layout.hpp"

namespace penstock {

// docs/formats/raw.md specifies it. All functions are local.
inline constexpr std::string_view index_schema = "penstock.index/1";
// Precedes the CRC-64 of all text before it.
inline constexpr std::string_view index_sum_key = ",\n \"crc64\": ";

// Encodes CONTENTS, with parts named without folder. Code::unsupported for foreign datasets and for datasets whose
// blocks differ in byte order; Code::invalid if two parts have the same file name.
Result<std::string> encode_index(const Contents& contents);

// Decodes TEXT and joins its parts with FOLDER ("" is the working directory). TEXT may be hostile: anything that
// encode_index could not have written for FORMAT, except for white space and the order of keys, is Code::damaged; the
// message names it. Verified: each block lies inside its dataset, no two blocks share a byte of a part, and if the
// blocks of a dataset have as many elements as the dataset, they tile it. Not verified: that the parts exist. A TEXT
// with a wrong CRC-64 is accepted and marked as Contents.altered.
Result<Contents> decode_index(std::string_view text, std::string_view format, std::string_view folder);

// For formats whose master is only the index: the bytes of the file; whether the first 512 bytes of a file are an index
// of FORMAT; and the contents of the file at PATH, after find_lost.
Result<std::vector<std::byte>> index_bytes(const Contents& contents);
bool is_index(std::span<const std::byte> head, std::string_view format);
Result<Contents> read_index(const std::string& path, std::string_view format);

// Adds parts to CONTENTS.lost that are not regular files, are links out of the folder, or lack bytes that CONTENTS
// places in them. Code::denied if a part cannot be examined.
Status find_lost(Contents& contents);
// The contents according to TEXT, the index in the file at PATH, after find_lost; errors name PATH.
Result<Contents> contents_of_index(std::string_view text, std::string_view format, const std::string& path);

}  // namespace penstock
