// Reading: fetches the ranks' requests in one planned movement; and reads of a single rank.
#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/base/units.hpp"
#include "core/model/boxes.hpp"
#include "core/model/checksums.hpp"
#include "core/session/methods.hpp"
#include "core/session/state.hpp"
#include "core/transport/move.hpp"

namespace penstock {
namespace {

std::vector<std::byte> pack(const Result<Contents>& contents) {
  Encoder out;
  out.value(contents.status().code());
  out.text(contents.status().message());
  if (contents.ok()) out.list(std::span<const std::byte>(encode(*contents)));
  return out.take();
}

Result<Contents> unpack_contents(std::span<const std::byte> bytes) {
  Decoder in(bytes);
  const auto code = in.value<Code>();
  std::string message = in.text();
  if (code != Code::ok) return Status(code, std::move(message));
  return decode_contents(in.list<std::byte>());
}

// The parts that DATASETS use, each with a place in the virtual address space. Ranks with the same datasets compute the
// same parts. The time does not grow with other datasets.
std::vector<Part> parts_of(const Contents& contents, std::span<const int> datasets, int64_t block) {
  std::vector<Part> parts;
  for (const std::string& path : contents.parts) parts.push_back({path, 0, 0});
  for (const int d : datasets)
    for (const StoredBlock& stored : contents.blocks[static_cast<size_t>(d)]) {
      const ElementType& type = contents.catalogue.datasets[static_cast<size_t>(d)].type;
      int64_t& size = parts[static_cast<size_t>(stored.part)].bytes;
      size = std::max(size, stored.base + span_bytes(stored, bytes(type)));
    }
  int64_t base = 0;
  for (Part& part : parts) {
    part.virtual_base = base;
    base += round_up(part.bytes, block);
  }
  return parts;
}

// The movements that fill CLAIM of dataset INDEX. Elements in no part become zero.
void add_pieces(const Contents& contents, const std::vector<Part>& parts, int index, const Claim& claim,
                std::vector<Piece>& pieces) {
  const auto d = static_cast<size_t>(index);
  const ElementType& type = contents.catalogue.datasets[d].type;
  add_pieces(contents.blocks[d], parts, type, claim, pieces);
  int64_t stored_elements = 0;
  for (const StoredBlock& stored : contents.blocks[d]) stored_elements += stored.where.count();
  if (stored_elements >= elements(contents.catalogue.datasets[d].shape)) return;  // they tile it
  const int64_t size = bytes(type);
  const std::vector<std::byte> zeros(static_cast<size_t>(std::min<int64_t>(claim.selection.count() * size, 1 << 20)));
  const Piece hole{0, 0, size, 0, claim.selection, claim.memory};
  SliceCursor cursor(hole, 0, INT64_MAX / 2);
  for (Slice slice; cursor.next(slice);)
    for (int64_t at = 0; at < slice.bytes;) {
      Slice part = slice;
      part.skip = slice.skip + at;
      part.bytes = std::min<int64_t>(slice.bytes - at, static_cast<int64_t>(zeros.size()));
      copy_slice(hole, part, const_cast<std::byte*>(zeros.data()), Direction::read);
      at += part.bytes;
    }
}

// At most about MOST bytes at once; each time the library opens the file again.
Status read_foreign(const Contents& contents, const std::string& path, int index, const Selection& selection,
                    std::byte* memory, int64_t most) {
  const Dataset& dataset = contents.catalogue.datasets[static_cast<size_t>(index)];
  const Format* format = find_format(contents.format);
  std::vector<Box> whole, boxes;
  if (selection.is_box())
    whole.push_back(selection.box());
  else
    for (const MemoryRun& run : selection.runs()) boxes_of_run(dataset.shape, run.offset, run.length, whole);
  for (const Box& box : whole)
    if (elements(box.count) > 0) cut_box(box, std::max<int64_t>(1, most / bytes(dataset.type)), boxes);
  std::vector<std::byte> buffer;
  for (const Box& box : boxes) {
    buffer.resize(static_cast<size_t>(elements(box.count) * bytes(dataset.type)));
    PENSTOCK_TRY(format->read_foreign(path, dataset, box, buffer));
    const auto common = intersect(selection, Selection::of_box(dataset.shape, box));
    if (!common) continue;
    const Piece piece{0, 0, bytes(dataset.type), 0, *common, memory};
    copy_window(piece, {0, std::ssize(buffer)}, buffer.data(), Direction::read);
  }
  return {};
}

Status check_claim(const Contents& contents, const Dataset& wanted, Sharing sharing) {
  const Dataset* there = contents.catalogue.find(wanted.name);
  if (there == nullptr) return {Code::not_found, fmt::format("there is no dataset '{}'", wanted.name)};
  if (sharing == Sharing::ragged && wanted.shape[0] > there->shape[0])
    return {Code::mismatch, fmt::format("all ranks together ask for {} rows of '{}', which has {}", wanted.shape[0],
                                        wanted.name, there->shape[0])};
  if (sharing == Sharing::per_rank && wanted.shape[0] != there->shape[0])
    return {Code::mismatch, fmt::format("'{}' has a row for each of {} ranks, but {} ranks read it: use a block",
                                        wanted.name, there->shape[0], wanted.shape[0])};
  return {};
}

// Some bytes of a replicated dataset, and the requests for them on this rank.
struct Share {
  const Dataset* dataset;
  std::vector<const Pending*> requests;
  AddressRange range;
};

// Copies between BYTES, which holds SHARES one after another, and this rank's requests.
void move_shares(std::span<const Share> shares, std::byte* bytes, Direction direction) {
  for (const Share& share : shares) {
    const Dims& shape = share.dataset->shape;
    for (const Pending* p : share.requests) {
      const Selection whole = Selection::of_box(shape, Box{Dims::filled(shape.rank(), 0), shape}, p->memory);
      copy_window({0, 0, penstock::bytes(share.dataset->type), 0, whole, p->data}, share.range, bytes, direction);
      if (direction == Direction::write) break;  // the first request was read
    }
    bytes += share.range.end - share.range.begin;
  }
}

// Of BYTES in total.
Status broadcast_shares(File::State& state, std::span<const Share> shares, int64_t bytes, int speaker) {
  std::vector<std::byte> buffer;
  if (state.comm->rank() == speaker) {
    buffer.resize(static_cast<size_t>(bytes));
    move_shares(shares, buffer.data(), Direction::write);
  }
  PENSTOCK_TRY(state.comm->broadcast(buffer, speaker));
  move_shares(shares, buffer.data(), Direction::read);
  state.report.memory_peak = std::max(state.report.memory_peak, bytes);
  return {};
}

// Broadcasts the speakers' copies of replicated data: many datasets in one message, large ones in pieces.
Status broadcast_replicas(File::State& state, const Resolved& resolved) {
  std::map<std::string_view, std::vector<const Pending*>> requests;
  for (const Pending& p : state.gets) requests[p.name].push_back(&p);
  std::map<int, std::vector<Share>> of_speaker;
  for (const auto& [name, speaker] : resolved.speaker)
    of_speaker[speaker].push_back({resolved.catalogue.find(name), requests[name], {}});
  const int64_t most = state.buffer_bytes();
  for (auto& [speaker, datasets] : of_speaker) {
    std::vector<Share> shares;
    int64_t sum = 0;
    for (Share& share : datasets) {
      for (const int64_t end = bytes(*share.dataset); share.range.end < end;) {
        share.range = {share.range.end, std::min(end, share.range.end + most - sum)};
        shares.push_back(share);
        sum += share.range.end - share.range.begin;
        if (sum < most) continue;
        PENSTOCK_TRY(broadcast_shares(state, shares, sum, speaker));
        shares.clear();
        sum = 0;
      }
    }
    if (sum > 0) PENSTOCK_TRY(broadcast_shares(state, shares, sum, speaker));
  }
  return {};
}

// Plain data in parts moves by the transport; each rank reads the rest through the format's library.
Status transport_read(File::State& state, const Resolved& resolved) {
  const Contents& contents = *state.contents;
  Job job;
  job.direction = Direction::read;
  job.comm = state.comm;
  std::vector<int> asked;
  for (const Dataset& dataset : resolved.catalogue.datasets) asked.push_back(contents.catalogue.index_of(dataset.name));
  job.parts = parts_of(contents, asked, state.plan.settings.integer("block"));
  Status foreign;
  for (const Claim& claim : resolved.claims) {
    const int index = asked[static_cast<size_t>(claim.dataset)];
    if (!contents.foreign[static_cast<size_t>(index)]) {
      add_pieces(contents, job.parts, index, claim, job.pieces);
    } else if (foreign.ok()) {
      PhaseTimer timer(state.report.phases, Phase::read);
      foreign = read_foreign(contents, state.described(), index, claim.selection, claim.memory,
                             std::max<int64_t>(state.buffer_bytes(), 1 << 20));
    }
  }
  job.phases = &state.report.phases;
  HintsOutcome outcome;
  job.hints_outcome = &outcome;
  PENSTOCK_ASSIGN(const auto transfer, begin_transfer(state, job, state.plan.settings));
  const Status status = transfer->finish();
  state.report.statistics = transfer->statistics();
  state.report.hints = outcome.effective;
  state.report.warnings.insert(state.report.warnings.end(), outcome.warnings.begin(), outcome.warnings.end());
  state.report.memory_peak = std::max(state.report.memory_peak, transfer->memory_peak());
  state.report.writers = transfer->touched_files() ? 1 : 0;
  PENSTOCK_TRY(agree(state.comm, status));
  return agree(state.comm, foreign);
}

}  // namespace

namespace {

// The format of a file of BYTES bytes that begins with HEAD; null if none recognises it.
Result<const Format*> recognise(StorageFile& file, std::span<const std::byte> head, int64_t bytes) {
  for (const Format* format : formats())
    if (format->recognises(head)) return format;
  std::array<std::byte, 8> later;
  for (int64_t at = 512; at <= bytes - std::ssize(later); at *= 2) {
    PENSTOCK_TRY(file.read(at, later));
    for (const Format* format : formats())
      if (format->may_begin_later() && format->recognises(later)) return format;
  }
  return nullptr;
}

}  // namespace

Result<Contents> recognise_and_read(Storage& storage, const std::string& path) {
  if (const Engine* engine = recognising_engine(path)) return engine->contents(path);
  PENSTOCK_ASSIGN(const FileStat info, storage.stat(path));
  if (info.directory) return Status(Code::invalid, fmt::format("'{}' is a folder, not a file", path));
  if (!info.regular) return Status(Code::invalid, fmt::format("'{}' is no regular file", path));
  std::vector<std::byte> head(static_cast<size_t>(std::min<int64_t>(512, info.bytes)));
  PENSTOCK_ASSIGN(auto file, storage.open(path, Io::buffered, false));
  PENSTOCK_TRY(file->read(0, head));
  PENSTOCK_ASSIGN(const Format* format, recognise(*file, head, info.bytes));
  PENSTOCK_TRY(file->close());
  if (format == nullptr)
    return Status(
        Code::damaged,
        fmt::format("'{}' is no file that penstock can read: neither HDF5, nor classic netCDF, nor the index of a set",
                    path));
  PENSTOCK_ASSIGN(Contents contents, format->read(path));
  take_record_apart(contents);
  return contents;
}

Result<Contents> read_contents(const Communicator& comm, Storage& storage, const std::string& path) {
  std::vector<std::byte> bytes;
  if (comm->rank() == 0) bytes = pack(recognise_and_read(storage, path));
  PENSTOCK_TRY(comm->broadcast(bytes, 0));
  return unpack_contents(bytes);
}

Status move_pieces_here(Direction direction, std::vector<Part> parts, std::vector<Piece> pieces,
                        const std::shared_ptr<Storage>& storage) {
  PENSTOCK_ASSIGN(const Plan plan, parse_plan("independent", "raw", catalog()));
  Job job;
  PhaseTimes phases;
  job.direction = direction;
  job.comm = serial_communicator();
  job.storage = storage;
  job.sync = false;
  job.parts = std::move(parts);
  job.pieces = std::move(pieces);
  job.phases = &phases;
  PENSTOCK_ASSIGN(const auto transfer, find_transport("independent")->begin(job, plan.settings));
  return transfer->finish();
}

namespace {

Status move_here(Direction direction, const Contents& contents, std::span<const Claim> claims,
                 const std::shared_ptr<Storage>& storage) {
  std::vector<int> named;
  for (const Claim& claim : claims)
    if (named.empty() || named.back() != claim.dataset) named.push_back(claim.dataset);
  std::vector<Part> parts = parts_of(contents, named, Job().block);
  std::vector<Piece> pieces;
  for (const Claim& claim : claims)
    if (!contents.foreign[static_cast<size_t>(claim.dataset)])
      add_pieces(contents, parts, claim.dataset, claim, pieces);
  return move_pieces_here(direction, std::move(parts), std::move(pieces), storage);
}

}  // namespace

Status read_here(const Contents& contents, const std::string& path, std::span<const Claim> claims,
                 const std::shared_ptr<Storage>& storage) {
  constexpr int64_t most = 16 << 20;
  for (const Claim& claim : claims)
    if (contents.foreign[static_cast<size_t>(claim.dataset)])
      PENSTOCK_TRY(read_foreign(contents, path, claim.dataset, claim.selection, claim.memory, most));
  return move_here(Direction::read, contents, claims, storage);
}

Status write_here(const Contents& contents, std::span<const Claim> claims, const std::shared_ptr<Storage>& storage) {
  return move_here(Direction::write, contents, claims, storage);
}

Status read_pending(File::State& state) {
  Resolved resolved;
  {
    PhaseTimer timer(state.report.phases, Phase::define);
    PENSTOCK_TRY(refresh(state));
    // The parts of a set do not change when another index replaces it.
    if (state.contents->parts == std::vector{state.path}) PENSTOCK_TRY(check_held(state));
    PENSTOCK_TRY(check_source(state));
    auto mine = state.misuse.ok() ? local_definitions(state, state.gets) : Result<Definitions>(state.misuse);
    PENSTOCK_ASSIGN(Definitions agreed, agree_definitions(state.comm, std::move(mine)));
    PENSTOCK_ASSIGN(resolved, resolve(state, state.gets, std::move(agreed), Direction::read));
    for (size_t d = 0; d < resolved.sharing.size(); ++d)
      PENSTOCK_TRY(check_claim(*state.contents, resolved.catalogue.datasets[d], resolved.sharing[d]));
  }
  PENSTOCK_TRY(verify_claims(state, resolved));
  PENSTOCK_TRY(state.engine != nullptr ? engine_read(state, resolved) : transport_read(state, resolved));
  PENSTOCK_TRY(broadcast_replicas(state, resolved));
  for (const Pending& get : state.gets) finish_widening(get);
  state.gets.clear();
  return {};
}

}  // namespace penstock
