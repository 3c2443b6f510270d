// Encode: chunks come to their ranks as tiles, as if these were files; a sum over ranks then gives each its place.
#include "core/commit/encode.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "core/access/recognise.hpp"
#include "core/access/tile_files.hpp"
#include "core/base/guarded.hpp"
#include "core/base/units.hpp"
#include "core/comm/cores.hpp"
#include "core/comm/share.hpp"
#include "core/commit/batches.hpp"
#include "core/commit/chunk_store.hpp"
#include "core/commit/errors.hpp"
#include "core/commit/ways.hpp"
#include "core/model/checksums.hpp"

namespace penstock {
namespace {

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

// Cuts the datasets into chunks. Their elements are summed while they are in the processor's cache, unless that was
// done before, or the published file has some of them.
void cut(std::span<const EncodingWay> ways, ChunkStore& store, NewContents& contents) {
  const std::vector<Dataset>& datasets = contents.catalogue.datasets;
  CommitSums& sums = contents.sums;
  const bool sums_them = sums.wanted && !sums.added_up;
  if (sums_them) sums.encoded.assign(datasets.size(), false);
  for (size_t d = 0; d < datasets.size(); ++d) {
    if (ways[d].codec == nullptr) continue;
    store.cut(d, Tiles(datasets[d], ways[d].chunk, 0));
    if (const auto rounded = contents.rounded.find(datasets[d].name); rounded != contents.rounded.end())
      store.round(d, rounded->second);
    if (sums_them) sums.encoded[d] = ways[d].codec->lossy() || contents.kept[d] == 0;
  }
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

// Collective. Chooses the filters of all datasets, by the errors that are allowed, and makes their encoders. Same
// status on all ranks.
Result<std::vector<Encoding>> make_encoders(const Opened& file, std::span<const EncodingWay> ways, ChunkStore& store,
                                            NewContents& contents, std::span<const Claim> claims) {
  const std::vector<Dataset>& datasets = contents.catalogue.datasets;
  PENSTOCK_ASSIGN(auto errors, allowed_errors(file.target.comm, ways, store, claims));
  std::vector<Encoding> encodings(datasets.size());
  PENSTOCK_TRY(agree(file.target.comm, guarded([&]() -> Status {
                       for (size_t d = 0; d < datasets.size(); ++d) {
                         const EncodingWay& way = ways[d];
                         if (way.codec == nullptr) continue;
                         const Dims& chunk = store.tiles(static_cast<int>(d)).extents();
                         const CodecUse use{datasets[d].type, chunk,
                                            static_cast<int>(way.settings.integer("compression_level")),
                                            errors[d].most};
                         encodings[d] = {chunk, errors[d].filters, 0, {}};
                         if (!encodings[d].used()) encodings[d].filters = way.codec->filters(use);
                         PENSTOCK_TRY(store.encode_by(d, *way.codec, use, encodings[d].filters));
                       }
                       note_errors(errors, file.source.has_value(), contents.catalogue);
                       return {};
                     })));
  return encodings;
}

Result<Moved> encode_puts(const Opened& file, const NewContents& contents, bool keep, ChunkStore& store,
                          std::span<const Claim> claims, PhaseTimes& phases) {
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
  // Windows, an eighth of the memory, have two chunks each: the processor's cache has them until they are encoded.
  const int64_t memory =
      std::min(file.plan.settings.integer("memory_bytes"), std::max<int64_t>(16 * job.block, 4 << 20));
  auto moved = move_tiles(job, store.tiled(), claims, {bytes_of_rank, memory});
  phases[Phase::read] += own[Phase::read];
  phases[Phase::exchange] += own[Phase::exchange];
  phases[Phase::pack] += own[Phase::pack] + own[Phase::write];  // what wrote was the codec
  PhaseTimer timer(phases, Phase::pack);
  PENSTOCK_TRY(store.finish());
  return moved;
}

// Chunks of which one rank has all elements are encoded there, out of the program's memory; others on ranks that get
// their parts from all.
struct PutsToEncode {
  Opened& file;
  const NewContents& contents;
  bool keep;
  ChunkStore& store;
  std::span<const Claim> claims;
  OwnChunks own;

  Status encode_own(size_t first, size_t end) const {
    const Communicator& comm = file.target.comm;
    PhaseTimer timer(file.report.phases, Phase::pack);
    for (size_t i = first; i < end; ++i) {
      const Claim& claim = claims[own.chunks[i].claim];
      const int64_t number = own.chunks[i].number;
      PENSTOCK_TRY(store.add({claim.dataset, number}, part_of(claim, store.tiles(claim.dataset).box(number))));
      comm->working(0);
    }
    return {};
  }
};

// Collective. Encodes and writes batch after batch to AHEAD. Returns the bytes that were held. Same status on all
// ranks.
Result<int64_t> encode_ahead(const PutsToEncode& puts, AheadFile& ahead, bool& has_written) {
  Opened& file = puts.file;
  ChunkStore& store = puts.store;
  const Communicator& comm = file.target.comm;
  const int64_t most = batch_bytes(comm->size(), file.plan.settings.integer("memory_bytes"), store);
  std::vector<size_t> ends;
  std::vector<int64_t> left(store.tiled().size());  // bytes of each dataset
  PENSTOCK_TRY(agree(comm, guarded([&]() -> Status {
                       ends = batches_of(store, puts.own.chunks, puts.claims, most);
                       for (const Claim& part : puts.own.left)
                         left[static_cast<size_t>(part.dataset)] +=
                             part.selection.count() * bytes(store.dataset(part.dataset).type);
                       return {};
                     })));
  int64_t own_rounds = std::ssize(ends);
  PENSTOCK_TRY(comm->all_reduce_max(std::span(&own_rounds, 1)));
  PENSTOCK_TRY(comm->all_reduce_sum(left));
  const int64_t share = std::reduce(left.begin(), left.end()) / comm->size();
  const int64_t most_of_slice = std::max(most, file.plan.settings.integer("memory_bytes") / 4);
  const int64_t slices = std::ranges::all_of(left, [](int64_t bytes) { return bytes == 0; })
                             ? 0
                             : std::max(std::clamp<int64_t>(share / most, 1, most_slices), share / most_of_slice);
  std::vector<std::vector<Claim>> parts;
  PENSTOCK_TRY(agree(comm, guarded([&]() -> Status {
                       if (slices > 0) parts = slices_of(store, puts.own.left, left, slices);
                       return {};
                     })));
  Batches batches;
  batches.rounds = own_rounds + slices;
  batches.bytes = largest_batch(store, puts.own.chunks, puts.claims, ends);
  if (slices > 0) batches.bytes = std::max(batches.bytes, share / slices * 5 / 4 + 2 * largest_chunk(store));
  int64_t peak = 0;
  batches.encode = [&](int64_t round) -> Status {
    const auto at = static_cast<size_t>(round);
    if (round < own_rounds) return at < ends.size() ? puts.encode_own(at == 0 ? 0 : ends[at - 1], ends[at]) : Status();
    const std::vector<Claim>& slice = parts[at - static_cast<size_t>(own_rounds)];
    PENSTOCK_ASSIGN(const Moved moved, encode_puts(file, puts.contents, puts.keep, store, slice, file.report.phases));
    peak = std::max(peak, moved.memory_peak);
    return {};
  };
  const IoMode mode(ahead.io, file.plan.settings.integer("queue_depth"));
  PENSTOCK_ASSIGN(const int64_t held,
                  write_ahead(comm, *file.target.storage, mode, store, batches, ahead, file.report.phases));
  has_written = batches.bytes > 0;
  return held + peak;
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
                 return store.finish();
               }));
}

