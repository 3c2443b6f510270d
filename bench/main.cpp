// penstock-bench: measures methods of writing and reading a workload, and verifies every byte.
#include <fmt/format.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <penstock/timeout.hpp>

#include "bench/ceiling.hpp"
#include "bench/dry_run.hpp"
#include "bench/launch.hpp"
#include "bench/measure/campaign.hpp"
#include "bench/options.hpp"
#include "bench/preconditions.hpp"
#include "bench/program/program.hpp"
#include "bench/provenance.hpp"
#include "bench/report/cases.hpp"
#include "bench/report/record.hpp"

namespace {

using namespace penstock;         // NOLINT(google-build-using-namespace): this is the bench's main
using namespace penstock::bench;  // NOLINT(google-build-using-namespace)

std::vector<std::string> warnings(const Case& what, const Results& results) {
  std::vector<std::string> list;
  if (what.regime == Regime::cached && available_memory() > 0 && what.total_bytes() > available_memory() / 2)
    list.emplace_back("cached: the file is larger than half of the available memory, so the kernel may write it out");
  for (const Sample& sample : results.outcomes[what.baseline].series[1].samples)
    if (what.regime == Regime::durable && !what.warm && sample.resident > 0.05) {
      list.emplace_back("durable: the page cache could not be dropped, reads are warm");
      break;
    }
  const bool compressing =
      std::ranges::any_of(what.methods, [](const Method& method) { return compresses(method.parsed); });
  if (compressing && what.data == nullptr)
    list.emplace_back("numbers, each of its own, are nearly incompressible: --data names values as programs have them");
  if (results.outcomes.size() == 1) list.emplace_back("one method alone is compared with nothing");
  return list;
}

// On rank 0. A single case, with the device's ceiling.
Status report_case(const Options& options, const Results& results, const Ceiling& ceiling,
                   const nlohmann::json& where) {
  const Case& what = options.cases[0];
  const Summary summary = summarise(what, results, ceiling);
  const Record record{&options, &what, &results, &ceiling, &where, &summary, warnings(what, results)};
  if (!options.progress) fmt::print("{}", to_table(record));
  return options.json.empty() ? Status() : write_json(options.json, to_json(record));
}

// On rank 0. The cases of a list, each under its name.
Status report_cases(const CasesRecord& record) {
  const Options& options = *record.options;
  if (!options.progress) fmt::print("{}", cases_table(record));
  return options.json.empty() ? Status() : write_json(options.json, cases_json(record));
}

// Rewrites the record of a list of cases after each repetition.
Keep keeping(const Options& options, const Ceiling& ceiling, const nlohmann::json& where) {
  if (!options.listed || options.json.empty()) return nullptr;
  return [&](const Measured& so_far) {
    return write_json(options.json, cases_json({&options, &so_far, &ceiling, &where, false}));
  };
}

int64_t largest(const std::vector<Case>& cases) {
  int64_t bytes = 0;
  for (const Case& one : cases) bytes = std::max(bytes, one.total_bytes());
  return bytes;
}

// In one process, for any number of ranks.
Result<Exit> count_only(const Communicator& comm, const Options& options) {
  if (comm->size() != 1) return Status(Code::invalid, "--count-only is the work of one rank");
  PENSTOCK_ASSIGN(const std::vector<CountRow> rows, count_all(*options.count));
  if (!options.progress) fmt::print("{}", counts_table(*options.count, rows));
  if (!options.json.empty()) PENSTOCK_TRY(write_json(options.json, counts_json(*options.count, rows)));
  return success;
}

// Measures, and on rank 0 reports.
Result<Exit> measure(const Launch& launch, const Options& options, const Ranks& ranks) {
  const Communicator& comm = ranks.all;
  const bool root = comm->rank() == 0;
  PENSTOCK_ASSIGN(const nlohmann::json where, provenance(comm, options, launch.library()));
  PENSTOCK_ASSIGN(const Scratch scratch, Scratch::create(comm, options.directory));
  Ceiling ceiling;
  if (options.slow_factor == 0) {  // else methods are compared with each other alone
    const double budget = options.time_limit_seconds > 0 ? options.time_limit_seconds / 5 : 30;
    PENSTOCK_ASSIGN(ceiling, measure_ceiling(comm, {scratch.folder(), largest(options.cases), budget}));
  }
  Progress progress(options.progress && root);
  const auto measured = Campaign(options, ranks, scratch, progress, keeping(options, ceiling, where)).run();
  if (!options.keep) PENSTOCK_TRY(scratch.remove(comm));
  if (!measured) return measured.status();

  Status status;
  int64_t good = 1;
  if (root) {
    if (options.listed)
      status = report_cases({&options, &*measured, &ceiling, &where});
    else
      status = report_case(options, measured->cases[0], ceiling, where);
    if (options.keep) fmt::print(stderr, "files are kept in {}\n", scratch.folder());
    good = measured->ok();
  }
  PENSTOCK_TRY(agree(comm, status));
  PENSTOCK_TRY(comm->all_reduce_min(std::span(&good, 1)));
  return good ? success : failure;
}

int run(const Launch& launch, int argc, char** argv) {
  const Communicator& comm = *launch.communicator();

  auto options = parse_options(argc, argv);
  if (!options) return complain(launch, options.status().message(), usage);
  if (!options->answer.empty()) {
    if (comm->rank() == 0) fmt::print("{}", options->answer);
    return success;
  }
  if (options->count) {
    const auto counted = count_only(comm, *options);
    return counted ? *counted : complain(launch, counted.status().message(), failure);
  }
  if (!options->dry_run_ranks.empty()) {
    const auto said = dry_run(comm, *options);
    if (!said) return complain(launch, said.status().message(), failure);
    fmt::print("{}\n", said->dump(1));
    return success;
  }
  if (const Status status = agree(comm, make_workloads(*options, comm->size())); !status.ok())
    return complain(launch, status.message(), usage);
  const auto ranks = choose_ranks(comm, options->readers);
  if (!ranks) return complain(launch, ranks.status().message(), usage);
  if (const Status status = check_preconditions(comm, *options); !status.ok())
    return complain(launch, status.message(), usage);

  const auto exit = measure(launch, *options, *ranks);
  return exit ? *exit : complain(launch, exit.status().message(), failure);
}

// Puts the C library's allocator into the state of a long-running program: after a large array has been freed, glibc
// keeps freed memory instead of returning each staging buffer to the system and faulting it in again. The order in
// which methods free such arrays must not affect the times of others.
void free_a_large_array() {
  constexpr size_t max_learnt = (32 << 20) - (64 << 10);  // bytes; it does not adapt to larger arrays
  auto* const array = static_cast<volatile char*>(std::malloc(max_learnt));
  if (array != nullptr) array[0] = 0;
  std::free(const_cast<char*>(array));
}

}  // namespace

int main(int argc, char** argv) {
  free_a_large_array();
  const Launch launch(&argc, &argv);
  when_waiting([](const Waiting& waiting) {
    if (waiting.rank == 0 || (waiting.rank == 1 && waiting.what.find("rank 0 (of") != std::string::npos))
      (void)std::fprintf(stderr, "penstock-bench: note: %s\n", waiting.what.c_str());
  });
  if (!launch.communicator()) return complain(launch, launch.communicator().status().message(), failure);
  const ProgramKind* program = find_program(argc, argv);
  return program != nullptr ? run_program(*program, launch, argc, argv) : run(launch, argc, argv);
}
