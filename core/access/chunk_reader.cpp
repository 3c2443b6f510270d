// ChunkReader: the library finds and reads a chunk's bytes; a worker decodes them into their place.
#include "core/access/chunk_reader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "core/codec/decode.hpp"
#include "core/model/tiles.hpp"

namespace penstock {
namespace {

constexpr int64_t alone = 32 << 20;  // bytes: of larger chunks only one is in memory

// Copies those elements of CHUNK, which begins at START and has EXTENTS, that are in BOX, to their places in OUT.
void copy_common(std::span<const std::byte> chunk, const Dims& start, const Dims& extents, const Box& box, int64_t size,
                 std::span<std::byte> out) {
  const int rank = start.rank();
  Box both = box;
  for (int d = 0; d < rank; ++d) {
    both.start[d] = std::max(start[d], box.start[d]);
    both.count[d] = std::min(start[d] + extents[d], box.start[d] + box.count[d]) - both.start[d];
  }
  const int64_t row = both.count[rank - 1];
  for (int64_t first = 0; first < elements(both.count); first += row) {
    const Dims at = coordinates(both.count, first);
    int64_t from = 0, to = 0;
    for (int d = 0; d < rank; ++d) {
      from = from * extents[d] + both.start[d] + at[d] - start[d];
      to = to * box.count[d] + both.start[d] + at[d] - box.start[d];
    }
    std::memcpy(out.data() + to * size, chunk.data() + from * size, static_cast<size_t>(row * size));
  }
}

}  // namespace

bool ChunkReader::reads(const Contents& contents, const Dataset& dataset) {
  const auto filters = contents.filters.find(dataset.name);
  const auto chunk = contents.chunks.find(dataset.name);
  return filters != contents.filters.end() && chunk != contents.chunks.end() && !filters->second.empty() &&
         chunk->second.rank() == dataset.shape.rank() && decodes(filters->second);
}

StoredChunk ChunkReader::free_chunk() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) return {};
  StoredChunk chunk = std::move(free_.back());
  free_.pop_back();
  return chunk;
}

Status ChunkReader::read(const Contents& contents, const Dataset& dataset, ForeignDataset& open, const Box& box,
                         std::span<std::byte> out) {
  const Dims& extents = contents.chunks.at(dataset.name);
  const std::span<const Filter> filters = contents.filters.at(dataset.name);
  const int64_t size = bytes(dataset.type), chunk_bytes = elements(extents) * size;
  const Tiles chunks(dataset, extents, 0);
  if (!workers_) {
    workers_.emplace(count_);
    rooms_.resize(static_cast<size_t>(workers_->count()));
  }
  Workers& workers = *workers_;
  Status status;
  for (const int64_t number : chunks.of(Selection::of_box(dataset.shape, box))) {
    const Dims start = chunks.box(number).start;
    StoredChunk stored = free_chunk();
    const auto found = open.read_chunk(start, 2 * chunk_bytes + 4096, stored);  // encoded, it may be larger
    status = found.status();
    if (status.ok() && !*found) {  // nobody wrote it: it has the fill value
      Box here{start, chunks.box(number).count};
      for (int d = 0; d < start.rank(); ++d) {
        here.start[d] = std::max(start[d], box.start[d]);
        here.count[d] = std::min(start[d] + here.count[d], box.start[d] + box.count[d]) - here.start[d];
      }
      std::vector<std::byte> filled(static_cast<size_t>(elements(here.count) * size));
      status = open.read(here, filled);
      if (status.ok()) copy_common(filled, here.start, here.count, box, size, out);
    } else if (status.ok()) {
      status = workers.hand([=, this, &dataset, one = std::move(stored)](int worker) mutable -> Status {
        DecodingRoom& room = rooms_[static_cast<size_t>(worker)];
        const auto decoded = decode_chunk(filters, one.skipped, one.bytes, chunk_bytes, room);
        if (!decoded) return decoded.status().in(fmt::format("dataset '{}'", dataset.name));
        copy_common(*decoded, start, extents, box, size, out);
        const std::lock_guard lock(mutex_);
        free_.push_back(std::move(one));
        return {};
      });
    }
    if (status.ok() && chunk_bytes > alone) {
      status = workers.finish();
      for (DecodingRoom& room : rooms_) room = {};
      free_.clear();
    }
    if (!status.ok()) break;
  }
  const Status finished = workers.finish();
  return status.ok() ? finished : status;
}

}  // namespace penstock
