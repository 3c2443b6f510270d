// Variable text: datasets of variable-length strings, presented as texts with the length of the longest.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/hdf5/global_heap.hpp"

namespace penstock::hdf5 {

// Opening a file does not examine datasets with more strings than this.
inline constexpr int64_t max_strings = int64_t{1} << 24;

// HEAP is that of the file, or null for a virtual dataset, whose strings are in the heaps of other files: there the
// library reads them, after check_string_sources.

// The length of the longest string in DATASET, in bytes, at least 1. Reads all strings, until one is longer than MOST.
Result<int64_t> longest_string(hid_t dataset, GlobalHeap* heap, int64_t most);
// Reads the COUNT strings selected in SPACE of DATASET, each padded to BYTES at OUT; Code::mismatch if one is longer.
Status read_strings(hid_t dataset, GlobalHeap* heap, hid_t space, int64_t count, int64_t bytes,
                    std::span<std::byte> out);
// Whether the library can safely read the strings of a virtual dataset of the file at PATH with properties CREATION.
// Reads all strings of its sources.
Status check_string_sources(hid_t creation, const std::string& path);

}  // namespace penstock::hdf5
