// ChunkStore: pads, encodes and keeps chunks; reads what the published file has of them.
#include "core/commit/chunk_store.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/access/here.hpp"
#include "core/transport/move.hpp"

namespace penstock {
namespace {

constexpr int64_t segment_bytes = 8 << 20;

bool all_zero(std::span<const std::byte> bytes) {
  return bytes.empty() ||
         (bytes[0] == std::byte{} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

// TILE, whose extents are COUNT, as CHUNK of EXTENTS, with zeros behind it in each dimension.
void pad(std::span<const std::byte> tile, const Dims& count, const Dims& extents, int64_t size,
         std::span<std::byte> chunk) {
  std::ranges::fill(chunk, std::byte{});
  const int last = count.rank() - 1;
  for (int64_t first = 0; first < elements(count); first += count[last]) {
    const Dims at = coordinates(count, first);
    int64_t to = 0;
    for (int d = 0; d <= last; ++d) to = to * extents[d] + at[d];
    std::memcpy(chunk.data() + to * size, tile.data() + first * size, static_cast<size_t>(count[last] * size));
  }
}

}  // namespace

ChunkStore::ChunkStore(const NewContents& contents, const Published* old, std::shared_ptr<Files> files, int workers)
    : contents_(contents),
      old_(old),
      files_(std::move(files)),
      tiled_(contents.catalogue.datasets.size()),
      local_(contents.catalogue.datasets.size()),
      encoders_(contents.catalogue.datasets.size()),
      workers_(workers) {
  rooms_.resize(static_cast<size_t>(workers_.count()));
}

Status ChunkStore::cut(size_t d, const Tiles& tiles, const Codec& codec, const CodecUse& use) {
  tiled_[d] = {&contents_.catalogue.datasets[d], tiles};
  encoders_[d] = {&codec, use, std::vector<std::unique_ptr<ChunkEncoder>>(static_cast<size_t>(workers_.count()))};
  return encoder(0, static_cast<int>(d)).status();
}

int64_t ChunkStore::tile_bytes(const ChunkId& chunk) const {
  return elements(tiles(chunk.dataset).box(chunk.number).count) * bytes(dataset(chunk.dataset).type);
}

bool ChunkStore::keeps(int d) const { return old_ != nullptr && contents_.kept[static_cast<size_t>(d)] > 0; }

Status ChunkStore::add(const ChunkId& chunk, std::span<const std::byte> tile) {
  if (!workers_.has_threads()) return encode(0, chunk, tile);
  std::vector<std::byte> copy;
  {
    const std::lock_guard lock(mutex_);
    if (!free_tiles_.empty()) {
      copy.swap(free_tiles_.back());
      free_tiles_.pop_back();
    }
  }
  copy.resize(tile.size());
  std::memcpy(copy.data(), tile.data(), tile.size());
  return workers_.hand([this, chunk, copy = std::move(copy)](int worker) mutable -> Status {
    PENSTOCK_TRY(encode(worker, chunk, copy));
    const std::lock_guard lock(mutex_);
    free_tiles_.push_back(std::move(copy));
    return {};
  });
}

Status ChunkStore::add(const ChunkId& chunk, const Claim& elements) {
  return workers_.hand([this, chunk, elements](int worker) -> Status {
    const int64_t size = bytes(dataset(chunk.dataset).type), length = tile_bytes(chunk);
    const Selection own = in_packed(elements.selection);
    Segment segment;
    if (Cursor(own).next(segment) && segment.length == own.count() && segment.stride == 1)
      return encode(worker, chunk, {elements.memory + segment.memory * size, static_cast<size_t>(length)});
    std::vector<std::byte>& gathered = rooms_[static_cast<size_t>(worker)].gathered;
    gathered.resize(static_cast<size_t>(length));
    copy_window({0, 0, size, 0, own, elements.memory}, {0, length}, gathered.data(), Direction::write);
    return encode(worker, chunk, gathered);
  });
}

Status ChunkStore::finish() { return workers_.finish(); }

Result<ChunkEncoder*> ChunkStore::encoder(int worker, int dataset) {
  Encoders& of = encoders_[static_cast<size_t>(dataset)];
  auto& own = of.of_worker[static_cast<size_t>(worker)];
  if (!own) {
    PENSTOCK_ASSIGN(own, of.codec->encoder(of.use));
  }
  return own.get();
}

// A worker encodes into memory of its own, so that others need not wait for it.
Status ChunkStore::encode(int worker, const ChunkId& chunk, std::span<const std::byte> tile) {
  if (all_zero(tile)) {  // as readers see a chunk that is not there
    const std::lock_guard lock(mutex_);
    keep(chunk, {});
    return {};
  }
  Room& own = rooms_[static_cast<size_t>(worker)];
  if (const Tiles& all = tiles(chunk.dataset); std::ssize(tile) < all.bytes()) {
    own.padded.resize(static_cast<size_t>(all.bytes()));
    pad(tile, all.box(chunk.number).count, all.extents(), bytes(dataset(chunk.dataset).type), own.padded);
    tile = own.padded;
  }
  PENSTOCK_ASSIGN(ChunkEncoder* const encoder, this->encoder(worker, chunk.dataset));
  const auto no_memory = [] { return Status(Code::memory, "no memory for encoded chunks"); };
  if (!workers_.has_threads()) {
    std::byte* const to = room(chunk.dataset, std::ssize(tile));
    if (to == nullptr) return no_memory();
    PENSTOCK_ASSIGN(const EncodedSize made, encoder->encode(tile, {to, tile.size()}));
    keep(chunk, made);
    return {};
  }
  own.encoded.resize(std::max(own.encoded.size(), tile.size()));
  PENSTOCK_ASSIGN(const EncodedSize made, encoder->encode(tile, std::span(own.encoded).first(tile.size())));
  const std::lock_guard lock(mutex_);
  std::byte* const to = room(chunk.dataset, made.bytes);
  if (to == nullptr) return no_memory();
  std::memcpy(to, own.encoded.data(), static_cast<size_t>(made.bytes));
  keep(chunk, made);
  return {};
}

std::byte* ChunkStore::room(int d, int64_t bytes) {
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
  LocalChunks& to = local_[static_cast<size_t>(chunk.dataset)];
  to.chunks.push_back({chunk.number, to.bytes, made.bytes, made.skipped});
  to.bytes += made.bytes;
  if (made.bytes > 0) to.segments.back().used += made.bytes;
}

Status ChunkStore::read_old(const ChunkId& chunk, std::span<std::byte> tile) {
  std::ranges::fill(tile, std::byte{});
  if (!keeps(chunk.dataset)) return {};
  const Contents& contents = old_->contents;
  const int index = contents.catalogue.index_of(dataset(chunk.dataset).name);
  const Dataset& definition = contents.catalogue.datasets[static_cast<size_t>(index)];
  Box box = tiles(chunk.dataset).box(chunk.number);
  box.count[0] = std::min(box.count[0], definition.shape[0] - box.start[0]);  // only the first extent can have grown
  if (box.count[0] <= 0) return {};
  tile = tile.first(static_cast<size_t>(elements(box.count) * bytes(definition.type)));
  if (!contents.foreign[static_cast<size_t>(index)]) {
    const Claim claim{index, Selection::of_box(definition.shape, box), tile.data()};
    return read_here(contents, old_->path, std::span(&claim, 1), files_);
  }
  if (index != open_index_) {
    open_index_ = -1;
    open_.reset();
    PENSTOCK_ASSIGN(open_,
                    find_format(contents.format)->open_foreign(old_->path, definition, tiles(chunk.dataset).bytes()));
    open_index_ = index;
  }
  return open_->read(box, tile);
}

}  // namespace penstock
