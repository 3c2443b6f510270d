// Encode: chunks come to their ranks as tiles, as if these were files; a sum over ranks then gives each its place.
#include "core/commit/encode.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/access/tile_files.hpp"
#include "core/base/guarded.hpp"
#include "core/base/units.hpp"
#include "core/comm/share.hpp"
#include "core/commit/chunk_store.hpp"
#include "core/commit/errors.hpp"
#include "core/model/checksums.hpp"

namespace penstock {
namespace {

constexpr int64_t min_bytes = 64 << 10;     // of an encoded dataset: a smaller one would not pay for its index
constexpr int64_t bytes_of_rank = 1 << 20;  // with less to do, a rank is left out
constexpr int64_t min_kept_chunk = 4096;    // smaller chunks of other files are not imitated
constexpr std::string_view fallback_codec = "deflate";

// The sizes that the plan sets.
struct Limits {
  int64_t memory_bytes = 0;
  int64_t max_chunk = 0;  // a chunk fits into what a rank holds at once
  int64_t chunk_bytes = 0;

  explicit Limits(const Settings& settings)
      : memory_bytes(settings.integer("memory_bytes")),
        max_chunk(memory_bytes / 4),
        chunk_bytes(std::min(settings.integer("chunk_bytes"), max_chunk)) {}

  bool encodes(const Dataset& dataset) const {
    return bytes(dataset) >= std::min(min_bytes, chunk_bytes) && bytes(dataset) > 0 && dataset.shape.rank() > 0 &&
           dataset.name != record_name;
  }
};

// A chunk as a file that is written once, in one piece.
class ChunkFile final : public StorageFile {
 public:
  ChunkFile(ChunkStore& store, ChunkId chunk) : store_(store), chunk_(chunk) {}

  Status write(int64_t offset, std::span<const std::byte> bytes) override {
    if (!is_whole(offset, std::ssize(bytes))) return {Code::internal, "a chunk came in pieces"};
    return store_.add(chunk_, bytes);
  }
  Status read(int64_t offset, std::span<std::byte> bytes) override {
    if (!is_whole(offset, std::ssize(bytes))) return {Code::internal, "a chunk is read in pieces"};
    return store_.read_old(chunk_, bytes);
  }
  Status sync() override { return {}; }
  Status close() override { return {}; }

 private:
  bool is_whole(int64_t offset, int64_t bytes) const { return offset == 0 && bytes == store_.tile_bytes(chunk_); }

  ChunkStore& store_;
  const ChunkId chunk_;
};

class ChunkFiles final : public TileFiles {
 public:
  explicit ChunkFiles(ChunkStore& store) : store_(store) {}
  Result<StorageFilePtr> open_tile(int dataset, int64_t tile) override {
    return StorageFilePtr(std::make_unique<ChunkFile>(store_, ChunkId{dataset, tile}));
  }

