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

// TILE, whose extents are COUNT, as a chunk of EXTENTS, with zeros behind it in each dimension.
std::vector<std::byte> padded(std::span<const std::byte> tile, const Dims& count, const Dims& extents, int64_t size) {
  std::vector<std::byte> chunk(static_cast<size_t>(elements(extents) * size));
  for_each_row(count, extents, size, [&](int64_t in_tile, int64_t in_chunk, size_t length) {
    std::memcpy(chunk.data() + in_chunk, tile.data() + in_tile, length);
  });
  return chunk;
}

// The other way.
std::vector<std::byte> cropped(std::span<const std::byte> chunk, const Dims& count, const Dims& extents, int64_t size) {
  std::vector<std::byte> tile(static_cast<size_t>(elements(count) * size));
  for_each_row(count, extents, size, [&](int64_t in_tile, int64_t in_chunk, size_t length) {
    std::memcpy(tile.data() + in_tile, chunk.data() + in_chunk, length);
  });
  return tile;
}

}  // namespace

ChunkStore::ChunkStore(NewContents& contents, const Published* old, std::shared_ptr<Files> files)
    : contents_(contents),
      old_(old),
      files_(std::move(files)),
      tiled_(contents.catalogue.datasets.size()),
      local_(contents.catalogue.datasets.size()) {}

void ChunkStore::cut(size_t d, const Tiles& tiles) { tiled_[d] = {&contents_.catalogue.datasets[d], tiles}; }

Status ChunkStore::encode_by(size_t d, const Codec& codec, const CodecUse& use, std::span<const Filter> filters) {
  LocalChunks& local = local_[d];
  PENSTOCK_ASSIGN(local.encoder, codec.encoder(use));
  local.filters = (1U << filters.size()) - 1;
  local.lossy = use.max_error > 0;
  const std::span<const Filter> old = old_filters(d);
  local.as_before = !old.empty() && std::ranges::equal(old, filters);
  return {};
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

void ChunkStore::sum(int d, const Box& box, const std::byte* elements) {
  CommitSums& sums = contents_.sums;
  const auto at = static_cast<size_t>(d);
  if (!sums.wanted || sums.encoded.empty() || !sums.encoded[at] || !sums.summed[at]) return;
  add_to_sums(Selection::of_box(dataset(d).shape, box), elements, bytes(dataset(d).type), sums.cuts[at], sums.sums);
}

Status ChunkStore::add(const ChunkId& chunk, std::span<const std::byte> tile) {
  LocalChunks& to = local_[static_cast<size_t>(chunk.dataset)];
  const Tiles& all = tiles(chunk.dataset);
  const Box box = all.box(chunk.number);
  const int64_t offset = to.bytes, size = bytes(dataset(chunk.dataset).type);
  if (all_zero(tile)) {  // as readers see a chunk that is not there
    to.chunks.push_back({chunk.number, offset, 0, 0});
    return {};
  }
  std::vector<std::byte> whole;
  std::span<const std::byte> in = tile;
  if (std::ssize(tile) < all.bytes()) {  // at the dataset's edge
    whole = padded(tile, box.count, all.extents(), size);
    in = whole;
  }
  std::vector<std::byte>& segment = room(chunk.dataset, std::ssize(in));
  const size_t before = segment.size();
  uint32_t skipped = to.filters;
  std::span<const std::byte> changed;
  if (to.lossy && to.mixed.contains(chunk.number)) {  // what stays would change again
    segment.insert(segment.end(), in.begin(), in.end());
  } else {
    PENSTOCK_ASSIGN(skipped, to.encoder->encode(in, segment));
    changed = to.encoder->changed();
  }
  if (changed.empty())
    sum(chunk.dataset, box, tile.data());
  else
    sum(chunk.dataset, box,
        (whole.empty() ? changed : whole = cropped(changed, box.count, all.extents(), size)).data());
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
    PENSTOCK_TRY(open_->read(box, tile));
  }
  // The published file has the sums of what stays: add() will add them again.
  if (local_[static_cast<size_t>(chunk.dataset)].mixed.insert(chunk.number).second)
    sum(chunk.dataset, box, tile.data());
  return {};
}

}  // namespace penstock
