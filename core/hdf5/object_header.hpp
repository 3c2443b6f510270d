// Object header: what of an object must be known before libhdf5 opens it.
#pragma once

#include "core/hdf5/global_heap.hpp"

namespace penstock::hdf5 {

// The part of a new header that has its list of filters, with the checksum at its end.
struct FilterList {
  uint64_t address = 0, bytes = 0;
  std::vector<size_t> numbers;  // where in the part the number of each filter is, in two bytes
};

struct ObjectHeader {
  uint64_t compact_bytes = ~uint64_t{0};      // how many of a compact dataset are in the header, as it says
  bool is_cut = false;                        // the header has fewer
  uint64_t chunk_index = ~uint64_t{0};        // the address of a chunked dataset's B-tree of version 1
  bool fill_elsewhere = false;                // a fill value is stored with another object
  FilterList filters;                         // of a header in the new form, if its list is, too
  std::vector<HeapElement> mappings;          // of a virtual dataset; LENGTH is not used
  std::vector<std::vector<std::byte>> fills;  // its fill values, as stored
};

// The header at ADDRESS as far as it can be understood: the library judges the rest.
ObjectHeader read_header(const StoredBytes& file, uint64_t address);

// Code::damaged if the library cannot safely open the dataset. Damage to mappings is found by their checksum.
Status check_layout(const ObjectHeader& header, GlobalHeap& heap);
// The same for the fill values of a dataset of strings of variable length.
Status check_fills(const ObjectHeader& header, GlobalHeap& heap);

}  // namespace penstock::hdf5