 private:
  ChunkStore& store_;
};

// The chunk extents of DATASET in the file whose data stays or is copied: no chunk is then decoded twice. Null if there
// are none, or if they do not suit.
const Dims* imitated(const Opened& file, const Dataset& dataset, const Limits& limits) {
  const auto& chunks = file.file ? file.file->contents.chunks : file.copied_chunks;
  const auto found = chunks.find(dataset.name);
  if (found == chunks.end() || found->second.rank() != dataset.shape.rank()) return nullptr;
  const int64_t size = Tiles(dataset, found->second, 0).bytes();
  return size >= std::min(min_kept_chunk, limits.chunk_bytes) && size <= limits.max_chunk ? &found->second : nullptr;
}

// A codec that suits a dataset, and the extents of its chunks.
struct Way {
  const Codec* codec = nullptr;
  Dims chunk;
};

// Nothing for a dataset that stays as it is: neither the plan's codec nor deflate, which every reader has, encodes it.
std::optional<Way> way_of(const Opened& file, const Dataset& dataset, const Limits& limits, bool stays) {
  if (!limits.encodes(dataset)) return {};
  for (const std::string_view name : {std::string_view(file.plan.settings.word("compression")), fallback_codec}) {
    const Codec& codec = *find_codec(name);
    if (!codec.describe().missing.empty()) continue;
    const Dims* old = stays ? imitated(file, dataset, limits) : nullptr;
    if (old != nullptr && codec.takes(dataset.type, *old)) return Way{&codec, *old};
    if (const Dims chunk = codec.chunk_of(dataset, limits.chunk_bytes); codec.takes(dataset.type, chunk))
      return Way{&codec, chunk};
  }
  return {};
}

// Cuts the datasets into chunks for their codecs. Null: not encoded.
std::vector<const Codec*> begin(const Opened& file, const Limits& limits, ChunkStore& store, NewContents& contents) {
  const std::vector<Dataset>& datasets = contents.catalogue.datasets;
  std::vector<const Codec*> codecs(datasets.size());
  for (size_t d = 0; d < datasets.size(); ++d) {
    const auto way = way_of(file, datasets[d], limits, !file.file || store.keeps(static_cast<int>(d)));
    if (!way) continue;
    codecs[d] = way->codec;
    store.cut(d, Tiles(datasets[d], way->chunk, 0));
  }
  if (contents.sums.lossy) {
    contents.sums.encoded.assign(datasets.size(), false);
    for (size_t d = 0; d < datasets.size(); ++d) contents.sums.encoded[d] = codecs[d] != nullptr && codecs[d]->lossy();
  }
  return codecs;
}

// The claims on encoded datasets, all in memory: SUPPLIED owns what suppliers yield.
struct EncodedClaims {
  std::vector<Claim> claims;
  std::map<const Supplier*, std::vector<std::byte>> supplied;
  int64_t bytes = 0;  // of SUPPLIED
};

// One past the last element in memory.
int64_t memory_end(const Selection& selection) {
  int64_t end = 0;
  Cursor cursor(selection);
  for (Segment segment; cursor.next(segment);) end = std::max(end, segment.memory + segment.length);
  return end;
}

// All elements of SUPPLIER, in its order.
Status ask(const Target& target, const Supplier& supplier, int64_t size, std::vector<std::byte>& data) {
  const int64_t count = std::ssize(data) / size, most = std::max<int64_t>(1, target.buffer_bytes / size);
  for (int64_t first = 0; first < count; first += most) {
    const int64_t length = std::min(most, count - first);
    PENSTOCK_TRY(supplier(
        first, std::span(data).subspan(static_cast<size_t>(first * size), static_cast<size_t>(length * size))));
    target.comm->working(0);
  }
  return {};
}

// Local. Asks the suppliers of encoded datasets, and adds what they yield to the checksums.
Status collect(const Target& target, NewContents& contents, const ChunkStore& store, EncodedClaims& encoded) {
  std::map<const Supplier*, int64_t> ends;  // a supplier may have several claims
  for (const Claim& claim : contents.claims) {
    if (!store.is_cut(claim.dataset)) continue;
    encoded.claims.push_back(claim);
    if (claim.supplier != nullptr) ends[claim.supplier] = std::max(ends[claim.supplier], memory_end(claim.selection));
  }
  CommitSums& sums = contents.sums;
  for (Claim& claim : encoded.claims) {
    if (claim.supplier == nullptr) continue;
    const auto d = static_cast<size_t>(claim.dataset);
    const int64_t size = bytes(store.dataset(claim.dataset).type);
    const auto [at, is_new] = encoded.supplied.try_emplace(claim.supplier);
    if (is_new) {
      at->second.resize(static_cast<size_t>(ends[claim.supplier] * size));
      encoded.bytes += std::ssize(at->second);
      PENSTOCK_TRY(ask(target, *claim.supplier, size, at->second)
                       .in(fmt::format("supplying '{}'", store.dataset(claim.dataset).name)));
    }
    claim.memory = at->second.data();
    claim.supplier = nullptr;
    if (sums.wanted && sums.summed[d] && (sums.encoded.empty() || !sums.encoded[d]))
      add_to_sums(claim.selection, claim.memory, size, sums.cuts[d], sums.sums);
  }
  return {};
}

// Collective. Chooses the filters of all datasets, by the errors that the plan allows, and makes their encoders. Same
// status on all ranks.
Result<std::vector<Encoding>> make_encoders(const Opened& file, std::span<const Codec* const> codecs, ChunkStore& store,
                                            NewContents& contents, std::span<const Claim> claims) {
  const Settings& settings = file.plan.settings;
  const std::vector<Dataset>& datasets = contents.catalogue.datasets;
  PENSTOCK_ASSIGN(auto errors, allowed_errors(file.target.comm, settings, codecs, store, claims));
  std::vector<Encoding> encodings(datasets.size());
  PENSTOCK_TRY(agree(file.target.comm, guarded([&]() -> Status {
                       for (size_t d = 0; d < datasets.size(); ++d) {
                         if (codecs[d] == nullptr) continue;
                         const Dims& chunk = store.tiles(static_cast<int>(d)).extents();
                         const CodecUse use{datasets[d].type, chunk,
                                            static_cast<int>(settings.integer("compression_level")), errors[d].most};
                         encodings[d] = {chunk, errors[d].filters, 0, {}};
                         if (!encodings[d].used()) encodings[d].filters = codecs[d]->filters(use);
                         PENSTOCK_TRY(store.encode_by(d, *codecs[d], use, encodings[d].filters));
                       }
                       note_errors(errors, file.source.has_value(), contents.catalogue);
                       return {};
                     })));
  return encodings;
}

Result<Moved> encode_puts(const Opened& file, const Limits& limits, const NewContents& contents, bool keep,
                          ChunkStore& store, std::span<const Claim> claims, PhaseTimes& phases) {
  PhaseTimes own;
  Job job;
  job.direction = Direction::write;
  job.comm = file.target.comm;
  job.files = std::make_shared<ChunkFiles>(store);
  job.keep = keep;
  job.disjoint = !keep && !contents.options.partial;
  job.sync = false;
  job.phases = &own;
  for (const Tiled& one : store.tiled())  // shares of ranks meet between chunks
    if (one.tiles) job.block = std::max(job.block, round_up(one.tiles->bytes(), direct_alignment));
  auto moved = move_tiles(job, store.tiled(), claims, {bytes_of_rank, limits.memory_bytes});
  phases[Phase::read] += own[Phase::read];
  phases[Phase::exchange] += own[Phase::exchange];
  phases[Phase::pack] += own[Phase::pack] + own[Phase::write];  // what wrote was the codec
  return moved;
}

// Rank 0: the chunks of datasets that are kept in part or whole, which nobody has encoded yet.
std::vector<ChunkId> find_missing(const ChunkStore& store, std::span<const ChunkId> encoded) {
  std::vector<std::vector<bool>> there(store.tiled().size());
  std::vector<ChunkId> missing;
  for (size_t d = 0; d < there.size(); ++d)
    if (store.is_cut(static_cast<int>(d)) && store.keeps(static_cast<int>(d)))
      there[d].resize(static_cast<size_t>(store.tiles(static_cast<int>(d)).count()));
  for (const auto& [d, number] : encoded)
    if (!there[static_cast<size_t>(d)].empty()) there[static_cast<size_t>(d)][static_cast<size_t>(number)] = true;
  for (size_t d = 0; d < there.size(); ++d)
    for (size_t i = 0; i < there[d].size(); ++i)
      if (!there[d][i]) missing.push_back({static_cast<int>(d), static_cast<int64_t>(i)});
  return missing;
}

// Collective. The chunks of the published file that no put concerns, each rank an equal number of them. Same status on
// all ranks.
Status encode_kept(const Communicator& comm, ChunkStore& store) {
  std::vector<ChunkId> own;
  for (size_t d = 0; d < store.local().size(); ++d)
    for (const EncodedChunk& chunk : store.local()[d].chunks) own.push_back({static_cast<int>(d), chunk.number});
  PENSTOCK_ASSIGN(const auto all, comm->gather(std::as_bytes(std::span(own)), 0));
  PENSTOCK_ASSIGN(const auto message, from_rank_0(comm, [&](Encoder& out) -> Status {
                    std::vector<ChunkId> encoded;
                    for (const auto& bytes : all) {
                      const size_t before = encoded.size();
                      encoded.resize(before + bytes.size() / sizeof(ChunkId));
                      if (!bytes.empty()) std::memcpy(encoded.data() + before, bytes.data(), bytes.size());
                    }
                    out.list(std::span<const ChunkId>(find_missing(store, encoded)));
                    return {};
                  }));
  return agree(comm, guarded([&]() -> Status {
                 const auto missing = Decoder(message).list<ChunkId>();
                 const auto share = [&](int rank) { return missing.size() * static_cast<size_t>(rank) / comm->size(); };
                 std::vector<std::byte> tile;
                 for (size_t i = share(comm->rank()); i < share(comm->rank() + 1); ++i) {
                   tile.resize(static_cast<size_t>(store.tile_bytes(missing[i])));
                   comm->working(0);
                   PENSTOCK_ASSIGN(const bool taken, store.take_old(missing[i]));
                   if (taken) continue;
                   PENSTOCK_TRY(store.read_old(missing[i], tile));
                   PENSTOCK_TRY(store.add(missing[i], tile));
                 }
                 return {};
               }));
}

// Collective. Completes ENCODINGS: bytes on all ranks, chunks on rank 0. Returns the offset of this rank's bytes of
// each dataset. Same status on all ranks.
Result<std::vector<int64_t>> place_chunks(const Communicator& comm, ChunkStore& store,
                                          std::vector<Encoding>& encodings) {
  std::vector<int64_t> sums;
  for (const LocalChunks& local : store.local()) sums.push_back(local.bytes);
  std::vector<int64_t> before = sums;
  PENSTOCK_TRY(comm->exclusive_sum(before));
  PENSTOCK_TRY(comm->all_reduce_sum(sums));
  Encoder lists;
  for (size_t d = 0; d < encodings.size(); ++d) {
    encodings[d].bytes = sums[d];
    std::vector<EncodedChunk>& chunks = store.local()[d].chunks;
    std::erase_if(chunks, [](const EncodedChunk& chunk) { return chunk.bytes == 0; });
    for (EncodedChunk& chunk : chunks) chunk.offset += before[d];
    if (encodings[d].used()) lists.list(std::span<const EncodedChunk>(chunks));
  }
  const std::vector<std::byte> own = lists.take();
  PENSTOCK_ASSIGN(const auto all, comm->gather(own, 0));
  PENSTOCK_TRY(agree(comm, guarded([&]() -> Status {
                       for (const auto& of_rank : all) {
                         Decoder in(of_rank);
                         for (Encoding& encoding : encodings) {
                           if (!encoding.used()) continue;
                           const auto chunks = in.list<EncodedChunk>();
                           encoding.chunks.insert(encoding.chunks.end(), chunks.begin(), chunks.end());
                         }
                       }
                       for (Encoding& encoding : encodings)
                         std::ranges::sort(encoding.chunks, {}, &EncodedChunk::number);
                       return {};
                     })));
  return before;
}

// This rank's claims once STORE has encoded: see Encoded. BEFORE: as from place_chunks.
void claim_bytes(std::span<const Claim> claims, std::span<const int64_t> before, ChunkStore& store, Encoded& encoded) {
  encoded.claims.assign(claims.begin(), claims.end());
  for (Claim& claim : encoded.claims) {
    if (!encoded.has(claim.dataset)) continue;
    claim.selection = Selection::of_runs(Dims{0}, {});
    claim.supplier = nullptr;
  }
  for (size_t d = 0; d < store.local().size(); ++d) {
    const Dims all{encoded.encodings[d].bytes};
    int64_t at = before[d];
    for (std::vector<std::byte>& segment : store.local()[d].segments) {
      const Run run{at, std::ssize(segment)};
      at += run.length;
      encoded.bytes.push_back(std::move(segment));
      encoded.claims.push_back(
          {static_cast<int>(d), Selection::of_runs(all, std::span(&run, 1)), encoded.bytes.back().data()});
    }
  }
}

}  // namespace

Result<Encoded> encode_datasets(Opened& file, NewContents& contents) {
  Encoded encoded;
  const Limits limits(file.plan.settings);
  const std::vector<Dataset>& datasets = contents.catalogue.datasets;
  if (file.plan.settings.word("compression") == "none" ||
      std::ranges::none_of(datasets, [&](const Dataset& dataset) { return limits.encodes(dataset); }))
    return encoded;
  const Communicator& comm = file.target.comm;
  const bool keep = file.file && std::ranges::any_of(contents.kept, [](int64_t n) { return n > 0; });
  ChunkStore store(contents, keep ? &*file.file : nullptr, file.target.storage);
  EncodedClaims own;
  {
    PhaseTimer timer(file.report.phases, Phase::pack);
    std::vector<const Codec*> codecs;
    PENSTOCK_TRY(agree(comm, guarded([&]() -> Status {
                         codecs = begin(file, limits, store, contents);
                         return collect(file.target, contents, store, own);
                       })));
    PENSTOCK_ASSIGN(encoded.encodings, make_encoders(file, codecs, store, contents, own.claims));
  }
  Moved moved;
  PENSTOCK_TRY(agree(comm, guarded([&]() -> Status {
                       PENSTOCK_ASSIGN(
                           moved, encode_puts(file, limits, contents, keep, store, own.claims, file.report.phases));
                       return {};
                     })));
  int64_t held = moved.memory_peak + own.bytes;
  own = {};
  if (keep) {
    PhaseTimer timer(file.report.phases, Phase::pack);
    PENSTOCK_TRY(encode_kept(comm, store));
  }
  PhaseTimer timer(file.report.phases, Phase::define);
  PENSTOCK_ASSIGN(const std::vector<int64_t> before, place_chunks(comm, store, encoded.encodings));
  claim_bytes(contents.claims, before, store, encoded);
  for (const auto& segment : encoded.bytes) held += static_cast<int64_t>(segment.capacity());
  file.report.memory_peak = std::max(file.report.memory_peak, held);
  return encoded;
}

}  // namespace penstock
