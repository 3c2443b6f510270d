// two_phase: counted with the transport's own planning functions.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "bench/count/costs.hpp"
#include "core/commit/sums.hpp"
#include "core/transport/two_phase/exchange.hpp"
#include "core/transport/two_phase/survey.hpp"

namespace penstock::bench {

namespace {

// As a reduction by maximum does.
void raise(std::span<int64_t> most, std::span<const int64_t> values) {
  std::ranges::transform(most, values, most.begin(), [](int64_t a, int64_t b) { return std::max(a, b); });
}

// What the ranks of NODE have.
Result<Survey::Bounds> bounds_of(const VirtualJob& job, int node, std::optional<Survey>& any) {
  Survey::Bounds bounds;
  bounds.fill(INT64_MIN);
  for (const int rank : job.ranks_of(node)) {
    PENSTOCK_ASSIGN(const std::vector<penstock::Piece> pieces, job.pieces(rank));
    any.emplace(job.whole(), pieces);
    raise(bounds, any->bounds());
  }
  return bounds;
}

// As the ranks agree on them (core/transport/two_phase/agreement.cpp). Of many nodes, the visited ones, the last, and
// those along the edges of the grid stand for all.
Result<std::vector<NodeGrid>> grids_of(const VirtualJob& job, RowsWanted rows) {
  std::optional<Survey> any;
  Survey::Extents extents;
  extents.fill(INT64_MIN);
  std::vector<int> nodes = job.counted_nodes();
  nodes.push_back(job.nodes() - 1);
  for (const int node : nodes) {
    PENSTOCK_ASSIGN(const Survey::Bounds bounds, bounds_of(job, node, any));
    raise(extents, any->extents(bounds));
  }
  const std::vector<Dims> cells = any->cells(extents, job.nodes());
  for (const Dims& counts : cells) {
    int64_t step = 1;
    for (int d = counts.rank() - 1; d >= 0; --d) {
      for (int64_t i = 0; i < counts[d]; ++i) nodes.push_back(static_cast<int>(i * step));
      step *= counts[d];
    }
  }
  std::vector<int64_t> starts;
  for (const int node : nodes) {
    PENSTOCK_ASSIGN(const Survey::Bounds bounds, bounds_of(job, node, any));
    const std::vector<int64_t> its = any->starts(cells, bounds, node);
    starts.resize(its.size(), INT64_MIN);
    raise(starts, its);
  }
  return any->grids(cells, starts, rows);
}

}  // namespace

Result<Domains> domains_of(const VirtualJob& job, const Settings& settings) {
  Reach all;
  for (const int rank : job.counted()) {
    PENSTOCK_ASSIGN(const std::vector<penstock::Piece> pieces, job.pieces(rank));
    all.add(reach_of(pieces));
  }
  Cut cut = make_cut(all, settings, job.nodes());
  cut.block = job.block();
  cut.ranks = job.ranks();
  for (int node = 0; node < job.nodes(); ++node) cut.candidates.push_back(candidates_among(job.ranks_of(node)));
  if (job.nodes() > 1 && settings.word("domains") == "nodes") {
    PENSTOCK_ASSIGN(cut.grids, grids_of(job, rows_wanted(cut)));
  }
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
  const int64_t block = domains.block;
  const auto [begin, end] = domains.reach_of(route.writer);
  return {std::max(range.begin / block * block, begin), std::min((range.end + block - 1) / block * block, end)};
}

// Units of this size in which a writer begins where another one ended.
int64_t shared_units(const Domains& domains, int64_t unit) {
  std::vector<int64_t> units;
  for (int w = 0; w < domains.writers; ++w)
    for (const AddressRange& range : domains.domain_of(w).ranges)
      if (range.begin > domains.begin && range.begin % unit != 0) units.push_back(range.begin / unit);
  std::ranges::sort(units);
  return std::ranges::unique(units).begin() - units.begin();
}

// What the ranks of one node send, couriers what they carry.
class NodeCount {
 public:
  NodeCount(const VirtualJob& job, int node, const Domains& domains, bool shares, Tally& tally)
      : job_(job),
        node_(node),
        domains_(domains),
        rounds_(domains.rounds()),
        ranks_(job.ranks_of(node)),
        sent_(ranks_.size()),
        tally_(tally) {
    ways_.node = ranks_;
    if (shares && ranks_.size() > 1 && job.nodes() > 1) ways_.couriers = candidates_among(ranks_);
  }

