// penstock-simulate: what writing or reading a workload would take on a machine that is described, by each method.
//
//   penstock-simulate MACHINE.json WORKLOAD [its options] --np-virtual 1024,32768 --methods A,B [--read]
//   penstock-simulate MACHINE.json --pattern PATTERN.json [--methods A,B] [--read]
//
// Prints JSON, "penstock.simulation/1". `penstock simulate` makes the machine's JSON of TOML and shows the result.
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <optional>

#include "bench/case_options.hpp"
#include "bench/simulate/recorded.hpp"
#include "bench/simulate/run.hpp"
#include "bench/simulate/wise.hpp"

namespace {

using namespace penstock;         // NOLINT(google-build-using-namespace): this is the program's main
using namespace penstock::bench;  // NOLINT(google-build-using-namespace)
using Json = nlohmann::json;

struct Question {
  std::string machine;
  CaseWords words;
  std::vector<int> ranks;
  std::string format;   // "": by the methods of WORDS
  std::string pattern;  // instead of a workload
  bool read = false;
};

Json as_json(const Demand& d) {
  return {{"nodes", d.nodes},
          {"moving_nodes", d.movers},
          {"busiest", d.busiest},
          {"targets", d.targets},
          {"streams", d.streams},
          {"bytes", d.bytes},
          {"file_bytes", d.file_bytes},
          {"calls", d.calls},
          {"far_bytes", d.far_bytes},
          {"messages", d.messages},
          {"copied_bytes", d.copied_bytes},
          {"lock_moves", d.lock_moves},
          {"lock_grants", d.lock_grants},
          {"creates", d.creates},
          {"opens", d.opens},
          {"rounds", d.rounds},
          {"turns", d.turns},
          {"metadata_places", d.metadata_places},
          {"metadata_writes", d.metadata_writes}};
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

Result<Json> row_of(const SimulatedJob& job, const std::string& label, const Demand& demand, const Machine& machine) {
  PENSTOCK_ASSIGN(const Outcome outcome, simulate(demand, machine, job.write));
  return Json{{"np", job.ranks},
              {"method", label},
              {"seconds", outcome.seconds},
              {"limit", outcome.limit},
              {"limit_seconds", outcome.limit_seconds},
              {"demand", as_json(demand)}};
}

Result<Json> row_of(const SimulatedJob& job, const Method& method, const Demand& demand, const Machine& machine) {
  PENSTOCK_ASSIGN(Json row, row_of(job, method.label, demand, machine));
  if (const std::string transport = wise_transport(job, method, machine); !transport.empty()) {
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
    PENSTOCK_ASSIGN(methods, methods_to_try(job, format, machine));
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

Json record_of(const SimulatedJob& job, const Machine& machine, Json rows) {
  return Json{{"schema", "penstock.simulation/1"},    {"machine", machine.name},
              {"workload", job.what.workload_name},   {"operation", job.write ? "write" : "read"},
              {"tasks_per_node", job.ranks_per_node}, {"results", std::move(rows)}};
}

// What a program did, and if methods are named, the same data by them.
Result<Json> answer_of_pattern(const Question& question, const CaseWords& words, const Machine& machine) {
  PENSTOCK_ASSIGN(const Recorded recorded, read_recorded(question.pattern));
  SimulatedJob job{words.given, static_cast<int>(recorded.size()), words.given.request.ranks_per_node, !question.read};
  job.what.workload_name = "a recorded pattern";
  PENSTOCK_TRY(check_place(job, machine));
  PENSTOCK_ASSIGN(const Demand demand, demand_of(recorded, job.ranks_per_node, job.write, machine));
  PENSTOCK_ASSIGN(Json row, row_of(job, "as recorded", demand, machine));
  Json rows = Json::array({std::move(row)});
  if (words.methods.empty()) return record_of(job, machine, std::move(rows));
  const auto data = data_of(recorded, job.write);
  if (!data) {
    Json record = record_of(job, machine, std::move(rows));
    record["recorded_only"] = data.status().message();
    return record;
  }
  job.what.workload = *data;
  PENSTOCK_TRY(choose_methods(words.methods, false, job.what, nullptr));
  PENSTOCK_ASSIGN(const Json found, rows_of(job, question.format, machine));
  rows.insert(rows.end(), found.begin(), found.end());
  return record_of(job, machine, std::move(rows));
}

// A pattern has data of its own.
Status check_alone(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options())
    if (option->count() > 0 && is_of_case(*option) && !option->check_name("--methods") &&
        !option->check_name("--tasks-per-node"))
      return invalid(fmt::format("--pattern says what is moved: {} cannot stand beside it",
                                 option->nonpositional() ? option->get_name() : "a workload"));
  return {};
}

Result<Json> answer(const Question& question) {
  std::ifstream file(question.machine);
  if (!file) return invalid(fmt::format("{} cannot be read", question.machine));
  const Json text = Json::parse(file, nullptr, false);
  auto machine = read_machine(text);
  if (!machine) return machine.status().in(question.machine);
  CaseWords words = question.words;
  if (!question.format.empty()) words.methods = {default_method(question.format)};
  if (!question.pattern.empty()) return answer_of_pattern(question, words, *machine);
  PENSTOCK_ASSIGN(const Case what, make_case(words));
  SimulatedJob job{what, 1, what.request.ranks_per_node, !question.read};
  Json rows = Json::array();
  for (const int ranks : question.ranks) {
    job.ranks = ranks;
    PENSTOCK_ASSIGN(const Json found, rows_of(job, question.format, *machine));
    rows.insert(rows.end(), found.begin(), found.end());
  }
  return record_of(job, *machine, std::move(rows));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Says what writing or reading a workload would take on a machine that is described.",
               "penstock-simulate"};
  Question question;
  app.add_option("machine", question.machine, "the machine, as JSON")->required();
  declare_case(app, question.words);
  app.option_defaults()->group("Simulation");
  app.add_option("--np-virtual", question.ranks, "ranks, 64,1024,32768")->delimiter(',')->allow_extra_args(false);
  app.add_option("--plans-of", question.format,
                 "by the plans that a planner tries for files of this format, instead of --methods");
  app.add_option("--pattern", question.pattern,
                 "what a program did (docs/formats/pattern.md), on as many ranks, instead of a workload");
  app.add_flag("--read", question.read, "read instead of write");
  CLI11_PARSE(app, argc, argv);
  const Status alone = question.pattern.empty() ? Status() : check_alone(app);
  const auto said = alone.ok() ? answer(question) : Result<Json>(alone);
  if (!said) {
    fmt::print(stderr, "penstock-simulate: {}\n", said.status().message());
    return 2;
  }
  fmt::print("{}\n", said->dump(1));
  return 0;
}
