// Layout: the locations of datasets and metadata in files, as plain data. Formats create it, transports follow it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/catalogue.hpp"
#include "core/model/encoding.hpp"
#include "core/model/selection.hpp"

namespace penstock {

// A contiguous range of bytes.
struct Extent {
  int32_t part = 0;
  int64_t offset = 0;
  int64_t length = 0;
};

// A stored block of a dataset: its elements, in row-major order of WHERE's packed shape, from byte BASE of part PART.
struct StoredBlock {
  int32_t part = 0;
  int64_t base = 0;      // undefined if the block has no bytes
  bool swapped = false;  // stored in the opposite of native byte order
  Selection where;       // in the dataset's shape; memory is not used
  // Distance in bytes between rows of the first dimension, if other datasets lie between them; 0: packed.
  int64_t row_stride = 0;
};

// Bytes from BLOCK's base to one past its last byte; 0 if it has no elements.
int64_t span_bytes(const StoredBlock& block, int64_t element_bytes);

// The layout of one part.
struct Layout {
  struct Metadata {
    int64_t offset = 0;
    std::vector<std::byte> bytes;
  };
  std::vector<StoredBlock> blocks;  // the whole of each dataset, in the order of the catalogue
  std::vector<Metadata> metadata;
  int64_t end = 0;     // size of the part; a writer may round it up to its block
  bool exact = false;  // other tools reject a longer part: it is cut to END after writing
};

// What a format must know to lay out a catalogue, besides it.
struct LayoutOptions {
  int64_t block = 4096;  // datasets of at least so many bytes are aligned to it; smaller ones are packed
  std::span<const Encoding> encodings = {};  // of each dataset; none: no dataset is encoded
  // Bytes of the part that have encoded chunks already. Chunks that are not written come behind them, all else before.
  Extent written = {};

  bool encoded(size_t dataset) const { return !encodings.empty() && encodings[dataset].used(); }
  int64_t stored_bytes(const Catalogue& catalogue, size_t dataset) const {
    return encoded(dataset) ? encodings[dataset].bytes : bytes(catalogue.datasets[dataset]);
  }
};

// The checksum of a file or of its beginning.
struct FileSum {
  int64_t bytes = 0;  // from the start of the file
  uint64_t sum = 0;   // crc64 of them
};

// For a set: data from which any one of its files can be rebuilt (docs/formats/raw.md).
struct Parity {
  std::string path;
  FileSum file;
  std::vector<FileSum> parts;
};

// The encoded chunks of a dataset in one part, by number, with offsets in it; absent ones are zeros.
struct ListedChunks {
  int32_t part = 0;
  std::vector<EncodedChunk> chunks;

  int64_t end() const;  // one past the last byte
};

// A file or a set of files, as read: its contents and their locations.
struct Contents {
  std::string format;
  std::string generation;  // of a set
  std::string replaced;    // the previous generation, whose parts the next commit removes
  Catalogue catalogue;
  std::vector<std::string> parts;                // paths beside the master; the master itself for a single file
  std::vector<std::vector<StoredBlock>> blocks;  // for each dataset; none: only its library can read it
  std::vector<bool> foreign;                     // for each dataset: chunked, filtered, compact or of another type
  std::map<std::string, Dims> chunks;  // chunk extents of chunked foreign datasets, whose chunks are read whole
  std::map<std::string, std::vector<Filter>> filters;  // of those CHUNKS whose elements are as we write them
  std::map<std::string, ListedChunks> listed;          // of those that an index describes, which no library finds
  std::string left_out;  // the first item in the file that a catalogue cannot hold unchanged; "" if there is none
  std::vector<std::string> unread;  // all omitted items, by name and with the reason, up to some number
  // The first item that is presented in another form than stored, also in a copy; "" if there is none.
  std::string converted;
  // For a set: parts that are missing or too short, and why. Their contents are then in no block.
  struct Lost {
    int32_t part = 0;
    Status why;                      // names the part
    std::vector<std::string> boxes;  // of elements: "'rho': (0, 0) to (63, 127)"
  };
  std::vector<Lost> lost;
  std::vector<FileSum> heads;  // of a set's parts: sums of the bytes before their data; none if not covered
  std::optional<Parity> parity;
  bool altered = false;  // of a set: its index differs from what was committed
  // The record of checksums (core/model/checksums.hpp), if any. For a set its words. In a single file it is a dataset,
  // which readers list with the others until take_record_apart.
  std::vector<uint64_t> record;
  std::vector<StoredBlock> record_blocks;
  int64_t record_words = 0;
  bool record_foreign = false;

  // Notes that WHAT, "'name' is something", is in the file but not in the catalogue.
  void leave_out(std::string what);
  // Why OBJECT, which is in the file, is not in the catalogue: "is a dataset of a compound type, ..."; otherwise "".
  std::string why_unread(std::string_view object) const;
};

// The name of the K-th block (from 0) of dataset NAME inside a part of a set: NAME, NAME#000001, NAME#000002, ...;
// names sort in block order. A "#" in NAME itself is doubled, since "a#000001" may also be a dataset.
std::string part_dataset_name(std::string_view name, int64_t k);

// The elements in PART, as the first and the last of each contiguous range: "'rho': (0, 0) to (63, 127)".
std::vector<std::string> elements_in(const Contents& contents, int32_t part);

std::vector<std::byte> encode(const Contents& contents);
Result<Contents> decode_contents(std::span<const std::byte> bytes);

}  // namespace penstock
