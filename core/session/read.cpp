// Reading: finds out what is in a file, and fetches the ranks' requests in one planned movement.
#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/model/checksums.hpp"
#include "core/session/method.hpp"
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
  if (info.bytes == 0) return Status(Code::damaged, fmt::format("'{}' is empty (0 bytes)", path));
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
  PENSTOCK_TRY(state.method->read(state, resolved));
  PENSTOCK_TRY(broadcast_replicas(state, resolved));
  for (const Pending& get : state.gets) finish_widening(get);
  state.gets.clear();
  return {};
}

}  // namespace penstock
