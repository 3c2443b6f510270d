// Dry run: computes the needs of a run for any number of ranks.
#include "bench/dry_run.hpp"

#include <algorithm>

#include "bench/ceiling.hpp"
#include "bench/estimates.hpp"
#include "bench/measure/scratch.hpp"
#include "bench/preconditions.hpp"
#include "bench/provenance.hpp"
#include "bench/report/cases.hpp"
#include "bench/report/record.hpp"

namespace penstock::bench {

namespace {

using Json = nlohmann::json;

constexpr double ceiling_seconds = 1;

Json case_json(const Case& one) {
  Json methods = Json::array();
  for (const Method& method : one.methods) methods.push_back(method.label);
  return {{"case", one.name},           {"workload", one.workload_name},          {"regime", name(one.regime)},
          {"bytes", one.total_bytes()}, {"compute_seconds", one.compute_seconds}, {"methods", std::move(methods)}};
}

Result<Json> job_json(const Options& options, int ranks) {
  Json cases = Json::array();
  for (const Case& one : options.cases) {
    Json json = case_json(one);
    if (options.problems_only) {
      PENSTOCK_ASSIGN(json["problems"], problems_of(one, ranks, options.directory));
    }
    cases.push_back(std::move(json));
  }
  const Needs needs = needs_of(options, ranks);
  return Json{{"np", ranks}, {"cases", std::move(cases)}, {"disk_bytes", needs.disk}, {"memory_bytes", needs.memory}};
}

}  // namespace

Result<Json> dry_run(const Communicator& comm, const Options& options) {
  if (comm->size() != 1) return Status(Code::invalid, "--dry-run is the work of one rank");
  Json jobs = Json::array();
  int64_t largest = 0;
  for (const int ranks : options.dry_run_ranks) {
    Options sized = options;
    if (const Status status = make_workloads(sized, ranks); !status.ok()) {
      jobs.push_back({{"np", ranks}, {"error", status.message()}});
      continue;
    }
    for (const Case& one : sized.cases) largest = std::max(largest, one.total_bytes());
    PENSTOCK_ASSIGN(Json job, job_json(sized, ranks));
    jobs.push_back(std::move(job));
  }
  if (options.problems_only) return jobs;
  PENSTOCK_ASSIGN(const int64_t free, free_bytes(options.directory));
  Ceiling ceiling;
  if (free > 2 * ceiling_bytes(largest)) {
    PENSTOCK_ASSIGN(const Scratch scratch, Scratch::create(comm, options.directory));
    PENSTOCK_ASSIGN(ceiling, measure_ceiling(comm, {scratch.folder(), 0, ceiling_seconds}));
    PENSTOCK_TRY(scratch.remove(comm));
  }
  return Json{{"schema", "penstock.dry-run/1"},
              {"repetitions", options.repetitions},
              {"jobs", std::move(jobs)},
              {"free_bytes", free},
              {"memory_available_bytes", available_memory()},
              {"ceiling", ceiling_json(ceiling)},
              {"unavailable", unavailable_json(options)}};
}

}  // namespace penstock::bench
