// penstock-bench: measures ways of writing and reading one workload, and proves that every byte arrived.
#include <fmt/format.h>
#include <cstdio>

#include "bench/ceiling.hpp"
#include "bench/launch.hpp"
#include "bench/measure/campaign.hpp"
#include "bench/options.hpp"
#include "bench/preconditions.hpp"
#include "bench/provenance.hpp"
#include "bench/report/methods.hpp"
#include "bench/report/record.hpp"

namespace {

using namespace penstock;         // NOLINT(google-build-using-namespace): this is the bench's main
using namespace penstock::bench;  // NOLINT(google-build-using-namespace)

enum Exit { success = 0, failure = 1, usage = 2 };

// What is true on all ranks is said once.
int complain(const Communicator& comm, const Status& status, Exit exit) {
  if (comm->rank() == 0) fmt::print(stderr, "penstock-bench: {}\n", status.message());
  return exit;
}

WorkloadRequest request(const Options& o) {
  return {o.total_bytes, o.type, o.fortran, o.map, o.decompositions, o.variables};
}

std::vector<std::string> warnings(const Options& options, const Results& results, int64_t bytes) {
  std::vector<std::string> list;
  if (options.regime == Regime::cached && available_memory() > 0 && bytes > available_memory() / 2)
    list.push_back("cached: the file is larger than half of the available memory, so the kernel may write it out");
  for (const Sample& sample : results.outcomes[options.baseline].series[1].samples)
    if (options.regime == Regime::durable && sample.resident > 0.05) {
      list.push_back("durable: the page cache could not be dropped, reads are warm");
      break;
    }
  if (results.outcomes.size() == 1) list.push_back("one method alone is compared with nothing");
  return list;
}

// Measures, and on rank 0 reports.
Result<Exit> measure(const Launch& launch, const Options& options, const Workload& workload, const Ranks& ranks) {
  const Communicator& comm = ranks.all;
  const bool root = comm->rank() == 0;
  PENSTOCK_ASSIGN(const nlohmann::json where, provenance(comm, options, launch.library()));
  PENSTOCK_ASSIGN(const Scratch scratch, Scratch::create(comm, options.directory));
  const int64_t bytes = total_elements(workload) * penstock::bytes(options.type);
  const double budget = options.time_limit_seconds > 0 ? options.time_limit_seconds / 5 : 30;
  PENSTOCK_ASSIGN(const Ceiling ceiling, measure_ceiling(comm, {scratch.folder(), bytes, budget}));
  Progress progress(options.progress && root);
  const auto results = Campaign(options, workload, ranks, scratch, progress).run();
  if (!options.keep) PENSTOCK_TRY(scratch.remove(comm));
  if (!results) return results.status();

  Status status;
  int64_t good = 1;
  if (root) {
    const Summary summary =
        summarise(*results, options.methods[options.baseline].label, {ceiling.best_write, ceiling.best_read}, bytes);
    const Record record{&options, &workload, &*results, &ceiling, &where, &summary, warnings(options, *results, bytes)};
    if (!options.json.empty()) status = write_json(options.json, to_json(record));
    if (!options.progress) fmt::print("{}", to_table(record));
    if (options.keep) fmt::print(stderr, "files are kept in {}\n", scratch.folder());
    good = results->ok();
  }
  PENSTOCK_TRY(agree(comm, status));
  PENSTOCK_TRY(comm->all_reduce_min(std::span(&good, 1)));
  return good ? success : failure;
}

int run(const Launch& launch, int argc, char** argv) {
  if (!launch.communicator()) {
    fmt::print(stderr, "penstock-bench: {}\n", launch.communicator().status().message());
    return failure;
  }
  const Communicator& comm = *launch.communicator();

  const auto options = parse_options(argc, argv);
  if (!options) return complain(comm, options.status(), usage);
  if (!options->help.empty()) {
    if (comm->rank() == 0) fmt::print("{}", options->help);
    return success;
  }
  if (options->list_methods) {
    if (comm->rank() == 0) fmt::print("{}\n", methods_json().dump(1));
    return success;
  }
  const auto workload = make_workload(options->workload, request(*options));
  if (const Status status = agree(comm, workload ? Status() : workload.status()); !status.ok())
    return complain(comm, status, usage);
  const auto ranks = choose_ranks(comm, options->readers);
  if (!ranks) return complain(comm, ranks.status(), usage);
  if (const Status status = check_preconditions(comm, *options, **workload); !status.ok())
    return complain(comm, status, usage);

  const auto exit = measure(launch, *options, **workload, *ranks);
  return exit ? *exit : complain(comm, exit.status(), failure);
}

}  // namespace

int main(int argc, char** argv) {
  const Launch launch(&argc, &argv);
  return run(launch, argc, argv);
}
