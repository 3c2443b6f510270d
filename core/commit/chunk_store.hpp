// ChunkStore: the chunks of one commit that this rank encodes.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/access/tile_files.hpp"
#include "core/base/workers.hpp"
#include "core/codec/codec.hpp"
#include "core/commit/contents.hpp"
#include "core/format/format.hpp"
#include "core/model/encoding.hpp"
#include "core/storage/aligned.hpp"

namespace penstock {

struct ChunkId {
  int dataset = 0;
  int64_t number = 0;
};

// Memory that is filled from its beginning.
struct ByteSegment {
  AlignedMemory memory;
  int64_t capacity = 0, used = 0;
};

// The encoded chunks of one dataset on this rank, in any order; those of zeros have no bytes.
struct LocalChunks {
  std::vector<ByteSegment> segments;  // no chunk is in two of them
  int64_t bytes = 0;                  // of all segments
  std::vector<EncodedChunk> chunks;   // offsets count through the segments
};

// All functions are local. CONTENTS and OLD must outlive it. Used by one thread at a time.
class ChunkStore {
 public:
  // OLD: the file of which datasets are kept; null: none.
  // WORKERS encode, if they are more than one.
  ChunkStore(const NewContents& contents, const Published* old, std::shared_ptr<Files> files, int workers);

  // Cuts dataset D into TILES, which CODEC encodes one by one.
  Status cut(size_t d, const Tiles& tiles, const Codec& codec, const CodecUse& use);

  const Dataset& dataset(int d) const { return contents_.catalogue.datasets[static_cast<size_t>(d)]; }
  const Tiles& tiles(int d) const { return *tiled_[static_cast<size_t>(d)].tiles; }
  bool is_cut(int d) const { return tiled_[static_cast<size_t>(d)].tiles.has_value(); }
  std::span<const Tiled> tiled() const { return tiled_; }
  int64_t tile_bytes(const ChunkId& chunk) const;
  // Whether something of dataset D in the published file stays in the new one.
  bool keeps(int d) const;

  // Encodes CHUNK, whose elements are TILE, at once or in a thread. An error may be that of an earlier chunk.
  Status add(const ChunkId& chunk, std::span<const std::byte> tile);
  // The same of CHUNK, all of whose ELEMENTS are in this rank's memory, which must stay until finish() has returned.
  Status add(const ChunkId& chunk, const Claim& elements);
  // Waits until all chunks are encoded. LOCAL is complete then.
  Status finish();
  // The elements of CHUNK that the published file has; the others become zero.
  Status read_old(const ChunkId& chunk, std::span<std::byte> tile);

  std::vector<LocalChunks>& local() { return local_; }  // of each dataset

 private:
  // One for each worker and dataset, made when it is needed.
  struct Encoders {
    const Codec* codec = nullptr;
    CodecUse use;
    std::vector<std::unique_ptr<ChunkEncoder>> of_worker;
  };

  // TILE may lack what pads it at the dataset's edge.
  Status encode(int worker, const ChunkId& chunk, std::span<const std::byte> tile);
  Result<ChunkEncoder*> encoder(int worker, int dataset);
  // Room for BYTES behind what dataset D has, in a segment of its own if need be. Null if memory is exhausted.
  std::byte* room(int d, int64_t bytes);
  void keep(const ChunkId& chunk, EncodedSize made);

  const NewContents& contents_;
  const Published* old_;
  std::shared_ptr<Files> files_;
  std::vector<Tiled> tiled_;  // tiles are chunks
  std::vector<LocalChunks> local_;
  std::vector<Encoders> encoders_;
  int open_index_ = -1;  // of the dataset of the published file that is open
  std::unique_ptr<ForeignDataset> open_;
  std::mutex mutex_;                                // of what follows and of LOCAL, while workers run
  std::vector<std::vector<std::byte>> free_tiles_;  // that a worker has encoded
  struct Room {
    std::vector<std::byte> gathered, padded, encoded;  // of one chunk
  };
  std::vector<Room> rooms_;  // of each worker
  Workers workers_;          // last: they use the others
};

}  // namespace penstock
