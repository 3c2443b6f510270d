// Reading: finds out what is in a file, and fetches the ranks' requests in one planned movement.
#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/integrity/verify.hpp"
#include "core/model/checksums.hpp"
#include "core/session/method.hpp"
#include "core/session/state.hpp"
#include "core/transport/move.hpp"

namespace penstock {
namespace {

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
  if (state.target.comm->rank() == speaker) {
    buffer.resize(static_cast<size_t>(bytes));
    move_shares(shares, buffer.data(), Direction::write);
  }
  PENSTOCK_TRY(state.target.comm->broadcast(buffer, speaker));
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
  const int64_t most = state.target.buffer_bytes;
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

}  // namespace

Status read_pending(File::State& state) {
  Resolved resolved;
  {
    PhaseTimer timer(state.report.phases, Phase::define);
    PENSTOCK_TRY(refresh(state.target, *state.file));
    // The parts of a set do not change when another index replaces it.
    if (state.file->contents.parts == std::vector{state.target.path}) PENSTOCK_TRY(check_held(state.target));
    PENSTOCK_TRY(check_source(state));
    auto mine = state.misuse.ok() ? local_definitions(state, state.gets) : Result<Definitions>(state.misuse);
    PENSTOCK_ASSIGN(Definitions agreed, agree_definitions(state.target.comm, std::move(mine)));
    PENSTOCK_ASSIGN(resolved, resolve(state, state.gets, std::move(agreed), Direction::read));
    for (size_t d = 0; d < resolved.sharing.size(); ++d)
      PENSTOCK_TRY(check_claim(state.file->contents, resolved.catalogue.datasets[d], resolved.sharing[d]));
  }
  if (const std::string& when = state.plan.settings.word("verify"); when != "never")
    PENSTOCK_TRY(verify_claims(state.target, *state.file, resolved.catalogue.datasets, resolved.claims,
                               when == "first" ? VerifyWhen::first : VerifyWhen::always, state.report.warnings));
  PENSTOCK_TRY(state.method->read(state, resolved));
  PENSTOCK_TRY(broadcast_replicas(state, resolved));
  for (const Pending& get : state.gets) finish_widening(get);
  state.gets.clear();
  return {};
}

}  // namespace penstock
