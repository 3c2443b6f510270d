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
// Local. The cost of our method alone on RANKS.
Result<Costs> count_ours(const CountRequest& request, int ranks);
// Local. A row for each of REQUEST.ranks.
Result<std::vector<CountRow>> count_all(const CountRequest& request);

// The growth of each rank's traffic from FROM to TO ranks, over log(TO) / log(FROM).
struct Growth {
  static constexpr int from = 64, to = 4096;
  double messages = 0, plan_bytes = 0;
};
// Local. For hdf5/two_phase with 512 MiB in total or, if WEAK, 8 MiB per rank; one rank per node, so that all data is
// sent as messages.
Result<Growth> count_growth(const std::string& workload, bool weak);

// "penstock.counts/1".
nlohmann::json counts_json(const CountRequest& request, std::span<const CountRow> rows);
std::string counts_table(const CountRequest& request, std::span<const CountRow> rows);

}  // namespace penstock::bench