  Status visit() {
    for (const int rank : ranks_) {
      PENSTOCK_ASSIGN(std::vector<penstock::Piece> pieces, job_.pieces(rank));
      std::vector<Description> told;
      int64_t bytes = 0;
      for (const Route& route : find_routes(std::move(pieces), domains_)) {
        if (route.rank == rank) continue;
        told.push_back(describe_route(job_.parts(), domains_, route, rank));
        bytes += std::ssize(told.back().pieces);
        add_data(rank, route);
      }
      std::map<int, Letter> letters;
      for (const Description& description : told) add_plan(rank, description, bytes <= longest_short_plan, letters);
      for (const auto& [receiver, letter] : letters) tell(of(rank), letter);
    }
    for (const auto& [pair, letter] : passed_on_) tell(of(pair.first), letter);
    for (const auto& [writer, carried] : carried_) {
      Sent& courier = of(ways_.courier_to(writer));
      tell(courier, carried.letter);
      tally_.tell(writer, carried.letter.bytes());
      courier.far_messages += std::ssize(carried.rounds);
    }
    return {};
  }

  const std::vector<Sent>& sent() const { return sent_; }

 private:
  struct Carried {
    Letter letter;
    std::set<int64_t> rounds;
  };

  Sent& of(int rank) { return sent_[static_cast<size_t>(rank - ranks_.front())]; }
  bool is_far(int rank) const { return job_.node_of(rank) != node_; }

  static void tell(Sent& sender, const Letter& letter) {
    ++sender.plan_messages;
    sender.plan_bytes += letter.bytes();
  }

  void add_plan(int rank, const Description& description, bool is_short, std::map<int, Letter>& letters) {
    const int writer = domains_.rank_of(description.writer);
    if (ways_.couriers.empty()) {
      letters[writer].add(description);
    } else {
      ways_.rank = rank;
      const int taker = ways_.taker(description.writer, writer), first = is_short ? ways_.secretary() : taker;
      if (first != rank) letters[first].add(description);
      if (first != taker) passed_on_[{first, taker}].add(description);
    }
    if (is_far(writer) && !ways_.couriers.empty()) {
      carried_[description.writer].letter.add(description);
    } else {
      Letter own;
      own.add(description);
      tally_.tell(description.writer, own.bytes());
    }
  }

  void add_data(int rank, const Route& route) {
    const bool far = is_far(route.rank);
    for (int64_t round = 0; round < rounds_; ++round) {
      if (route.pieces.bytes_in(domains_.window_of(route.writer, round)) == 0) continue;
      ++of(rank).data_messages;
      if (far && !ways_.couriers.empty())
        carried_[route.writer].rounds.insert(round);
      else
        of(rank).far_messages += far;
    }
  }

  const VirtualJob& job_;
  const int node_;
  const Domains& domains_;
  const int64_t rounds_;
  const std::vector<int> ranks_;
  Ways ways_;  // of any rank of the node
  std::vector<Sent> sent_;
  Tally& tally_;
  std::map<std::pair<int, int>, Letter> passed_on_;  // from a courier to another rank of the node
  std::map<int, Carried> carried_;                   // by writers on other nodes
};

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
  const bool shares = settings.word("neighbours") == "shared";
  Tally tally(domains.writers, shares);
  for (const int node : job.counted_nodes()) {
    NodeCount count(job, node, domains, shares, tally);
    PENSTOCK_TRY(count.visit());
    for (const Sent& sent : count.sent()) tally.add_messages(sent);
  }
  for (const int rank : job.counted()) {
    PENSTOCK_ASSIGN(std::vector<penstock::Piece> pieces, job.pieces(rank));
    Sent sent;
    for (const Route& route : find_routes(std::move(pieces), domains)) {
      const Window domain = domains.domain_of(route.writer);
      const bool far = job.node_of(rank) != job.node_of(route.rank);
      (far ? sent.far_bytes : sent.near_bytes) += route.pieces.bytes_in(domain);
      tally.write(route.writer, written(route, domains));
    }
    tally.add_bytes(sent);
  }
  Costs costs = tally.costs(job, stripe);
  if (domains.order.any()) {
    costs.stripe_conflicts = shared_units(domains, stripe);
    costs.block_conflicts = shared_units(domains, job.block());
  }
  costs.metadata = metadata_calls(costs.writers, sums_come_first(job.bytes(), job.ranks()), settings);
  return costs;
}

}  // namespace penstock::bench
