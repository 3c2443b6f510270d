// ChunkStore: pads, encodes and keeps chunks; takes and reads what the published file has of them.
#include "core/commit/chunk_store.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/access/here.hpp"
#include "core/base/guarded.hpp"
#include "core/model/checksums.hpp"
#include "core/model/precision.hpp"
#include "core/transport/move.hpp"

namespace penstock {
namespace {

constexpr int64_t segment_bytes = 8 << 20;
constexpr int64_t min_batch = 256 << 10;  // with smaller pieces of work, threads would mostly wake each other

bool all_zero(std::span<const std::byte> bytes) {
  return bytes.empty() ||
         (bytes[0] == std::byte{} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

// Calls COPY with the offsets in a tile of extents COUNT and in its chunk of EXTENTS, and the length, of each row.
template <typename Copy>
void for_each_row(const Dims& count, const Dims& extents, int64_t size, const Copy& copy) {
  const int last = count.rank() - 1;
  for (int64_t first = 0; first < elements(count); first += count[last]) {
    const Dims at = coordinates(count, first);
    int64_t in_chunk = 0;
    for (int d = 0; d <= last; ++d) in_chunk = in_chunk * extents[d] + at[d];
    copy(first * size, in_chunk * size, static_cast<size_t>(count[last] * size));
  }
}

// TILE, whose extents are COUNT, as CHUNK of EXTENTS, with zeros behind it in each dimension.
void pad(std::span<const std::byte> tile, const Dims& count, const Dims& extents, int64_t size,
         std::vector<std::byte>& chunk) {
  chunk.assign(static_cast<size_t>(elements(extents) * size), std::byte{});
  for_each_row(count, extents, size, [&](int64_t in_tile, int64_t in_chunk, size_t length) {
    std::memcpy(chunk.data() + in_chunk, tile.data() + in_tile, length);
  });
}

// The other way.
void crop(std::span<const std::byte> chunk, const Dims& count, const Dims& extents, int64_t size,
          std::vector<std::byte>& tile) {
  tile.resize(static_cast<size_t>(elements(count) * size));
  for_each_row(count, extents, size, [&](int64_t in_tile, int64_t in_chunk, size_t length) {
    std::memcpy(tile.data() + in_tile, chunk.data() + in_chunk, length);
  });
}

}  // namespace

ChunkStore::ChunkStore(NewContents& contents, const Published* old, std::shared_ptr<Files> files, int workers)
    : contents_(contents),
      old_(old),
      files_(std::move(files)),
      tiled_(contents.catalogue.datasets.size()),
      local_(contents.catalogue.datasets.size()),
      ways_(contents.catalogue.datasets.size()),
      workers_(workers) {
  rooms_.resize(static_cast<size_t>(workers_.count()));
}

void ChunkStore::cut(size_t d, const Tiles& tiles) { tiled_[d] = {&contents_.catalogue.datasets[d], tiles}; }

Status ChunkStore::encode_by(size_t d, const Codec& codec, const CodecUse& use, std::span<const Filter> filters) {
  Way& way = ways_[d];
  way.codec = &codec;
  way.use = use;
  way.of_worker.resize(static_cast<size_t>(workers_.count()));
  way.filters = (1U << filters.size()) - 1;
  way.lossy = use.max_error > 0;
  const std::span<const Filter> old = old_filters(d);
  way.as_before = !old.empty() && std::ranges::equal(old, filters);
  return encoder(0, static_cast<int>(d)).status();
}

std::span<const Filter> ChunkStore::old_filters(size_t d) const {
  if (!keeps(static_cast<int>(d))) return {};
  const Contents& old = old_->contents;
  const std::string& name = contents_.catalogue.datasets[d].name;
  const auto chunk = old.chunks.find(name);
  const auto filters = old.filters.find(name);
  const bool same = chunk != old.chunks.end() && chunk->second == tiled_[d].tiles->extents();
  return same && filters != old.filters.end() ? std::span<const Filter>(filters->second) : std::span<const Filter>();
}

int64_t ChunkStore::tile_bytes(const ChunkId& chunk) const {
  return elements(tiles(chunk.dataset).box(chunk.number).count) * bytes(dataset(chunk.dataset).type);
}

bool ChunkStore::keeps(int d) const { return old_ != nullptr && contents_.kept[static_cast<size_t>(d)] > 0; }

bool ChunkStore::is_mixed(const ChunkId& chunk) const {
  return ways_[static_cast<size_t>(chunk.dataset)].mixed.contains(chunk.number);
}

void ChunkStore::sum(int d, const Box& box, const std::byte* elements, std::vector<uint64_t>& sums) const {
  const CommitSums& all = contents_.sums;
  const auto at = static_cast<size_t>(d);
  if (!all.wanted || all.encoded.empty() || !all.encoded[at] || !all.summed[at]) return;
  sums.resize(all.sums.size());
  add_to_sums(Selection::of_box(dataset(d).shape, box), elements, bytes(dataset(d).type), all.cuts[at], sums);
}

Status ChunkStore::add(const ChunkId& chunk, std::span<const std::byte> tile) {
  const bool mixed = is_mixed(chunk);
  if (!workers_.has_threads()) return encode(0, chunk, tile, mixed);
  Waiting waiting{chunk, mixed, {}, {}};
  {
    const std::lock_guard lock(mutex_);
    if (!free_copies_.empty()) {
      waiting.copy.swap(free_copies_.back());
      free_copies_.pop_back();
    }
  }
  waiting.copy.resize(tile.size());
  std::memcpy(waiting.copy.data(), tile.data(), tile.size());
  batch_.push_back(std::move(waiting));
  batch_bytes_ += std::ssize(tile);
  return batch_bytes_ < min_batch ? Status() : hand_batch();
}

Status ChunkStore::add(const ChunkId& chunk, const Claim& elements) {
  if (!workers_.has_threads()) return encode_waiting(0, {chunk, is_mixed(chunk), elements, {}});
  batch_.push_back({chunk, is_mixed(chunk), elements, {}});
  batch_bytes_ += tile_bytes(chunk);
  return batch_bytes_ < min_batch ? Status() : hand_batch();
}

Status ChunkStore::hand_batch() {
  batch_bytes_ = 0;
  return workers_.hand([this, batch = std::exchange(batch_, {})](int worker) mutable -> Status {
    for (Waiting& waiting : batch) {
      PENSTOCK_TRY(encode_waiting(worker, waiting));
      if (waiting.copy.empty()) continue;
      const std::lock_guard lock(mutex_);
      free_copies_.push_back(std::move(waiting.copy));
    }
    return {};
  });
}

Status ChunkStore::finish() {
  const Status handed = batch_.empty() ? Status() : guarded([&] { return hand_batch(); });
  const Status status = workers_.finish();  // also after a failure: no worker uses the buffers afterwards
  for (Room& room : rooms_) {
    for (size_t i = 0; i < room.sums.size(); ++i) contents_.sums.sums[i] ^= room.sums[i];
    room.sums.clear();
  }
  return handed.ok() ? status : handed;
}

Status ChunkStore::encode_waiting(int worker, const Waiting& waiting) {
  const auto& [chunk, mixed, claim, copy] = waiting;
  if (!copy.empty()) return encode(worker, chunk, copy, mixed);
  const int64_t size = bytes(dataset(chunk.dataset).type), length = tile_bytes(chunk);
  const Selection own = in_packed(claim.selection);
  Segment segment;
  if (Cursor(own).next(segment) && segment.length == own.count() && segment.stride == 1)
    return encode(worker, chunk, {claim.memory + segment.memory * size, static_cast<size_t>(length)}, mixed);
  std::vector<std::byte>& gathered = rooms_[static_cast<size_t>(worker)].gathered;
  gathered.resize(static_cast<size_t>(length));
  copy_window({0, 0, size, 0, own, claim.memory}, {0, length}, gathered.data(), Direction::write);
  return encode(worker, chunk, gathered, mixed);
}

Result<ChunkEncoder*> ChunkStore::encoder(int worker, int dataset) {
  Way& way = ways_[static_cast<size_t>(dataset)];
  auto& own = way.of_worker[static_cast<size_t>(worker)];
  if (!own) {
    PENSTOCK_ASSIGN(own, way.codec->encoder(way.use));
  }
  return own.get();
}

Result<EncodedSize> ChunkStore::encode(ChunkEncoder& encoder, const Way& way, std::span<const std::byte> in,
                                       std::span<std::byte> out, bool mixed) {
  if (!way.lossy || !mixed) return encoder.encode(in, out);
  std::memcpy(out.data(), in.data(), in.size());  // what stays would change again
  return EncodedSize{std::ssize(in), way.filters};
}

// A worker encodes into memory of its own, so that others need not wait for it.
Status ChunkStore::encode(int worker, const ChunkId& chunk, std::span<const std::byte> tile, bool mixed) {
  const Tiles& all = tiles(chunk.dataset);
  const Box box = all.box(chunk.number);
  const int64_t size = bytes(dataset(chunk.dataset).type);
  Room& own = rooms_[static_cast<size_t>(worker)];
  const Way& way = ways_[static_cast<size_t>(chunk.dataset)];
  if (way.keep_bits > 0) {
    Loss none;
    std::vector<std::byte>& rounded = tile.data() == own.gathered.data() ? own.gathered : own.rounded;
    rounded.resize(tile.size());
    convert({.keep_bits = way.keep_bits}, dataset(chunk.dataset).type, tile.data(), rounded.data(),
            std::ssize(tile) / size, none);
    tile = rounded;
  }
  std::unique_lock lock(mutex_, std::defer_lock);
  if (all_zero(tile)) {  // as readers see a chunk that is not there
    lock.lock();
    keep(chunk, {});
    return {};
  }
  std::span<const std::byte> in = tile;
  const bool at_edge = std::ssize(tile) < all.bytes();
  if (at_edge) {
    pad(tile, box.count, all.extents(), size, own.padded);
    in = own.padded;
  }
  PENSTOCK_ASSIGN(ChunkEncoder* const encoder, this->encoder(worker, chunk.dataset));
  const bool direct = !workers_.has_threads();
  std::byte* to = nullptr;
  if (direct) {
    to = room(chunk.dataset, std::ssize(in));
  } else {
    own.encoded.resize(std::max(own.encoded.size(), in.size()));
    to = own.encoded.data();
  }
  const auto no_memory = [] { return Status(Code::memory, "no memory for encoded chunks"); };
  if (to == nullptr) return no_memory();
  PENSTOCK_ASSIGN(const EncodedSize made, encode(*encoder, way, in, {to, in.size()}, mixed));
  const bool stored_raw = way.lossy && mixed;
  const std::span<const std::byte> changed = stored_raw ? std::span<const std::byte>() : encoder->changed();
  if (!changed.empty()) {
    tile = changed;
    if (at_edge) {
      crop(changed, box.count, all.extents(), size, own.cropped);
      tile = own.cropped;
    }
  }
  sum(chunk.dataset, box, tile.data(), own.sums);
  lock.lock();
  if (!direct) {
    std::byte* const place = room(chunk.dataset, made.bytes);
    if (place == nullptr) return no_memory();
    std::memcpy(place, to, static_cast<size_t>(made.bytes));
  }
  keep(chunk, made);
  return {};
}

void ChunkStore::place(int64_t offset) {
  for (auto& [d, chunk] : batch_chunks_) {
    chunk.offset += offset;
    local_[static_cast<size_t>(d)].chunks.push_back(chunk);
  }
  batch_chunks_.clear();
  batch_buffer_ = {};
  batch_used_ = 0;
}

std::byte* ChunkStore::room(int d, int64_t bytes) {
  in_batch_ = bytes <= std::ssize(batch_buffer_) - batch_used_;
  if (in_batch_) return batch_buffer_.data() + batch_used_;
  LocalChunks& to = local_[static_cast<size_t>(d)];
  if (to.segments.empty() || to.segments.back().capacity - to.segments.back().used < bytes) {
    const int64_t rest = penstock::bytes(dataset(d)) - to.bytes;
    const int64_t capacity = std::max(bytes, std::clamp<int64_t>(rest, 0, segment_bytes));
    AlignedMemory memory = aligned_memory(capacity);
    if (memory == nullptr) return nullptr;
    to.segments.push_back({std::move(memory), capacity, 0});
  }
  return to.segments.back().memory.get() + to.segments.back().used;
}

void ChunkStore::keep(const ChunkId& chunk, EncodedSize made) {
  if (in_batch_ && made.bytes > 0) {
    batch_chunks_.emplace_back(chunk.dataset, EncodedChunk{chunk.number, batch_used_, made.bytes, made.skipped, 1});
    batch_used_ += made.bytes;
    return;
  }
  LocalChunks& to = local_[static_cast<size_t>(chunk.dataset)];
  to.chunks.push_back({chunk.number, to.bytes, made.bytes, made.skipped});
  to.bytes += made.bytes;
  if (made.bytes > 0) to.segments.back().used += made.bytes;
}

Result<bool> ChunkStore::take_old(const ChunkId& chunk) {
  if (!ways_[static_cast<size_t>(chunk.dataset)].as_before) return false;
  const Dataset* old = old_->contents.catalogue.find(dataset(chunk.dataset).name);
  const Box box = tiles(chunk.dataset).box(chunk.number);
  const bool grew = old->shape[0] < dataset(chunk.dataset).shape[0];
  if (grew && box.start[0] + box.count[0] > old->shape[0]) return false;  // what it has there is not known
  PENSTOCK_TRY(open_old(chunk.dataset));
  StoredChunk stored;
  PENSTOCK_ASSIGN(const bool found, open_->read_chunk(box.start, tiles(chunk.dataset).bytes(), stored));
  if (!found) return false;
  const std::lock_guard lock(mutex_);
  std::byte* const to = room(chunk.dataset, std::ssize(stored.bytes));
  if (to == nullptr) return Status(Code::memory, "no memory for encoded chunks");
  std::ranges::copy(stored.bytes, to);
  keep(chunk, {std::ssize(stored.bytes), stored.skipped});
  return true;
}

Status ChunkStore::open_old(int d) {
  const Contents& contents = old_->contents;
  const int index = contents.catalogue.index_of(dataset(d).name);
  if (index == open_index_) return {};
  open_index_ = -1;
  open_.reset();
  const Dataset& definition = contents.catalogue.datasets[static_cast<size_t>(index)];
  PENSTOCK_ASSIGN(open_,
                  find_format(contents.format)->open_foreign(contents, old_->path, definition, tiles(d).bytes()));
  open_index_ = index;
  return {};
}

Status ChunkStore::read_old(const ChunkId& chunk, std::span<std::byte> tile) {
  std::ranges::fill(tile, std::byte{});
  if (!keeps(chunk.dataset)) return {};
  Box box = tiles(chunk.dataset).box(chunk.number);
  const int index = old_->contents.catalogue.index_of(dataset(chunk.dataset).name);
  const Dataset& definition = old_->contents.catalogue.datasets[static_cast<size_t>(index)];
  box.count[0] = std::min(box.count[0], definition.shape[0] - box.start[0]);  // only the first extent can have grown
  if (box.count[0] <= 0) return {};
  tile = tile.first(static_cast<size_t>(elements(box.count) * bytes(definition.type)));
  if (!old_->contents.foreign[static_cast<size_t>(index)]) {
    const Claim claim{index, Selection::of_box(definition.shape, box), tile.data()};
    PENSTOCK_TRY(read_here(old_->contents, old_->path, std::span(&claim, 1), files_));
  } else {
    PENSTOCK_TRY(open_old(chunk.dataset));
    PENSTOCK_TRY(ChunkReader::reads(old_->contents, definition)
                     ? old_chunks_.read(old_->contents, definition, *open_, box, tile)
                     : open_->read(box, tile));
  }
  // The published file has the sums of what stays: add() will add them again.
  if (!ways_[static_cast<size_t>(chunk.dataset)].mixed.insert(chunk.number).second) return {};
  const std::lock_guard lock(mutex_);
  sum(chunk.dataset, box, tile.data(), contents_.sums.sums);
  return {};
}

}  // namespace penstock
