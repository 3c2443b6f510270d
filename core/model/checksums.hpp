// Checksums: CRC-64s of the blocks of datasets, computed from the pieces of any decomposition, and their record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/crc64.hpp"
#include "core/model/catalogue.hpp"
#include "core/model/layout.hpp"
#include "core/model/selection.hpp"

namespace penstock {

// docs/formats/checksums.md specifies the record. In a file of the format's own it is this dataset, which user calls
// neither list nor access; in a set it is in the index.
inline constexpr std::string_view record_name = "_penstock/checksums";

// The division of a dataset into blocks of ELEMENTS elements, counted from its first element; the last one may be
// shorter. Their sums are COUNT words from FIRST on.
struct BlockCut {
  int64_t elements = 0;
  int64_t first = 0, count = 0;
};

// For every dataset in the order of CATALOGUE, without the record itself (it has no blocks): blocks of about 1 MiB or
// more, fewer than 2^16 per dataset and 2^18 in all. For two sizes of one dataset, one block size divides the other.
std::vector<BlockCut> cut_blocks(const Catalogue& catalogue);
int64_t block_count(std::span<const BlockCut> cuts);

// Adds to SUMS the contribution of the elements of SELECTION at MEMORY to the blocks of CUT. SUMS are linear
// (core/base/crc64.hpp) and start as zeros. The sums of disjoint selections combine by xor to that of their union;
// missing elements count as zeros.
void add_to_sums(const Selection& selection, const std::byte* memory, int64_t element_bytes, const BlockCut& cut,
                 std::span<uint64_t> sums);
// The same for many datasets. What lists of short runs need is made once for all datasets that share a list.
class BlockSummer {
 public:
  void add(const Selection& selection, const std::byte* memory, int64_t element_bytes, const BlockCut& cut,
           std::span<uint64_t> sums);

 private:
  // The elements of a list of runs as terms of the sums of blocks of BLOCK_BYTES.
  struct Terms {
    Selection selection;
    int64_t element_bytes, block_bytes;
    std::vector<Crc64Term> list;
    struct Block {
      int64_t index;
      size_t end;  // in LIST
    };
    std::vector<Block> blocks;
  };
  static Terms make_terms(const Selection& selection, int64_t element_bytes, int64_t block_bytes);

  std::vector<Terms> known_;
};
// Size of block INDEX of a dataset, in bytes.
int64_t block_bytes(const Dataset& dataset, const BlockCut& cut, int64_t index);

// Information about a file besides its data, in 64-bit words.
struct Record {
  struct Sums {
    uint64_t name = 0;             // crc64 of the dataset's name
    int64_t elements = 0;          // of the dataset
    int64_t block_elements = 0;    // 0: not summed
    std::vector<uint64_t> blocks;  // crc64 of each
  };
  int64_t committed_at = 0;    // nanoseconds since 1970
  int64_t metadata_bytes = 0;  // from the start of the file; 0: not covered
  uint64_t metadata_sum = 0;
  std::vector<Sums> datasets;                         // in the catalogue's order
  std::unordered_map<uint64_t, size_t> by_name = {};  // index into DATASETS; for a decoded record

  // For a decoded record. Null if the dataset is not in it, has no sums, or has another size now.
  const Sums* find(const Dataset& dataset) const;
};

// Moves the dataset that is the record, if any, from the catalogue to a place where it is not listed.
void take_record_apart(Contents& contents);

// The largest number of words that encode() makes for the record of datasets with CUTS.
int64_t record_words(std::span<const BlockCut> cuts);
std::vector<uint64_t> encode(const Record& record);
// Code::damaged if WORDS do not begin with a record, or the record is not intact.
Result<Record> decode_record(std::span<const uint64_t> words);

}  // namespace penstock