// Collective. Completes ENCODINGS: bytes on all ranks, chunks on rank 0. Returns the offset of this rank's bytes of
// each dataset. Same status on all ranks.
Result<std::vector<int64_t>> place_chunks(const Communicator& comm, ChunkStore& store,
                                          std::vector<Encoding>& encodings) {
  std::vector<int64_t> sums;
  for (const LocalChunks& local : store.local()) sums.push_back(local.bytes);
  std::vector<int64_t> before(sums.size());
  PENSTOCK_TRY(comm->exclusive_sum(sums, before));
  Encoder lists;
  for (size_t d = 0; d < encodings.size(); ++d) {
    encodings[d].bytes = sums[d];
    std::vector<EncodedChunk>& chunks = store.local()[d].chunks;
    std::erase_if(chunks, [](const EncodedChunk& chunk) { return chunk.bytes == 0; });
    for (EncodedChunk& chunk : chunks)
      if (chunk.written == 0) chunk.offset += before[d];
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
    for (ByteSegment& segment : store.local()[d].segments) {
      const Run run{at, segment.used};
      at += run.length;
      encoded.bytes.push_back(std::move(segment.memory));
      encoded.claims.push_back(
          {static_cast<int>(d), Selection::of_runs(all, std::span(&run, 1)), encoded.bytes.back().get()});
    }
  }
}

}  // namespace

