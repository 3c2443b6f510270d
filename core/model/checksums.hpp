// Checksums: CRC-64s of the blocks of datasets, made from any decomposition's pieces, and the record that keeps them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/model/catalogue.hpp"
#include "core/model/layout.hpp"
#include "core/model/selection.hpp"

namespace penstock {

// docs/formats/checksums.md is the specification of the record. In a file of its own format it is this dataset, which
// users' calls neither see nor name; in a set it is in the index.
inline constexpr std::string_view record_name = "_penstock/checksums";

// How a dataset is cut: blocks of ELEMENTS elements each, the last one shorter, counted from its first element. Their
// sums are COUNT words from FIRST on.
struct BlockCut {
  int64_t elements = 0;
  int64_t first = 0, count = 0;
};

// Of every dataset in the order of CATALOGUE, the record itself left out (it has no blocks): at least 1 MiB, about;
// fewer than 2^16 of a dataset and 2^18 of all. Block sizes of one dataset at any two sizes of it divide each other.
std::vector<BlockCut> cut_blocks(const Catalogue& catalogue);
int64_t block_count(std::span<const BlockCut> cuts);

// Adds to SUMS, which are linear (core/base/crc64.hpp) and begin as zeros, what the elements of SELECTION at MEMORY
// contribute to the blocks of CUT. The sums of disjoint selections add up (xor) to those of their union, and elements
// that nobody adds count as zeros.
void add_to_sums(const Selection& selection, const std::byte* memory, int64_t element_bytes, const BlockCut& cut,
                 std::span<uint64_t> sums);
// Bytes of block INDEX of a dataset.
int64_t block_bytes(const Dataset& dataset, const BlockCut& cut, int64_t index);

// What is known of a file besides its data: all in 64-bit words.
struct Record {
  struct Sums {
    uint64_t name = 0;             // crc64 of the dataset's name
    int64_t elements = 0;          // of the dataset
    int64_t block_elements = 0;    // 0: not summed
    std::vector<uint64_t> blocks;  // crc64 of each
  };
  int64_t committed_at = 0;    // nanoseconds since 1970
  int64_t metadata_bytes = 0;  // from the file's start on; 0: they are not covered
  uint64_t metadata_sum = 0;
  std::vector<Sums> datasets;                         // in the catalogue's order
  std::unordered_map<uint64_t, size_t> by_name = {};  // which of DATASETS; of a record that was decoded

  // Of a record that was decoded. Null where the dataset is not in it, was not summed, or has another size by now.
  const Sums* find(const Dataset& dataset) const;
};

// Moves the dataset that is the record, if there is one, from the catalogue to where nobody lists it.
void take_record_apart(Contents& contents);

// The most words that encode() makes of the record of datasets that are cut so.
int64_t record_words(std::span<const BlockCut> cuts);
std::vector<uint64_t> encode(const Record& record);
// Code::damaged where WORDS do not begin with a record, or it is not as it was written.
Result<Record> decode_record(std::span<const uint64_t> words);

}  // namespace penstock
