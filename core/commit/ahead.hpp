// Ahead: encoded chunks are written in batches while later ones are encoded, to places behind all else in the file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "core/base/io.hpp"
#include "core/commit/chunk_store.hpp"
#include "core/storage/storage.hpp"

namespace penstock {

// Less is not written ahead: each batch of each rank ends with a part of a block.
inline int64_t least_ahead(int ranks) { return std::max<int64_t>(min_direct_file, ranks * (int64_t{1} << 20)); }

// The file that a commit is making, as far as chunks may be written ahead. The same on all ranks.
struct AheadFile {
  std::string path;
  Io io = Io::buffered;
  int64_t begin = 0;  // of the bytes that are free for chunks
  int64_t end = 0;    // of those that have been taken
};

// Collective. Makes the file for datasets that get ENCODINGS, whose chunks are not known yet. Nothing if that cannot
// be; the file is then made when all sizes are known. Same status on all ranks.
using MakeAhead = std::function<Result<std::optional<AheadFile>>(std::span<const Encoding> encodings)>;

// How chunks become batches. ROUNDS is the same on all ranks.
struct Batches {
  int64_t rounds = 0;
  int64_t bytes = 0;  // at most, of this rank's chunks of a round; what is more stays in the store's memory
  // Adds the chunks of a round to the store; may be collective.
  std::function<Status(int64_t round)> encode;
};

// Collective. When the batches of a round have sizes, two reductions give them places in FILE, and each rank writes its
// own in a thread while it encodes the next one. After a failure on any rank all stop after the same round. Everything
// is written, but not synced, when it returns. Same status on all ranks. Returns the bytes that were held.
Result<int64_t> write_ahead(const Communicator& comm, Files& files, IoMode mode, ChunkStore& store,
                            const Batches& batches, AheadFile& file, PhaseTimes& phases);

}  // namespace penstock
