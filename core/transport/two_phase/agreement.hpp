// Agreement: what the ranks settle before data moves: domains, the node's shared memory, the plan.
#pragma once

#include "core/transport/two_phase/domain.hpp"
#include "core/transport/two_phase/exchange.hpp"
#include "core/transport/two_phase/neighbours.hpp"

namespace penstock {

struct Agreed {
  Domains domains;
  Neighbours neighbours;
  ExchangePlan plan;
  Status planned;  // of this rank
};

// Collective. Only data that some rank moves is divided into domains, so that reading one dataset of many uses all
// writers. If every rank would repeat the last transfer, one reduction shows it; a second one, if they would repeat an
// earlier one.
Result<Agreed> agree_exchange(const Job& job, const Settings& settings, NodeMemory& kept, PlanCache& cache);

}  // namespace penstock
