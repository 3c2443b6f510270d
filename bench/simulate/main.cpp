// penstock-simulate: what writing or reading a workload would take on a machine that is described, by each method.
//
//   penstock-simulate MACHINE.json WORKLOAD [its options] --np-virtual 1024,32768 --methods A,B [--read]
//
// Prints JSON, "penstock.simulation/1". `penstock simulate` makes the machine's JSON of TOML and shows the result.
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <optional>

#include "bench/case_options.hpp"
#include "bench/simulate/run.hpp"
#include "bench/simulate/wise.hpp"

namespace {

using namespace penstock;         // NOLINT(google-build-using-namespace): this is the program's main
using namespace penstock::bench;  // NOLINT(google-build-using-namespace)
using Json = nlohmann::json;

struct Request {
  std::string machine;
  CaseWords words;
  std::vector<int> ranks;
  std::string format;  // "": by the methods of WORDS
  bool read = false;
};

Json as_json(const Demand& d) {
  return {{"nodes", d.nodes},           {"moving_nodes", d.movers},     {"streams", d.streams},
          {"bytes", d.bytes},           {"file_bytes", d.file_bytes},   {"calls", d.calls},
          {"far_bytes", d.far_bytes},   {"messages", d.messages},       {"copied_bytes", d.copied_bytes},
          {"lock_moves", d.lock_moves}, {"lock_grants", d.lock_grants}, {"creates", d.creates},
          {"opens", d.opens},           {"rounds", d.rounds},           {"turns", d.turns}};
}

Status check_place(const SimulatedJob& job, const Machine& machine) {
  if (job.ranks < 1) return invalid("--np-virtual must be at least 1");
  if (job.ranks_per_node < 1 || job.ranks_per_node > machine.cores)
    return invalid(
        fmt::format("--tasks-per-node {}: a node of {} has {} cores", job.ranks_per_node, machine.name, machine.cores));
  if ((job.ranks + job.ranks_per_node - 1) / job.ranks_per_node > machine.nodes)
    return invalid(fmt::format("{} ranks, {} on each node, need more than the {} nodes of {}", job.ranks,
                               job.ranks_per_node, machine.nodes, machine.name));
  return {};
}

Result<Json> row_of(const SimulatedJob& job, const Method& method, const Demand& demand, const Machine& machine) {
  PENSTOCK_ASSIGN(const Outcome outcome, simulate(demand, machine, job.write));
  Json row{{"np", job.ranks},
           {"method", method.label},
           {"seconds", outcome.seconds},
           {"limit", outcome.limit},
           {"limit_seconds", outcome.limit_seconds},
           {"demand", as_json(demand)}};
  if (const std::string transport = wise_transport(method); !transport.empty()) {
    row["transport"] = transport;
    PENSTOCK_ASSIGN(row["problem"], problem_of(job, method, machine));
  }
  return row;
}

// Of the plans that a planner tries, those that ask nothing else than the default are left out.
Result<Json> rows_of(const SimulatedJob& job, const std::string& format, const Machine& machine) {
  PENSTOCK_TRY(check_place(job, machine));
  std::vector<Method> methods = job.what.methods;
  if (!format.empty()) {
    PENSTOCK_ASSIGN(methods, methods_to_try(format, job.ranks, job.what.regime));
  }
  Json rows = Json::array();
  std::optional<Demand> of_default;
  for (const Method& method : methods) {
    PENSTOCK_ASSIGN(const Demand demand, demand_of(job, method, machine));
    if (!format.empty() && of_default == demand) continue;
    if (!of_default) of_default = demand;
    PENSTOCK_ASSIGN(Json row, row_of(job, method, demand, machine));
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<Json> answer(const Request& request) {
  std::ifstream file(request.machine);
  if (!file) return invalid(fmt::format("{} cannot be read", request.machine));
  const Json text = Json::parse(file, nullptr, false);
  auto machine = read_machine(text);
  if (!machine) return machine.status().in(request.machine);
  CaseWords words = request.words;
  if (!request.format.empty()) words.methods = {default_method(request.format)};
  PENSTOCK_ASSIGN(const Case what, make_case(words));
  Json rows = Json::array();
  for (const int ranks : request.ranks) {
    const SimulatedJob job{what, ranks, what.request.ranks_per_node, !request.read};
    PENSTOCK_ASSIGN(const Json found, rows_of(job, request.format, *machine));
    rows.insert(rows.end(), found.begin(), found.end());
  }
  return Json{{"schema", "penstock.simulation/1"},
              {"machine", machine->name},
              {"workload", what.workload_name},
              {"operation", request.read ? "read" : "write"},
              {"tasks_per_node", what.request.ranks_per_node},
              {"results", std::move(rows)}};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Says what writing or reading a workload would take on a machine that is described.",
               "penstock-simulate"};
  Request request;
  app.add_option("machine", request.machine, "the machine, as JSON")->required();
  declare_case(app, request.words);
  app.add_option("--np-virtual", request.ranks, "ranks, 64,1024,32768")->delimiter(',')->allow_extra_args(false);
  app.add_option("--plans-of", request.format,
                 "by the plans that a planner tries for files of this format, instead of --methods");
  app.add_flag("--read", request.read, "read instead of write");
  CLI11_PARSE(app, argc, argv);
  const auto said = answer(request);
  if (!said) {
    fmt::print(stderr, "penstock-simulate: {}\n", said.status().message());
    return 2;
  }
  fmt::print("{}\n", said->dump(1));
  return 0;
}
