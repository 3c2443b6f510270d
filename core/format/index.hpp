// Index: a file set's contents as JSON; raw's sidecar, and the dataset /_penstock/index in the HDF5 master of a set.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/status.hpp>

#include "core/model/layout.hpp"

namespace penstock {

// docs/formats/raw.md is its specification. All functions are local.
inline constexpr std::string_view index_schema = "penstock.index/1";
// Before the CRC-64 of all text before it.
inline constexpr std::string_view index_sum_key = ",\n \"crc64\": ";

// CONTENTS with its parts named by file name only. Code::unsupported for foreign datasets and for datasets whose blocks
// differ in byte order, Code::invalid for two parts of one file name.
Result<std::string> encode_index(const Contents& contents);

// What TEXT says, its parts joined with FOLDER ("" is the working directory). TEXT may be hostile: anything but an
// index of FORMAT that encode_index could have written, up to white space and the order of keys, is Code::damaged,
// naming what. Proved here: each block lies inside its dataset, no two share a byte of a part, and where the blocks of
// a dataset have as many elements as it has, they tile it. Not looked at: whether the parts exist. A text that has
// another CRC-64 than it says is taken, as Contents.altered.
Result<Contents> decode_index(std::string_view text, std::string_view format, std::string_view folder);

// The same for formats whose master is the index alone: the file's bytes; whether the first 512 bytes of a file are an
// index of FORMAT; and what the file at PATH says, after find_lost.
Result<std::vector<std::byte>> index_bytes(const Contents& contents);
bool is_index(std::span<const std::byte> head, std::string_view format);
Result<Contents> read_index(const std::string& path, std::string_view format);

// Each part is a regular file, no link out of the folder, that holds all bytes that CONTENTS places in it, or else is
// one of CONTENTS.lost from now on. Code::denied where a part cannot be looked at.
Status find_lost(Contents& contents);

}  // namespace penstock
