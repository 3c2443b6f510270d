// penstock-simulate: what writing or reading a workload would take on a machine that is described, by each method.
//
//   penstock-simulate MACHINE.json WORKLOAD [its options] --np-virtual 1024,32768 --methods A,B [--read]
//
// Prints JSON, "penstock.simulation/1". `penstock simulate` makes the machine's JSON of TOML and shows the result.
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>

#include "bench/case_options.hpp"
#include "bench/simulate/run.hpp"

namespace {

using namespace penstock;         // NOLINT(google-build-using-namespace): this is the program's main
using namespace penstock::bench;  // NOLINT(google-build-using-namespace)
using Json = nlohmann::json;

struct Request {
  std::string machine;
  CaseWords words;
  std::vector<int> ranks;
  bool read = false;
};

Json as_json(const Demand& d) {
  return {{"nodes", d.nodes},           {"moving_nodes", d.movers},     {"streams", d.streams},
          {"bytes", d.bytes},           {"file_bytes", d.file_bytes},   {"calls", d.calls},
          {"far_bytes", d.far_bytes},   {"messages", d.messages},       {"copied_bytes", d.copied_bytes},
          {"lock_moves", d.lock_moves}, {"lock_grants", d.lock_grants}, {"creates", d.creates},
          {"opens", d.opens},           {"rounds", d.rounds},           {"turns", d.turns}};
}

Result<Json> answer(const Request& request) {
  std::ifstream file(request.machine);
  if (!file) return invalid(fmt::format("{} cannot be read", request.machine));
  const Json text = Json::parse(file, nullptr, false);
  auto machine = read_machine(text);
  if (!machine) return machine.status().in(request.machine);
  PENSTOCK_ASSIGN(const Case what, make_case(request.words));
  Json rows = Json::array();
  for (const int ranks : request.ranks)
    for (const Method& method : what.methods) {
      const int on_a_node = what.request.ranks_per_node;
      if (ranks < 1) return invalid("--np-virtual must be at least 1");
      if (on_a_node < 1 || on_a_node > machine->cores)
        return invalid(
            fmt::format("--tasks-per-node {}: a node of {} has {} cores", on_a_node, machine->name, machine->cores));
      if ((ranks + on_a_node - 1) / on_a_node > machine->nodes)
        return invalid(fmt::format("{} ranks, {} on each node, need more than the {} nodes of {}", ranks, on_a_node,
                                   machine->nodes, machine->name));
      PENSTOCK_ASSIGN(const Demand demand, demand_of({what, ranks, on_a_node, !request.read}, method, *machine));
      PENSTOCK_ASSIGN(const Outcome outcome, simulate(demand, *machine, !request.read));
      rows.push_back({{"np", ranks},
                      {"method", method.label},
                      {"seconds", outcome.seconds},
                      {"limit", outcome.limit},
                      {"limit_seconds", outcome.limit_seconds},
                      {"demand", as_json(demand)}});
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