Result<Encoded> encode_datasets(Opened& file, NewContents& contents, const MakeAhead& make_ahead) {
  Encoded encoded;
  const bool keep = file.file && std::ranges::any_of(contents.kept, [](int64_t n) { return n > 0; });
  PENSTOCK_ASSIGN(const std::vector<EncodingWay> ways, choose_ways(file, contents, make_ahead && !keep));
  if (std::ranges::none_of(ways, [](const EncodingWay& way) { return way.codec != nullptr; })) return encoded;
  offer_decoders();  // the program may read what it commits
  const Communicator& comm = file.target.comm;
  ChunkStore store(contents, keep ? &*file.file : nullptr, file.target.storage, workers_of(comm));
  EncodedClaims own;
  {
    PhaseTimer timer(file.report.phases, Phase::pack);
    PENSTOCK_TRY(agree(comm, guarded([&]() -> Status {
                         cut(ways, store, contents);
                         return collect(file.target, contents, store, own);
                       })));
    PENSTOCK_ASSIGN(encoded.encodings, make_encoders(file, ways, store, contents, own.claims));
  }
  PutsToEncode puts{file, contents, keep, store, own.claims, {}};
  PENSTOCK_TRY(agree(comm, guarded([&]() -> Status {
                       // In a partial file another rank may have put the same elements.
                       puts.own = contents.options.partial ? OwnChunks{{}, own.claims, false}
                                                           : own_chunks(comm->size(), store, own.claims);
                       return {};
                     })));
  int64_t facts[3] = {std::ssize(puts.own.chunks), std::ssize(puts.own.left), puts.own.in_parts ? 0 : 1};
  PENSTOCK_TRY(comm->all_reduce_max(facts));
  const bool any_own = facts[0] > 0, any_left = facts[1] > 0 || keep, in_parts = facts[2] == 0;
  if (make_ahead && !keep && in_parts && (any_own || any_left)) {
    PENSTOCK_ASSIGN(encoded.ahead, make_ahead(encoded.encodings));
  }
  int64_t held = own.bytes;
  if (encoded.ahead) {
    PENSTOCK_ASSIGN(const int64_t bytes, encode_ahead(puts, *encoded.ahead, encoded.has_written));
    held += bytes;
  } else {
    PENSTOCK_TRY(agree(comm, guarded([&] { return puts.encode_own(0, puts.own.chunks.size()); })));
    Moved moved;
    PENSTOCK_TRY(agree(comm, guarded([&]() -> Status {
                         if (!any_left) return store.finish();
                         PENSTOCK_ASSIGN(moved,
                                         encode_puts(file, contents, keep, store, puts.own.left, file.report.phases));
                         return {};
                       })));
    held += moved.memory_peak;
  }
  puts.own = {};
  own = {};
  if (keep) {
    PhaseTimer timer(file.report.phases, Phase::pack);
    PENSTOCK_TRY(encode_kept(comm, store));
  }
  PhaseTimer timer(file.report.phases, Phase::define);
  PENSTOCK_ASSIGN(const std::vector<int64_t> before, place_chunks(comm, store, encoded.encodings));
  claim_bytes(contents.claims, before, store, encoded);
  for (const LocalChunks& local : store.local())
    for (const ByteSegment& segment : local.segments) held += segment.capacity;
  file.report.memory_peak = std::max(file.report.memory_peak, held);
  return encoded;
}

}  // namespace penstock
