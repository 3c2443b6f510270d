// Read: requests become claims; the method fills them; replicated data is read once and broadcast.
#include "core/commit/read.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/commit/agreement.hpp"
#include "core/commit/method.hpp"
#include "core/integrity/verify.hpp"
#include "core/model/checksums.hpp"
#include "core/transport/move.hpp"

namespace penstock {
namespace {

// WANTED has its final shape: all ranks' rows.
Status check_wanted(const Contents& contents, const std::string& name, const Definition& wanted) {
  const Dataset* there = contents.catalogue.find(name);
  if (there == nullptr) return {Code::not_found, fmt::format("there is no dataset '{}'", name)};
  if (wanted.sharing == Sharing::ragged && wanted.shape[0] > there->shape[0])
    return {Code::mismatch, fmt::format("all ranks together ask for {} rows of '{}', which has {}", wanted.shape[0],
                                        name, there->shape[0])};
  if (wanted.sharing == Sharing::per_rank && wanted.shape[0] != there->shape[0])
    return {Code::mismatch, fmt::format("'{}' has a row for each of {} ranks, but {} ranks read it: use a block", name,
                                        there->shape[0], wanted.shape[0])};
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
Status broadcast_shares(const Communicator& comm, std::span<const Share> shares, int64_t bytes, int speaker) {
  std::vector<std::byte> buffer;
  if (comm->rank() == speaker) {
    buffer.resize(static_cast<size_t>(bytes));
    move_shares(shares, buffer.data(), Direction::write);
  }
  PENSTOCK_TRY(comm->broadcast(buffer, speaker));
  move_shares(shares, buffer.data(), Direction::read);
  return {};
}

// Broadcasts the speakers' copies of replicated data: many datasets in one message, large ones in pieces. Returns the
// bytes of its largest message.
Result<int64_t> broadcast_replicas(const Target& target, std::span<const Pending> gets, const Catalogue& wanted,
                                   const std::map<std::string, int>& speakers) {
  std::map<std::string_view, std::vector<const Pending*>> requests;
  for (const Pending& p : gets) requests[p.name].push_back(&p);
  std::map<int, std::vector<Share>> of_speaker;
  for (const auto& [name, speaker] : speakers) of_speaker[speaker].push_back({wanted.find(name), requests[name], {}});
  const int64_t most = target.buffer_bytes;
  int64_t peak = 0;
  for (auto& [rank, datasets] : of_speaker) {
    const int speaker = rank;  // a capture for Debian 12's clang
    std::vector<Share> shares;
    int64_t sum = 0;
    const auto send = [&]() -> Status {
      peak = std::max(peak, sum);
      PENSTOCK_TRY(broadcast_shares(target.comm, shares, sum, speaker));
      shares.clear();
      sum = 0;
      return {};
    };
    for (Share& share : datasets) {
      for (const int64_t end = bytes(*share.dataset); share.range.end < end;) {
        share.range = {share.range.end, std::min(end, share.range.end + most - sum)};
        shares.push_back(share);
        sum += share.range.end - share.range.begin;
        if (sum == most) PENSTOCK_TRY(send());
      }
    }
    if (sum > 0) PENSTOCK_TRY(send());
  }
  return peak;
}

}  // namespace

Status read_pending(Opened& file, std::span<const Pending> gets, const Status& misuse) {
  Target& target = file.target;
  Published& published = *file.file;
  const Contents& contents = published.contents;
  Report& report = file.report;
  Agreement agreement;
  {
    PhaseTimer timer(report.phases, Phase::define);
    PENSTOCK_TRY(refresh(target, published));
    // The parts of a set do not change when another index replaces it.
    if (contents.parts == std::vector{target.path}) PENSTOCK_TRY(check_held(target));
    PENSTOCK_TRY(check_source(target, file.source));
    auto mine = misuse.ok() ? define(&published, gets, {}, target.comm->rank()) : Result<Definitions>(misuse);
    DefinitionBounds maxima = bounds_of(mine);
    PENSTOCK_TRY(target.comm->all_reduce_max(maxima));
    PENSTOCK_ASSIGN(agreement, agree_blocks(target.comm, gets, std::move(mine), maxima, Direction::read));
    for (const auto& [name, wanted] : agreement.definitions.datasets)
      PENSTOCK_TRY(check_wanted(contents, name, wanted));
  }
  const Catalogue wanted{datasets_of(agreement), {}};
  const std::vector<Claim> claims = claims_of(agreement, gets, wanted, target.comm->rank());
  if (const std::string& when = file.plan.settings.word("verify"); when != "never")
    PENSTOCK_TRY(verify_claims(target, published, wanted.datasets, claims,
                               when == "first" ? VerifyWhen::first : VerifyWhen::always, report.warnings));
  PENSTOCK_TRY(file.method->read(file, wanted.datasets, claims));
  PENSTOCK_ASSIGN(const int64_t peak, broadcast_replicas(target, gets, wanted, agreement.speaker));
  report.memory_peak = std::max(report.memory_peak, peak);
  for (const Pending& get : gets) finish_widening(get);
  return {};
}

}  // namespace penstock
