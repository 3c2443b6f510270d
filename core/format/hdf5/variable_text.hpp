// Variable text: datasets of strings of variable length, which are shown as texts as long as the longest.
#pragma once

#include <cstdint>
#include <span>

#include "core/hdf5/handles.hpp"

namespace penstock::hdf5 {

// More strings than this are not looked through when a file is opened.
inline constexpr int64_t most_strings = int64_t{1} << 24;

// The bytes of the longest string in DATASET, whose type is STORED, at least 1. It reads all of them.
Result<int64_t> longest_string(hid_t dataset, hid_t stored);
// The COUNT strings that are selected in SPACE of DATASET, each padded to BYTES at OUT; Code::mismatch where one is
// longer.
Status read_strings(hid_t dataset, hid_t stored, hid_t space, int64_t count, int64_t bytes, std::span<std::byte> out);

}  // namespace penstock::hdf5
