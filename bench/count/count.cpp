// Count: converts a request to jobs, and jobs to counts.
#include "bench/count/count.hpp"

#include <fmt/format.h>
#include <memory>

#include "core/methods/methods.hpp"
#include "core/plan/plan.hpp"

namespace penstock::bench {

namespace {

Result<Plan> plan_of(const CountRequest& request) {
  const Method& method = request.what.methods[0];
  const bool has_block = method.plan.find("block=") != std::string::npos;
  return parse_plan(has_block ? method.plan : fmt::format("{},block={}", method.plan, request.stripe), "hdf5",
                    vocabulary());
}

struct Made {
  Plan plan;
  std::shared_ptr<const Workload> workload;
  VirtualJob job;
};

Result<Made> make_job(const CountRequest& request, int ranks) {
  PENSTOCK_ASSIGN(Plan plan, plan_of(request));
  WorkloadRequest words = request.what.request;
  words.ranks = ranks;
  PENSTOCK_ASSIGN(std::shared_ptr<const Workload> workload, make_workload(request.what.workload_name, words));
  PENSTOCK_ASSIGN(VirtualJob job, VirtualJob::make(*workload, *find_format(plan.format),
                                                   {ranks, request.ranks_per_node, plan.settings.integer("block")}));
  return Made{std::move(plan), std::move(workload), std::move(job)};
}

}  // namespace

Status check(const CountRequest& request) {
  if (request.ranks.empty()) return invalid("--np-virtual names no number of ranks");
  for (const int ranks : request.ranks)
    if (ranks < 1) return invalid("--np-virtual must be at least 1");
  if (request.ranks_per_node < 1) return invalid("--tasks-per-node must be at least 1");
  if (request.stripe < 4096 || request.stripe % 4096 != 0) return invalid("--stripe is a multiple of 4096 bytes");
  if (request.what.methods.size() != 1) return invalid("--count-only counts one method");
  const Method& method = request.what.methods[0];
  if (method.reference) return invalid(fmt::format("--count-only: '{}' has no plan", method.label));
  PENSTOCK_ASSIGN(const Plan plan, parse_plan(method.plan, "hdf5", vocabulary()));
  if (plan.transport != "two_phase")
    return invalid(fmt::format("--count-only counts FORMAT/two_phase, not '{}'", method.label));
  if (is_set(plan))
    return invalid(fmt::format("--count-only counts single files, which '{}' does not write", method.label));
  return {};
}

Result<std::vector<CountRow>> count_all(const CountRequest& request) {
  std::vector<CountRow> rows;
  for (const int ranks : request.ranks) {
    PENSTOCK_ASSIGN(const Made made, make_job(request, ranks));
    CountRow row{ranks, {}, {}};
    PENSTOCK_ASSIGN(row.ours, count_two_phase(made.job, made.plan.settings, request.stripe));
    PENSTOCK_ASSIGN(row.textbook, count_textbook(made.job, request.what.regime == Regime::durable, request.stripe));
    rows.push_back(row);
  }
  return rows;
}

}  // namespace penstock::bench
