// ChunkStore: the chunks of one commit that this rank encodes.
#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "core/access/tile_files.hpp"
#include "core/codec/codec.hpp"
#include "core/commit/contents.hpp"
#include "core/format/format.hpp"
#include "core/model/encoding.hpp"

namespace penstock {

struct ChunkId {
  int dataset = 0;
  int64_t number = 0;
};

// The encoded chunks of one dataset on this rank, in the order in which they were added; those of zeros have no bytes.
struct LocalChunks {
  std::vector<std::vector<std::byte>> segments;  // never reallocated; no chunk is in two of them
  int64_t bytes = 0;                             // of all segments
  std::vector<EncodedChunk> chunks;              // offsets count through the segments
  std::unique_ptr<ChunkEncoder> encoder;
  bool as_before = false;   // chunks and filters are those of the published file
  uint32_t filters = 0;     // a bit for each
  bool lossy = false;       // elements may change: not those that stay
  std::set<int64_t> mixed;  // chunks with elements of the published file
};

// All functions are local. CONTENTS and OLD must outlive it. Used by one thread at a time.
class ChunkStore {
 public:
  // OLD: the file of which datasets are kept; null: none.
  ChunkStore(NewContents& contents, const Published* old, std::shared_ptr<Files> files);

  // Cuts dataset D into TILES.
  void cut(size_t d, const Tiles& tiles);
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
  // Encodes CHUNK, whose elements are TILE. If its encoder may change them, adds to the checksums what it stores.
  Status add(const ChunkId& chunk, std::span<const std::byte> tile);
  // The elements of CHUNK that the published file has; the others become zero.
  Status read_old(const ChunkId& chunk, std::span<std::byte> tile);

  std::vector<LocalChunks>& local() { return local_; }  // of each dataset

 private:
  Status open_old(int d);
  // Adds the elements of BOX of dataset D to the checksums, if these are of what is stored. Twice is not at all.
  void sum(int d, const Box& box, const std::byte* elements);
  // The last segment of dataset D, with room for MORE bytes.
  std::vector<std::byte>& room(int d, int64_t more);
  NewContents& contents_;
  const Published* old_;
  std::shared_ptr<Files> files_;
  std::vector<Tiled> tiled_;  // tiles are chunks
  std::vector<LocalChunks> local_;
  int open_index_ = -1;  // of the dataset of the published file that is open
  std::unique_ptr<ForeignDataset> open_;
};

}  // namespace penstock
