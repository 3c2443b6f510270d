// ChunkStore: the chunks of one commit that this rank encodes.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "core/access/chunk_reader.hpp"
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
  std::vector<EncodedChunk> chunks;   // offsets count through the segments, but of those that are written
};

// All functions are local. CONTENTS and OLD must outlive it. Used by one thread at a time.
class ChunkStore {
 public:
  // OLD: the file of which datasets are kept; null: none. WORKERS encode, if they are more than one.
  ChunkStore(NewContents& contents, const Published* old, std::shared_ptr<Files> files, int workers);

  // Cuts dataset D into TILES.
  void cut(size_t d, const Tiles& tiles);
  // The elements of dataset D are rounded first, to BITS of their mantissas.
  void round(size_t d, int bits) { ways_[d].keep_bits = bits; }
  // The chunks of dataset D are encoded by CODEC for USE, with FILTERS.
  Status encode_by(size_t d, const Codec& codec, const CodecUse& use, std::span<const Filter> filters);

  const Dataset& dataset(int d) const { return contents_.catalogue.datasets[static_cast<size_t>(d)]; }
  const Tiles& tiles(int d) const { return *tiled_[static_cast<size_t>(d)].tiles; }
  bool is_cut(int d) const { return tiled_[static_cast<size_t>(d)].tiles.has_value(); }
  std::span<const Tiled> tiled() const { return tiled_; }
  int64_t tile_bytes(const ChunkId& chunk) const;
  // Whether something of dataset D in the published file stays in the new one.
  bool keeps(int d) const;
  // The filters of dataset D in the published file, if it has the same chunks there and the same elements as now.
  std::span<const Filter> old_filters(size_t d) const;

  // Takes CHUNK as it lies in the published file, if it is encoded alike there. False: it is to be read and added.
  Result<bool> take_old(const ChunkId& chunk);
  // Encodes CHUNK, whose elements are TILE, at once or in a thread. If its encoder may change them, adds what it stores
  // to the checksums. An error may be that of an earlier chunk.
  Status add(const ChunkId& chunk, std::span<const std::byte> tile);
  // The same of CHUNK, all of whose ELEMENTS are in this rank's memory, which must stay until finish() has returned.
  Status add(const ChunkId& chunk, const Claim& elements);
  // Waits until all chunks are encoded. LOCAL is complete then.
  Status finish();
  // The elements of CHUNK that the published file has; the others become zero.
  Status read_old(const ChunkId& chunk, std::span<std::byte> tile);

  // Chunks that are added from now on are encoded into BUFFER until place(), if it has room for them as they are. How
  // many of its bytes they take, once finish() has returned.
  void fill(std::span<std::byte> buffer) { batch_buffer_ = buffer; }
  int64_t filled() const { return batch_used_; }
  // These bytes are written at OFFSET of the file.
  void place(int64_t offset);

  std::vector<LocalChunks>& local() { return local_; }  // of each dataset

 private:
  // How a dataset is encoded. Encoders are made when they are needed.
  struct Way {
    const Codec* codec = nullptr;
    CodecUse use;
    std::vector<std::unique_ptr<ChunkEncoder>> of_worker;
    bool as_before = false;   // chunks and filters are those of the published file
    uint32_t filters = 0;     // a bit for each
    bool lossy = false;       // elements may change: not those that stay
    int keep_bits = 0;        // of mantissas, which are rounded; 0: all
    std::set<int64_t> mixed;  // chunks with elements of the published file
  };
  // A chunk on its way to a worker: its elements in the program's memory, or a copy of them.
  struct Waiting {
    ChunkId chunk;
    bool mixed = false;
    Claim elements;
    std::vector<std::byte> copy;
  };
  // Of a worker, for one chunk.
  struct Room {
    std::vector<std::byte> gathered, rounded, padded, encoded, cropped;
    std::vector<uint64_t> sums;  // as those of the commit, and added to them in the end
  };

  Status hand_batch();
  Status encode_waiting(int worker, const Waiting& waiting);
  // TILE may lack what pads it at the dataset's edge.
  Status encode(int worker, const ChunkId& chunk, std::span<const std::byte> tile, bool mixed);
  // Encodes IN, which is padded, at OUT, of the same size.
  Result<EncodedSize> encode(ChunkEncoder& encoder, const Way& way, std::span<const std::byte> in,
                             std::span<std::byte> out, bool mixed);
  Result<ChunkEncoder*> encoder(int worker, int dataset);
  bool is_mixed(const ChunkId& chunk) const;
  Status open_old(int d);

  // While workers run, these are called with MUTEX_ held.
  //
  // Room for BYTES behind what dataset D has, in a segment of its own if need be. Null if memory is exhausted.
  std::byte* room(int d, int64_t bytes);
  void keep(const ChunkId& chunk, EncodedSize made);

  // Adds the elements of BOX of dataset D to SUMS, if the encoder does that. Twice is not at all.
  void sum(int d, const Box& box, const std::byte* elements, std::vector<uint64_t>& sums) const;

  NewContents& contents_;
  const Published* old_;
  std::shared_ptr<Files> files_;
  std::vector<Tiled> tiled_;  // tiles are chunks
  std::vector<LocalChunks> local_;
  std::vector<Way> ways_;
  int open_index_ = -1;  // of the dataset of the published file that is open
  std::unique_ptr<ForeignDataset> open_;
  ChunkReader old_chunks_{1};
  std::span<std::byte> batch_buffer_;  // of fill(); else empty
  int64_t batch_used_ = 0;
  bool in_batch_ = false;                                   // the last room was there
  std::vector<std::pair<int, EncodedChunk>> batch_chunks_;  // with their datasets; offsets are in the buffer
  std::vector<Waiting> batch_;                              // not handed out yet
  int64_t batch_bytes_ = 0;
  std::vector<Room> rooms_;  // of each worker
  std::mutex mutex_;
  std::vector<std::vector<std::byte>> free_copies_;
  Workers workers_;  // last: they use the others
};

}  // namespace penstock
