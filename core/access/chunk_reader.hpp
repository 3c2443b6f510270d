// ChunkReader: reads encoded datasets chunk by chunk, and decodes them beside the format's library.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "core/base/workers.hpp"
#include "core/codec/decode.hpp"
#include "core/format/format.hpp"
#include "core/model/catalogue.hpp"
#include "core/model/layout.hpp"

namespace penstock {

// Used by one thread, which alone calls the library. WORKERS decode, from the first read on, if they are more than one.
class ChunkReader {
 public:
  explicit ChunkReader(int workers) : count_(workers) {}

  // Whether it reads DATASET of CONTENTS: its chunks have filters that are decoded here, and elements of its own type.
  static bool reads(const Contents& contents, const Dataset& dataset);
  // The elements of BOX of DATASET, which is OPEN, in row-major order.
  // REQUIRES: reads(CONTENTS, DATASET).
  Status read(const Contents& contents, const Dataset& dataset, ForeignDataset& open, const Box& box,
              std::span<std::byte> out);

 private:
  StoredChunk free_chunk();

  const int count_;
  std::vector<DecodingRoom> rooms_;  // of each worker
  std::mutex mutex_;
  std::vector<StoredChunk> free_;   // memory for chunks to come
  std::optional<Workers> workers_;  // last: they use the others
};

}  // namespace penstock
