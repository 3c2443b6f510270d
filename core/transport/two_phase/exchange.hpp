// The exchange plan: which rank sends which data to which writer, as selections and never as lists of offsets that both
// sides could compute.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/transport/transport.hpp"
#include "core/transport/two_phase/domain.hpp"
#include "core/transport/two_phase/letter.hpp"
#include "core/transport/two_phase/reach.hpp"
#include "core/transport/two_phase/routes.hpp"

namespace penstock {

// The tag of a round's messages is its number modulo this.
inline constexpr int64_t round_tags = 1000;

// How the data of this rank reaches writers.
struct Ways {
  int rank = 0;
  std::vector<int> node;      // ranks that fill each other's windows in shared memory; this one alone if it cannot
  std::vector<int> couriers;  // ranks of the node that carry its data to other nodes; empty: each rank its own

  bool operator==(const Ways&) const = default;
  bool is_near(int other) const { return std::ranges::binary_search(node, other); }
  // REQUIRES: couriers. The one that exchanges the node's data with WRITER, which is not near.
  int courier_to(int writer) const { return couriers[static_cast<size_t>(writer) % couriers.size()]; }
  // REQUIRES: couriers. The rank of the node that is to know what goes to WRITER, on rank WRITER_RANK.
  int taker(int writer, int writer_rank) const { return is_near(writer_rank) ? writer_rank : courier_to(writer); }
  // REQUIRES: couriers. The one to which this rank tells a short plan for all takers: one for each 64 ranks.
  int secretary() const {
    const auto place = static_cast<size_t>(std::ranges::lower_bound(node, rank) - node.begin());
    return couriers[place / 64 % couriers.size()];
  }
};

struct ExchangePlan {
  std::vector<Route> routes;    // by writer
  std::vector<Client> clients;  // of this rank as a writer, by rank
  std::vector<Part> parts;      // with data for this writer
  std::vector<Parcel> parcels;  // that this rank carries to writers, or reading from them; by writer
  bool leaves_node = false;     // with couriers: a rank of this node exchanges data with other nodes
  int64_t bytes = 0;            // approximate size of the plan in memory
};

// Plans of earlier transfers of the same ranks, without memory; kept with their communicator.
struct PlanCache {
  struct Entry {
    int64_t number = 0;  // of the exchange that made it, equal on all ranks
    uint64_t key = 0;    // of everything that this rank sent then
    std::vector<Client> clients;
    std::vector<Part> parts;
    std::vector<Parcel> parcels;  // for others
    bool leaves_node = false;
  };
  std::vector<Entry> entries;
  int64_t exchanges = 0;
  int64_t max_bytes = 1 << 20;  // of an entry; larger ones are not kept
  Domains domains;              // of the last transfer
  int64_t survey = -1;          // key of the last one
  std::vector<Dims> cells;      // that it had
  std::vector<int64_t> starts;  // that all ranks told each other for it
  Reach reach;                  // of this rank's pieces in it
};

// This rank's part of an exchange in DOMAINS.
class OwnExchange {
 public:
  // Local.
  OwnExchange(const Job& job, Domains domains, Ways ways, const PlanCache& cache);
  const Domains& domains() const { return domains_; }
  const Ways& ways() const { return ways_; }
  // Of the earlier exchange that this one would repeat, as far as this rank knows; -1 if there is none.
  int64_t number() const { return cached_ == nullptr ? -1 : cached_->number; }
  // Collective. The plan. REPEATS: all ranks have the same number. Otherwise one sparse exchange: each source tells
  // each of its writers the selections in the writer's domain. Pieces of many datasets with equal decomposition refer
  // to their common selection, which is told once; a box is told whole, runs are cut to the domain. Afterwards both
  // sides compute every message of every round themselves. With couriers, two sparse exchanges among the ranks of NODE
  // come first: each rank tells all to one courier if it is short, and this one tells the writers of the node, and the
  // couriers to others, which pass it on.
  Result<ExchangePlan> complete(const Job& job, const Communicator& node, bool repeats, PlanCache& cache) &&;

 private:
  Status tell(const Job& job, const Communicator& node, ExchangePlan& plan);

  Domains domains_;
  Ways ways_;
  std::vector<Route> routes_;
  Letters letters_;   // what this rank would tell
  uint64_t key_ = 0;  // of that and what it keeps
  const PlanCache::Entry* cached_ = nullptr;
};

}  // namespace penstock
