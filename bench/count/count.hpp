// Count: a workload on so many ranks that no machine at hand has them: planned by one process, nothing is moved.
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
  std::vector<int> ranks;  // a job of each
  int ranks_per_node = 16;
  int64_t stripe = 1 << 20;  // of the file system; the plan's block too, where the plan does not say
};

// One job by both ways.
struct CountRow {
  int ranks = 1;
  Costs ours, textbook;
};

// Local. Code::invalid explains itself in one line.
Status check(const CountRequest& request);
// Local. What ours alone costs on RANKS.
Result<Costs> count_ours(const CountRequest& request, int ranks);
// Local. A row for each of REQUEST.ranks.
Result<std::vector<CountRow>> count_all(const CountRequest& request);

// How much more each rank sends on TO ranks than on FROM, over log(TO) / log(FROM).
struct Growth {
  static constexpr int from = 64, to = 4096;
  double messages = 0, plan_bytes = 0;
};
// Local. Of hdf5/two_phase with 512 MiB in all or, WEAK, 8 MiB on each rank; and one rank on a node, so that all is
// messages.
Result<Growth> count_growth(const std::string& workload, bool weak);

// "penstock.counts/1".
nlohmann::json counts_json(const CountRequest& request, std::span<const CountRow> rows);
std::string counts_table(const CountRequest& request, std::span<const CountRow> rows);

}  // namespace penstock::bench
