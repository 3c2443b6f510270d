// Variable text: datasets of variable-length strings, presented as texts with the length of the longest.
#pragma once

#include <cstdint>
#include <span>

#include "core/hdf5/handles.hpp"

namespace penstock::hdf5 {

// Opening a file does not examine datasets with more strings than this.
inline constexpr int64_t max_strings = int64_t{1} << 24;

// The length of the longest string in DATASET of type STORED, in bytes, at least 1. Reads all strings.
Result<int64_t> longest_string(hid_t dataset, hid_t stored);
// Reads the COUNT strings selected in SPACE of DATASET, each padded to BYTES at OUT; Code::mismatch if one is longer.
Status read_strings(hid_t dataset, hid_t stored, hid_t space, int64_t count, int64_t bytes, std::span<std::byte> out);

}  // namespace penstock::hdf5
