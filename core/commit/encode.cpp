// Encode: chunks come to their ranks as tiles, as if these were files; a sum over ranks then gives each its place.
#include "core/commit/encode.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "core/access/here.hpp"
#include "core/access/tile_files.hpp"
#include "core/base/guarded.hpp"
#include "core/base/units.hpp"
#include "core/codec/codec.hpp"
#include "core/comm/share.hpp"
#include "core/model/checksums.hpp"

namespace penstock {
namespace {

constexpr int64_t min_bytes = 64 << 10;     // of an encoded dataset: a smaller one would not pay for its index
constexpr int64_t bytes_of_rank = 1 << 20;  // with less to do, a rank is left out

bool is_encoded(const Dataset& dataset, int64_t chunk_bytes) {
  return bytes(dataset) >= std::min(min_bytes, chunk_bytes) && bytes(dataset) > 0 && dataset.shape.rank() > 0 &&
         dataset.name != record_name;
}

bool all_zero(std::span<const std::byte> bytes) {
  return bytes.empty() ||
         (bytes[0] == std::byte{} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

// The encoded chunks of one dataset on this rank; those of zeros have no bytes.
struct Mine {
  std::vector<std::byte> bytes;
  std::vector<EncodedChunk> chunks;  // offsets are in BYTES
  std::unique_ptr<ChunkEncoder> encoder;
};

// What is known of a commit's datasets while they are encoded.
struct Work {
  const NewContents& contents;
  const Published* old;  // null if nothing is kept
  std::shared_ptr<Files> files;
  std::vector<Tiled> tiled;  // tiles are chunks
  std::vector<Mine> mine;

  const Dataset& dataset(int d) const { return contents.catalogue.datasets[static_cast<size_t>(d)]; }

  Status add(int d, int64_t number, std::span<const std::byte> tile) {
    Mine& to = mine[static_cast<size_t>(d)];
    const Tiles& tiles = *tiled[static_cast<size_t>(d)].tiles;
    std::vector<std::byte> padded;
    if (std::ssize(tile) < tiles.bytes()) {  // at the dataset's edge
      padded.resize(static_cast<size_t>(tiles.bytes()));
      std::ranges::copy(tile, padded.begin());
      tile = padded;
    }
    const int64_t offset = std::ssize(to.bytes);
    if (all_zero(tile)) {  // as readers see a chunk that is not there
      to.chunks.push_back({number, offset, 0, 0});
      return {};
    }
    PENSTOCK_ASSIGN(const uint32_t skipped, to.encoder->encode(tile, to.bytes));
    to.chunks.push_back({number, offset, std::ssize(to.bytes) - offset, skipped});
    return {};
  }

  // The elements of a tile that the published file has; the others become zero.
  Status read_old(int d, int64_t number, std::span<std::byte> tile) const {
    std::ranges::fill(tile, std::byte{});
    if (old == nullptr || contents.kept[static_cast<size_t>(d)] == 0) return {};
    const Catalogue& catalogue = old->contents.catalogue;
    const int index = catalogue.index_of(dataset(d).name);
    const Dims& shape = catalogue.datasets[static_cast<size_t>(index)].shape;
    Box box = tiled[static_cast<size_t>(d)].tiles->box(number);
    box.count[0] = std::min(box.count[0], shape[0] - box.start[0]);  // only the first extent can have grown
    if (box.count[0] <= 0) return {};
    const Claim claim{index, Selection::of_box(shape, box), tile.data()};
    return read_here(old->contents, old->path, std::span(&claim, 1), files);
  }
};

// A chunk as a file that is written once, in one piece.
class ChunkFile final : public StorageFile {
 public:
  ChunkFile(Work& work, int dataset, int64_t number) : work_(work), dataset_(dataset), number_(number) {}

  Status write(int64_t offset, std::span<const std::byte> bytes) override {
    if (offset != 0 || std::ssize(bytes) != bytes_of_tile()) return {Code::internal, "a chunk came in pieces"};
    return work_.add(dataset_, number_, bytes);
  }
  Status read(int64_t offset, std::span<std::byte> bytes) override {
    if (offset != 0 || std::ssize(bytes) != bytes_of_tile()) return {Code::internal, "a chunk is read in pieces"};
    return work_.read_old(dataset_, number_, bytes);
  }
  Status sync() override { return {}; }
  Status close() override { return {}; }

 private:
  int64_t bytes_of_tile() const {
    const Box box = work_.tiled[static_cast<size_t>(dataset_)].tiles->box(number_);
    return elements(box.count) * bytes(work_.dataset(dataset_).type);
  }

  Work& work_;
  const int dataset_;
  const int64_t number_;
};

class ChunkFiles final : public TileFiles {
 public:
  explicit ChunkFiles(Work& work) : work_(work) {}
  Result<StorageFilePtr> open_tile(int dataset, int64_t tile) override {
    return StorageFilePtr(std::make_unique<ChunkFile>(work_, dataset, tile));
  }

 private:
  Work& work_;
};

// Cuts the datasets, and makes their encoders.
Result<std::vector<Encoding>> begin(const Settings& settings, Work& work) {
  const Codec& codec = *find_codec(settings.word("compression"));
  const auto level = static_cast<int>(settings.integer("level"));
  const int64_t chunk_bytes = settings.integer("chunk_bytes");
  const std::vector<Dataset>& datasets = work.contents.catalogue.datasets;
  std::vector<Encoding> encodings(datasets.size());
  work.tiled.resize(datasets.size());
  work.mine.resize(datasets.size());
  for (size_t d = 0; d < datasets.size(); ++d) {
    if (!is_encoded(datasets[d], chunk_bytes)) continue;
    const Tiles tiles(datasets[d], Dims::filled(datasets[d].shape.rank(), 1), chunk_bytes);
    const CodecUse use{bytes(datasets[d].type), level};
    encodings[d] = {tiles.extents(), codec.filters(use), 0, {}};
    work.tiled[d] = {&datasets[d], tiles};
    PENSTOCK_ASSIGN(work.mine[d].encoder, codec.encoder(use));
  }
  for (const Claim& claim : work.contents.claims)
    if (claim.supplier != nullptr && encodings[static_cast<size_t>(claim.dataset)].used())
      return Status(Code::unsupported, fmt::format("'{}' is supplied, which compression={} cannot take: put or lend it",
                                                   work.dataset(claim.dataset).name, codec.describe().name));
  return encodings;
}

Result<Moved> encode_puts(const Communicator& comm, int64_t memory_bytes, Work& work, PhaseTimes& phases) {
  PhaseTimes own;
  Job job;
  job.direction = Direction::write;
  job.comm = comm;
  job.files = std::make_shared<ChunkFiles>(work);
  job.keep = work.old != nullptr;
  job.disjoint = !job.keep && !work.contents.options.partial;
  job.sync = false;
  job.phases = &own;
  for (const Tiled& one : work.tiled)  // shares of ranks meet between chunks
    if (one.tiles) job.block = std::max(job.block, round_up(one.tiles->bytes(), direct_alignment));
  auto moved = move_tiles(job, work.tiled, work.contents.claims, {bytes_of_rank, memory_bytes});
  phases[Phase::exchange] += own[Phase::exchange];
  phases[Phase::pack] += own[Phase::pack] + own[Phase::write];  // what wrote was the codec
  return moved;
}

// Rank 0: the chunks of datasets that are kept in part or whole, which nobody has encoded yet.
struct ChunkId {
  int dataset = 0;
  int64_t number = 0;
};
std::vector<ChunkId> find_missing(const Work& work, std::span<const ChunkId> encoded) {
  std::vector<std::vector<bool>> there(work.tiled.size());
  std::vector<ChunkId> missing;
  for (size_t d = 0; d < there.size(); ++d)
    if (work.tiled[d].tiles) there[d].resize(static_cast<size_t>(work.tiled[d].tiles->count()));
  for (const ChunkId& chunk : encoded)
    there[static_cast<size_t>(chunk.dataset)][static_cast<size_t>(chunk.number)] = true;
  for (size_t d = 0; d < there.size(); ++d)
    for (size_t i = 0; work.contents.kept[d] > 0 && i < there[d].size(); ++i)
      if (!there[d][i]) missing.push_back({static_cast<int>(d), static_cast<int64_t>(i)});
  return missing;
}

// Collective. The chunks of the published file that no put concerns, each rank an equal number of them.
Status encode_kept(const Communicator& comm, Work& work) {
  std::vector<ChunkId> own;
  for (size_t d = 0; d < work.mine.size(); ++d)
    for (const EncodedChunk& chunk : work.mine[d].chunks) own.push_back({static_cast<int>(d), chunk.number});
  PENSTOCK_ASSIGN(const auto all, comm->gather(std::as_bytes(std::span(own)), 0));
  PENSTOCK_ASSIGN(const auto message, from_rank_0(comm, [&](Encoder& out) -> Status {
                    std::vector<ChunkId> encoded;
                    for (const auto& bytes : all) {
                      const size_t before = encoded.size();
                      encoded.resize(before + bytes.size() / sizeof(ChunkId));
                      if (!bytes.empty()) std::memcpy(encoded.data() + before, bytes.data(), bytes.size());
                    }
                    out.list(std::span<const ChunkId>(find_missing(work, encoded)));
                    return {};
                  }));
  const auto missing = Decoder(message).list<ChunkId>();
  const auto share = [&](int rank) { return missing.size() * static_cast<size_t>(rank) / comm->size(); };
  std::vector<std::byte> tile;
  for (size_t i = share(comm->rank()); i < share(comm->rank() + 1); ++i) {
    const auto& [d, number] = missing[i];
    const Box box = work.tiled[static_cast<size_t>(d)].tiles->box(number);
    tile.resize(static_cast<size_t>(elements(box.count) * bytes(work.dataset(d).type)));
    comm->working(0);
    PENSTOCK_TRY(work.read_old(d, number, tile));
    PENSTOCK_TRY(work.add(d, number, tile));
  }
  return {};
}

// Collective. Completes ENCODINGS, and turns OFFSETS of this rank's chunks into those of the dataset.
Result<std::vector<int64_t>> place_chunks(const Communicator& comm, Work& work, std::vector<Encoding>& encodings) {
  std::vector<int64_t> sums;
  for (const Mine& mine : work.mine) sums.push_back(std::ssize(mine.bytes));
  std::vector<int64_t> before = sums;
  PENSTOCK_TRY(comm->exclusive_sum(before));
  PENSTOCK_TRY(comm->all_reduce_sum(sums));
  Encoder lists;
  for (size_t d = 0; d < encodings.size(); ++d) {
    encodings[d].bytes = sums[d];
    std::erase_if(work.mine[d].chunks, [](const EncodedChunk& chunk) { return chunk.bytes == 0; });
    for (EncodedChunk& chunk : work.mine[d].chunks) chunk.offset += before[d];
    if (encodings[d].used()) lists.list(std::span<const EncodedChunk>(work.mine[d].chunks));
  }
  const std::vector<std::byte> own = lists.take();
  PENSTOCK_ASSIGN(const auto all, comm->gather(own, 0));
  for (const auto& of_rank : all) {
    Decoder in(of_rank);
    for (Encoding& encoding : encodings) {
      if (!encoding.used()) continue;
      const auto chunks = in.list<EncodedChunk>();
      encoding.chunks.insert(encoding.chunks.end(), chunks.begin(), chunks.end());
    }
  }
  for (Encoding& encoding : encodings) std::ranges::sort(encoding.chunks, {}, &EncodedChunk::number);
  return before;
}

}  // namespace

Result<Encoded> encode_datasets(Opened& file, const NewContents& contents) {
  Encoded encoded;
  const Settings& settings = file.plan.settings;
  const int64_t chunk_bytes = settings.integer("chunk_bytes");
  if (settings.word("compression") == "none" ||
      std::ranges::none_of(contents.catalogue.datasets, [&](const Dataset& d) { return is_encoded(d, chunk_bytes); }))
    return encoded;
  const Communicator& comm = file.target.comm;
  const bool keep = file.file && std::ranges::any_of(contents.kept, [](int64_t n) { return n > 0; });
  Work work{contents, keep ? &*file.file : nullptr, file.target.storage, {}, {}};
  auto encodings = begin(settings, work);
  PENSTOCK_TRY(agree(comm, encodings.status()));
  auto moved = encode_puts(comm, settings.integer("memory_bytes"), work, file.report.phases);
  PENSTOCK_TRY(agree(comm, moved.status()));
  if (keep) {
    PhaseTimer timer(file.report.phases, Phase::pack);
    PENSTOCK_TRY(agree(comm, guarded([&] { return encode_kept(comm, work); })));
  }
  PhaseTimer timer(file.report.phases, Phase::define);
  PENSTOCK_ASSIGN(const std::vector<int64_t> before, place_chunks(comm, work, *encodings));
  encoded.encodings = *std::move(encodings);
  encoded.claims = contents.claims;
  for (Claim& claim : encoded.claims)
    if (encoded.encodings[static_cast<size_t>(claim.dataset)].used()) claim.selection = Selection::of_runs(Dims{0}, {});
  int64_t held = 0;
  for (size_t d = 0; d < work.mine.size(); ++d) {
    encoded.bytes.push_back(std::move(work.mine[d].bytes));
    std::vector<std::byte>& own = encoded.bytes.back();
    held += static_cast<int64_t>(own.capacity());
    if (own.empty()) continue;
    const Run run{before[d], std::ssize(own)};
    encoded.claims.push_back(
        {static_cast<int>(d), Selection::of_runs(Dims{encoded.encodings[d].bytes}, std::span(&run, 1)), own.data()});
  }
  file.report.memory_peak = std::max(file.report.memory_peak, held + moved->memory_peak);
  return encoded;
}

}  // namespace penstock
