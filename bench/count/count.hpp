// Count: plans a workload for large numbers of ranks in one process; no data moves.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include <penstock/status.hpp>

#include "bench/case.hpp"
#include "bench/count/costs.hpp"

namespace penstock::bench {

struct CountRequest {
  Case what;               // a workload, not made yet, and one method: FORMAT/two_phase
  std::vector<int> ranks;  // one job for each
  int ranks_per_node = 16;
  int64_t stripe = 1 << 20;  // of the file system; also the plan's block unless the plan sets it
};

// One job by both methods.
struct CountRow {
  int ranks = 1;
  Costs ours, textbook;
};

// Local. Code::invalid has a one-line explanation.
Status check(const CountRequest& request);
// Local. A row for each of REQUEST.ranks.
Result<std::vector<CountRow>> count_all(const CountRequest& request);

// "penstock.counts/1".
nlohmann::json counts_json(const CountRequest& request, std::span<const CountRow> rows);
std::string counts_table(const CountRequest& request, std::span<const CountRow> rows);

}  // namespace penstock::bench
