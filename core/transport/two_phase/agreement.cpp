// Agreement: the reductions, and what they decide.
#include "core/transport/two_phase/agreement.hpp"

#include <algorithm>
#include <optional>

#include "core/base/units.hpp"
#include "core/transport/two_phase/survey.hpp"

namespace penstock {
namespace {

// At each courier, for parcels on their way.
int64_t outbox_bytes(const Domains& domains, const Settings& settings) {
  constexpr int64_t page = 4096;
  const int64_t most = std::min(share_of_memory(settings), domains.end - domains.begin);
  return round_up(std::max(domains.largest_window(), most), page);
}

class Agreement {
 public:
  Agreement(const Job& job, const Settings& settings, NodeMemory& kept, PlanCache& cache)
      : job_(job), settings_(settings), kept_(kept), cache_(cache) {}

  Result<Agreed> reach() {
    const Reach own = reach_of(job_.pieces);
    const Survey survey = follows_nodes() ? Survey(job_.whole, job_.pieces) : Survey();
    if (job_.comm->size() > 1 && cache_.exchanges > 0 && own == cache_.reach) propose(cache_.domains);
    std::vector<int64_t> most = {own.begin < own.end ? -own.begin : INT64_MIN,
                                 own.end,
                                 own.span,
                                 kept_.in_doubt,
                                 number(),
                                 -number(),
                                 shares() && !kept_.is_settled(memory_for(cache_.domains))};
    const auto fixed = most.size();
    Survey::Bounds bounds = survey.bounds();
    Status surveyed;  // of this node: others go on
    if (follows_nodes()) {
      surveyed = kept_.node->all_reduce_max(bounds);
      const Survey::Extents extents = surveyed.ok() ? survey.extents(bounds) : Survey().extents(bounds);
      most.insert(most.end(), extents.begin(), extents.end());
      const bool as_before = surveyed.ok() && survey.confirms(cache_.cells, cache_.starts, bounds, kept_.number);
      const int64_t last = as_before ? cache_.survey : -1;
      most.insert(most.end(), {last, -last});
    }
    PENSTOCK_TRY(job_.comm->all_reduce_max(most));
    const bool in_doubt = most[3] != 0, memory_changes = in_doubt || most[6] != 0;
    if (in_doubt) kept_.memory.reset();
    kept_.in_doubt = false;
    Cut cut = make_cut(most[1] != INT64_MIN ? Reach{-most[0], most[1], most[2]} : Reach{}, settings_, kept_.nodes);
    cut.block = job_.block;
    cut.ranks = job_.comm->size();
    cut.candidates = kept_.candidates;
    if (follows_nodes()) {
      PENSTOCK_ASSIGN(cut.grids, agree_on_grids(survey, bounds, std::span(most).subspan(fixed), rows_wanted(cut)));
    }
    Agreed agreed{cut_domains(cut), {}, {}, {}};
    bool repeats = most[4] >= 0 && most[4] == -most[5] && agreed.domains == cache_.domains && !memory_changes;
    Status prepared;  // of this node: others go on
    if (shares()) {
      const int64_t outbox = outbox_bytes(agreed.domains, settings_);
      prepared = agreed.neighbours.prepare(kept_, agreed.domains, outbox, job_.comm->rank());
    }
    propose(agreed.domains);
    if (!repeats && job_.comm->size() > 1) {
      int64_t bounds[2] = {number(), -number()};
      PENSTOCK_TRY(job_.comm->all_reduce_max(bounds));
      repeats = bounds[0] >= 0 && bounds[0] == -bounds[1];
    }
    auto plan = (*std::move(exchange_)).complete(job_, kept_.node, repeats, cache_);
    agreed.planned = !surveyed.ok() ? surveyed : prepared.ok() ? plan.status() : prepared;
    if (plan.ok()) agreed.plan = *std::move(plan);
    cache_.domains = agreed.domains;
    cache_.reach = own;
    return agreed;
  }

 private:
  // A job that keeps bytes between its pieces finds them in one range for each window.
  bool follows_nodes() const { return kept_.nodes > 1 && !job_.keep && settings_.word("domains") == "nodes"; }
  // Collective. OF_ALL: the extents, and the key of the last survey and minus that, as they were reduced. Where boxes
  // begin is told in a second reduction, unless all know it from the last survey.
  Result<std::vector<NodeGrid>> agree_on_grids(const Survey& survey, const Survey::Bounds& of_node,
                                               std::span<const int64_t> of_all, RowsWanted rows) {
    Survey::Extents extents;
    std::ranges::copy(of_all.first(extents.size()), extents.begin());
    const std::vector<Dims> cells = survey.cells(extents, kept_.nodes);
    if (std::ranges::all_of(cells, &Dims::empty)) return std::vector<NodeGrid>();
    const int64_t key = survey.key(cells), last = of_all[extents.size()];
    if (last != key || last != -of_all[extents.size() + 1]) {
      std::vector<int64_t> starts = survey.starts(cells, of_node, kept_.number);
      PENSTOCK_TRY(job_.comm->all_reduce_max(starts));
      cache_.cells = cells;
      cache_.starts = std::move(starts);
      cache_.survey = key;
    }
    return survey.grids(cells, cache_.starts, rows);
  }

  bool shares() const { return settings_.word("neighbours") == "shared"; }
  int64_t number() const { return exchange_ ? exchange_->number() : -1; }
  int64_t memory_for(const Domains& domains) const {
    return Neighbours::bytes_for(kept_, domains, outbox_bytes(domains, settings_));
  }

  // As the node's memory is now.
  Ways ways(const Domains& domains) const {
    const int rank = job_.comm->rank();
    if (!shares() || !kept_.has(memory_for(domains))) return {rank, {rank}, {}};
    return {rank, kept_.ranks, kept_.couriers};
  }

  void propose(const Domains& domains) {
    Ways now = ways(domains);
    if (exchange_ && exchange_->domains() == domains && exchange_->ways() == now) return;
    exchange_.emplace(job_, domains, std::move(now), cache_);
  }

  const Job& job_;
  const Settings& settings_;
  NodeMemory& kept_;
  PlanCache& cache_;
  std::optional<OwnExchange> exchange_;
};

}  // namespace

Result<Agreed> agree_exchange(const Job& job, const Settings& settings, NodeMemory& kept, PlanCache& cache) {
  return Agreement(job, settings, kept, cache).reach();
}

}  // namespace penstock
