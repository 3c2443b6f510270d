// two_phase: counted with the transport's own planning functions.
#include <algorithm>

#include "bench/count/costs.hpp"
#include "core/commit/sums.hpp"
#include "core/transport/two_phase/exchange.hpp"

namespace penstock::bench {

Result<Domains> domains_of(const VirtualJob& job, const Settings& settings) {
  Reach all;
  for (const int rank : job.counted()) {
    PENSTOCK_ASSIGN(const std::vector<penstock::Piece> pieces, job.pieces(rank));
    all.add(reach_of(pieces));
  }
  Cut cut = make_cut(all, settings, job.nodes());
  cut.block = job.block();
  cut.ranks = job.ranks();
  return cut_domains(cut);
}

namespace {

// The bytes that a writer writes for ROUTE's pieces: whole blocks of its own domain.
AddressRange written(const Route& route, const Domains& domains) {
  AddressRange range{INT64_MAX, INT64_MIN};
  for (const penstock::Piece& piece : route.pieces.all()) {
    range.begin = std::min(range.begin, first_address(piece));
    range.end = std::max(range.end, last_address(piece));
  }
  const int64_t block = domains.block, begin = domains.cut(route.writer), end = domains.cut(route.writer + 1);
  return {std::max(range.begin / block * block, begin), std::min((range.end + block - 1) / block * block, end)};
}

void count_data(const VirtualJob& job, int rank, const Route& route, const Domains& domains, Sent& sent) {
  const bool far = job.node_of(rank) != job.node_of(route.rank);
  const AddressRange domain{domains.cut(route.writer), domains.cut(route.writer + 1)};
  (far ? sent.far_bytes : sent.near_bytes) += route.pieces.bytes_in(domain);
  if (route.rank == rank) return;
  for (int64_t round = 0; domains.range(route.writer, round).begin < domain.end; ++round) {
    if (route.pieces.bytes_in(domains.range(route.writer, round)) == 0) continue;
    ++sent.data_messages;
    sent.far_messages += far;
  }
}

// For one file with placement single, as core/session and the transport call storage. Rank 0 creates the file at its
// full size and closes it; every writer opens, syncs and closes. For checksums that were not FIRST, rank 0 opens,
// writes and syncs once more. It sets the time, looks at the file, renames it, syncs the folder, and holds
// the published file open to detect its replacement.
MetadataCalls metadata_calls(int64_t writers, bool first, const Settings& settings) {
  const bool durable = settings.word("durability") == "full";
  MetadataCalls calls;
  calls.create = 1;
  calls.allocate = settings.boolean("preallocate") ? 1 : 0;
  calls.open = writers + 1;
  calls.sync = durable ? writers : 0;
  calls.close = writers + 1;
  if (settings.word("checksums") != "none") {
    calls.set_time = 1;
    const int64_t more = first ? 0 : durable ? 2 : 1;
    calls.open += more;
    calls.close += more;
    calls.sync += first || !durable ? 0 : 1;
  }
  calls.stat = 1;
  calls.rename = 1;
  calls.sync_directory = durable ? 1 : 0;
  return calls;
}

}  // namespace

Result<Costs> count_two_phase(const VirtualJob& job, const Settings& settings, int64_t stripe) {
  PENSTOCK_ASSIGN(const Domains domains, domains_of(job, settings));
  Tally tally(domains.writers, settings.word("neighbours") == "shared");
  for (const int rank : job.counted()) {
    PENSTOCK_ASSIGN(std::vector<penstock::Piece> pieces, job.pieces(rank));
    Sent sent;
    for (const Route& route : find_routes(std::move(pieces), domains)) {
      count_data(job, rank, route, domains, sent);
      tally.write(route.writer, written(route, domains));
      if (route.rank == rank) continue;
      const Description told = describe_route(job.parts(), domains, route);
      const auto bytes = static_cast<int64_t>(told.parts.size() + told.pieces.size());
      ++sent.plan_messages;
      sent.plan_bytes += bytes;
      tally.tell(route.writer, bytes);
    }
    tally.add(sent);
  }
  Costs costs = tally.costs(job, stripe);
  costs.metadata = metadata_calls(costs.writers, sums_come_first(job.bytes(), job.ranks()), settings);
  return costs;
}

}  // namespace penstock::bench
