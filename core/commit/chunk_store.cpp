// ChunkStore: pads, encodes and keeps chunks; reads what the published file has of them.
#include "core/commit/chunk_store.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/access/here.hpp"

namespace penstock {
namespace {

constexpr int64_t segment_bytes = 8 << 20;

bool all_zero(std::span<const std::byte> bytes) {
  return bytes.empty() ||
         (bytes[0] == std::byte{} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

// TILE, whose extents are COUNT, as a chunk of EXTENTS, with zeros behind it in each dimension.
std::vector<std::byte> padded(std::span<const std::byte> tile, const Dims& count, const Dims& extents, int64_t size) {
  std::vector<std::byte> chunk(static_cast<size_t>(elements(extents) * size));
  const int last = count.rank() - 1;
  for (int64_t first = 0; first < elements(count); first += count[last]) {
    const Dims at = coordinates(count, first);
    int64_t to = 0;
    for (int d = 0; d <= last; ++d) to = to * extents[d] + at[d];
    std::memcpy(chunk.data() + to * size, tile.data() + first * size, static_cast<size_t>(count[last] * size));
  }
  return chunk;
}

}  // namespace

ChunkStore::ChunkStore(const NewContents& contents, const Published* old, std::shared_ptr<Files> files)
    : contents_(contents),
      old_(old),
      files_(std::move(files)),
      tiled_(contents.catalogue.datasets.size()),
      local_(contents.catalogue.datasets.size()) {}

void ChunkStore::cut(size_t d, const Tiles& tiles, std::span<const Filter> filters,
                     std::unique_ptr<ChunkEncoder> encoder) {
  tiled_[d] = {&contents_.catalogue.datasets[d], tiles};
  local_[d].encoder = std::move(encoder);
  if (!keeps(static_cast<int>(d))) return;
  const Contents& old = old_->contents;
  const std::string& name = contents_.catalogue.datasets[d].name;
  const auto chunk = old.chunks.find(name);
  const auto its = old.filters.find(name);
  local_[d].as_before = chunk != old.chunks.end() && chunk->second == tiles.extents() && its != old.filters.end() &&
                        std::ranges::equal(its->second, filters);
}

int64_t ChunkStore::tile_bytes(const ChunkId& chunk) const {
  return elements(tiles(chunk.dataset).box(chunk.number).count) * bytes(dataset(chunk.dataset).type);
}

bool ChunkStore::keeps(int d) const { return old_ != nullptr && contents_.kept[static_cast<size_t>(d)] > 0; }

Status ChunkStore::add(const ChunkId& chunk, std::span<const std::byte> tile) {
  LocalChunks& to = local_[static_cast<size_t>(chunk.dataset)];
  const int64_t offset = to.bytes;
  if (all_zero(tile)) {  // as readers see a chunk that is not there
    to.chunks.push_back({chunk.number, offset, 0, 0});
    return {};
  }
  const Tiles& all = tiles(chunk.dataset);
  std::vector<std::byte> whole;
  if (std::ssize(tile) < all.bytes()) {  // at the dataset's edge
    whole = padded(tile, all.box(chunk.number).count, all.extents(), bytes(dataset(chunk.dataset).type));
    tile = whole;
  }
  std::vector<std::byte>& segment = room(chunk.dataset, std::ssize(tile));
  const size_t before = segment.size();
  PENSTOCK_ASSIGN(const uint32_t skipped, to.encoder->encode(tile, segment));
  const auto made = static_cast<int64_t>(segment.size() - before);
  to.chunks.push_back({chunk.number, offset, made, skipped});
  to.bytes += made;
  return {};
}

std::vector<std::byte>& ChunkStore::room(int d, int64_t more) {
  LocalChunks& to = local_[static_cast<size_t>(d)];
  if (to.segments.empty() ||
      std::ssize(to.segments.back()) + more > static_cast<int64_t>(to.segments.back().capacity())) {
    const int64_t rest = bytes(dataset(d)) - to.bytes;
    to.segments.emplace_back();
    to.segments.back().reserve(static_cast<size_t>(std::max(more, std::clamp<int64_t>(rest, 0, segment_bytes))));
  }
  return to.segments.back();
}

Result<bool> ChunkStore::take_old(const ChunkId& chunk) {
  LocalChunks& to = local_[static_cast<size_t>(chunk.dataset)];
  if (!to.as_before) return false;
  const Dataset* old = old_->contents.catalogue.find(dataset(chunk.dataset).name);
  const Box box = tiles(chunk.dataset).box(chunk.number);
  const bool grew = old->shape[0] < dataset(chunk.dataset).shape[0];
  if (grew && box.start[0] + box.count[0] > old->shape[0]) return false;  // what it has there is not known
  PENSTOCK_TRY(open_old(chunk.dataset));
  PENSTOCK_ASSIGN(const auto stored, open_->read_chunk(box.start, tiles(chunk.dataset).bytes()));
  if (!stored) return false;
  const int64_t size = std::ssize(stored->bytes);
  std::vector<std::byte>& segment = room(chunk.dataset, size);
  segment.insert(segment.end(), stored->bytes.begin(), stored->bytes.end());
  to.chunks.push_back({chunk.number, to.bytes, size, stored->skipped});
  to.bytes += size;
  return true;
}

Status ChunkStore::open_old(int d) {
  const Contents& contents = old_->contents;
  const int index = contents.catalogue.index_of(dataset(d).name);
  if (index == open_index_) return {};
  open_index_ = -1;
  open_.reset();
  const Dataset& definition = contents.catalogue.datasets[static_cast<size_t>(index)];
  PENSTOCK_ASSIGN(open_, find_format(contents.format)->open_foreign(old_->path, definition, tiles(d).bytes()));
  open_index_ = index;
  return {};
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
  PENSTOCK_TRY(open_old(chunk.dataset));
  return open_->read(box, tile);
}

}  // namespace penstock
