// Decoded: tiles are the parts of a movement by two_phase, whose writers decode them from a storage of tiles.
#include "core/access/decoded.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

#include "core/base/units.hpp"
#include "core/format/format.hpp"
#include "core/methods/methods.hpp"
#include "core/model/boxes.hpp"
#include "core/model/piece.hpp"
#include "core/model/tiles.hpp"

namespace penstock {
namespace {

constexpr int64_t min_tile_bytes = 4 << 20;    // less costs more for messages and calls than it saves
constexpr int64_t bytes_of_decoder = 2 << 20;  // a rank that decodes less waits longer for others than it works
constexpr int64_t largest_space = INT64_MAX / 4;

// Whole chunks, or rows of datasets without chunks.
Tiles tiles_of(const Contents& contents, const Dataset& dataset) {
  const auto chunk = contents.chunks.find(dataset.name);
  return {dataset, chunk == contents.chunks.end() ? Dims::filled(dataset.shape.rank(), 1) : chunk->second,
          min_tile_bytes};
}

// Decodes boxes of the datasets of one file. Keeps the last dataset open: tiles come in the order of datasets.
class TileDecoder {
 public:
  TileDecoder(const Contents& contents, std::string path)
      : contents_(contents), path_(std::move(path)), format_(*find_format(contents.format)) {}

  const Dataset& dataset(int index) const { return contents_.catalogue.datasets[static_cast<size_t>(index)]; }
  Tiles tiles(int index) const { return tiles_of(contents_, dataset(index)); }

  Status read(int index, const Box& box, std::span<std::byte> out) {
    if (index_ != index) {
      index_ = -1;
      open_.reset();
      PENSTOCK_ASSIGN(open_, format_.open_foreign(path_, dataset(index), tiles(index).bytes()));
      index_ = index;
    }
    return open_->read(box, out);
  }

 private:
  const Contents& contents_;
  const std::string path_;
  const Format& format_;
  int index_ = -1;
  std::unique_ptr<ForeignDataset> open_;
};

// A tile as a file: its elements, decoded, in row-major order.
class Tile final : public StorageFile {
 public:
  Tile(std::shared_ptr<TileDecoder> decoder, int dataset, Box box)
      : decoder_(std::move(decoder)), dataset_(dataset), box_(box) {}

  Status write(int64_t, std::span<const std::byte>) override { return refused(); }
  Status sync() override { return refused(); }
  Status close() override { return {}; }

  Status read(int64_t offset, std::span<std::byte> bytes) override {
    const int64_t size = penstock::bytes(decoder_->dataset(dataset_).type), end = offset + std::ssize(bytes);
    const int64_t first = offset / size, last = (end + size - 1) / size;
    if (first * size == offset && last * size == end) return elements(first, last, bytes);
    std::vector<std::byte> whole(static_cast<size_t>((last - first) * size));  // a window ends inside an element
    PENSTOCK_TRY(elements(first, last, whole));
    std::memcpy(bytes.data(), whole.data() + (offset - first * size), bytes.size());
    return {};
  }

 private:
  static Status refused() { return {Code::internal, "a decoded dataset is written"}; }

  Status elements(int64_t first, int64_t last, std::span<std::byte> out) {
    std::vector<Box> boxes;
    if (last - first == penstock::elements(box_.count))
      boxes.push_back({Dims::filled(box_.count.rank(), 0), box_.count});
    else
      boxes_of_run(box_.count, first, last - first, boxes);
    for (Box& box : boxes) {
      for (int d = 0; d < box.start.rank(); ++d) box.start[d] += box_.start[d];
      const int64_t size = penstock::elements(box.count) * penstock::bytes(decoder_->dataset(dataset_).type);
      PENSTOCK_TRY(decoder_->read(dataset_, box, out.first(static_cast<size_t>(size))));
      out = out.subspan(static_cast<size_t>(size));
    }
    return {};
  }

  const std::shared_ptr<TileDecoder> decoder_;
  const int dataset_;
  const Box box_;
};

std::string tile_path(int dataset, int64_t tile) { return fmt::format("{}:{}", dataset, tile); }

// Tiles by the names of tile_path.
class TileStorage final : public CountedStorage {
 public:
  explicit TileStorage(std::shared_ptr<TileDecoder> decoder)
      : CountedStorage(posix_storage()), decoder_(std::move(decoder)) {}

  Result<StorageFilePtr> open(const std::string& path, IoMode, bool) override {
    int dataset = 0;
    int64_t tile = 0;
    const char* const end = path.data() + path.size();
    const auto [colon, error] = std::from_chars(path.data(), end, dataset);
    if (error != std::errc() || colon == end || std::from_chars(colon + 1, end, tile).ptr != end)
      return Status(Code::internal, fmt::format("'{}' is no tile", path));
    return StorageFilePtr(std::make_unique<Tile>(decoder_, dataset, decoder_->tiles(dataset).box(tile)));
  }

 private:
  std::shared_ptr<TileDecoder> decoder_;
};

// Every tile has a place in the address space, wanted or not; a rank knows the parts that it wants.
Status add_pieces(const Contents& contents, std::span<const int> asked, std::span<const Claim> claims, Job& job,
                  int64_t& bytes) {
  std::vector<int64_t> base(asked.size(), 0);
  std::vector<Tiles> tiles;
  int64_t end = 0;
  bytes = 0;
  for (size_t i = 0; i < asked.size(); ++i) {
    const Dataset& dataset = contents.catalogue.datasets[static_cast<size_t>(asked[i])];
    tiles.push_back(tiles_of(contents, dataset));
    if (!contents.foreign[static_cast<size_t>(asked[i])]) continue;
    base[i] = end;
    const int64_t slot = round_up(tiles[i].bytes(), job.block);
    if (tiles[i].count() > (largest_space - end) / std::max<int64_t>(1, slot))
      return {Code::unsupported,
              fmt::format("'{}' is {}: more than can be read by its library", dataset.name, describe(dataset))};
    end += tiles[i].count() * slot;
    bytes += penstock::bytes(dataset);
  }
  std::map<std::pair<int, int64_t>, int32_t> known;  // the number of the part of a tile
  for (const Claim& claim : claims) {
    const auto i = static_cast<size_t>(claim.dataset);
    if (!contents.foreign[static_cast<size_t>(asked[i])]) continue;
    const Dataset& dataset = contents.catalogue.datasets[static_cast<size_t>(asked[i])];
    const int64_t slot = round_up(tiles[i].bytes(), job.block);
    std::vector<StoredBlock> blocks;
    for (const int64_t tile : tiles[i].of(claim.selection)) {
      const Box box = tiles[i].box(tile);
      const auto [found, fresh] = known.try_emplace({asked[i], tile}, static_cast<int32_t>(job.parts.size()));
      if (fresh)
        job.parts.push_back(
            {tile_path(asked[i], tile), elements(box.count) * penstock::bytes(dataset.type), base[i] + tile * slot});
      blocks.push_back({found->second, 0, false, Selection::of_box(dataset.shape, box)});
    }
    add_pieces(blocks, job.parts, dataset.type, claim, job.pieces);
  }
  return {};
}

}  // namespace

Result<Moved> read_decoded(const Communicator& comm, const Contents& contents, const std::string& path,
                           std::span<const int> asked, std::span<const Claim> claims, PhaseTimes& phases) {
  Job job;
  job.direction = Direction::read;
  job.comm = comm;
  job.storage = std::make_shared<TileStorage>(std::make_shared<TileDecoder>(contents, path));
  job.one_thread = true;  // this one may be inside the library already
  job.phases = &phases;
  int64_t bytes = 0;
  PENSTOCK_TRY(add_pieces(contents, asked, claims, job, bytes));
  const int64_t decoders = std::clamp<int64_t>(bytes / bytes_of_decoder, 1, comm->size());
  PENSTOCK_ASSIGN(const Plan plan, parse_plan(fmt::format("two_phase:writers={}", decoders), "raw", vocabulary()));
  auto transfer = find_transport(plan.transport)->begin(job, plan.settings);
  PENSTOCK_TRY(agree(comm, transfer.status()));
  PENSTOCK_TRY((*transfer)->finish());
  return (*transfer)->moved();
}

}  // namespace penstock
