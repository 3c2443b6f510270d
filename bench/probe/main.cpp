// penstock-probe-hints: runs the same small access without and with each hint, and prints the ranks' system calls as
// JSON.
//
//   mpiexec -n 4 penstock-probe-hints PROBES FILE
//
// PROBES is a JSON file: [{"hint": "cb_nodes", "value": "2", "operation": "write", "with": {"cb_config_list": "*:*"}}];
// an empty hint prints one run without a comparison. FILE is created and removed. `penstock hints` reads the output.
#include <mpi.h>

#include <cstdio>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include "bench/probe/scenario.hpp"

namespace penstock::probe {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* field_names[trace_fields] = {
    "writes",       "write_bytes", "largest_write", "first_written", "end_written", "reads",       "read_bytes",
    "largest_read", "first_read",  "end_read",      "syncs",         "locks",       "direct_calls"};

struct Probe {
  std::string hint, value, operation;
  Hints with;
};

std::vector<Probe> read_probes(const char* path) {
  std::vector<Probe> probes;
  std::ifstream file(path);
  const auto list = nlohmann::json::parse(file, nullptr, false);
  if (!list.is_array()) return probes;
  for (const auto& entry : list) {
    Probe probe{entry.value("hint", ""), entry.value("value", ""), entry.value("operation", "write"),
                entry.value("with", Hints())};
    if (!is_operation(probe.operation)) return {};
    probes.push_back(std::move(probe));
  }
  return probes;
}

Json as_json(const Seen& seen) {
  Json json;
  if (!seen.error.empty()) json["error"] = seen.error;
  for (int field = 0; field < trace_fields; ++field) {
    std::vector<int64_t> values;
    for (const Counts& counts : seen.ranks) values.push_back(counts[static_cast<size_t>(field)]);
    json[field_names[field]] = values;
  }
  return json;
}

// Each variant runs twice: a field that differs between two equal runs is no evidence about a hint.
bool differ(const Seen& a, const Seen& b, const Seen& c, const Seen& d) {
  for (size_t rank = 0; rank < a.ranks.size(); ++rank)
    for (size_t field = 0; field < trace_fields; ++field) {
      const auto of = [&](const Seen& seen) { return seen.ranks[rank][field]; };
      if (of(a) == of(b) && of(c) == of(d) && of(a) != of(c)) return true;
    }
  return a.error.empty() != c.error.empty();
}

Json compare(const Probe& probe, const std::string& path) {
  Json json{{"hint", probe.hint}, {"value", probe.value}, {"operation", probe.operation}, {"with", probe.with}};
  const Seen without = run_scenario(probe.operation, probe.with, path);
  json["without_hint"] = as_json(without);
  if (probe.hint.empty()) return json;
  const Seen again = run_scenario(probe.operation, probe.with, path);
  Hints hints = probe.with;
  hints[probe.hint] = probe.value;
  const Seen first = run_scenario(probe.operation, hints, path), second = run_scenario(probe.operation, hints, path);
  json["with_hint"] = as_json(first);
  json["effect"] = differ(without, again, first, second);
  const auto reported = first.reported.find(probe.hint);
  json["reported"] = reported == first.reported.end() ? Json() : Json(reported->second);
  return json;
}

int run(const char* list, const std::string& path) {
  int rank = 0, size = 1, length = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const std::vector<Probe> probes = read_probes(list);
  if (probes.empty()) {
    if (rank == 0) (void)std::fprintf(stderr, "penstock-probe-hints: '%s' is no list of probes\n", list);
    return 2;
  }
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  MPI_Get_library_version(version, &length);
  Json json{
      {"schema", "penstock.hints/1"}, {"library", std::string(version, static_cast<size_t>(length))}, {"ranks", size}};
  for (const Probe& probe : probes) json["probes"].push_back(compare(probe, path));
  if (rank == 0) std::printf("%s\n", json.dump().c_str());
  return 0;
}

}  // namespace
}  // namespace penstock::probe

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 2;
  if (argc == 3)
    status = penstock::probe::run(argv[1], argv[2]);
  else
    (void)std::fprintf(stderr, "usage: penstock-probe-hints PROBES FILE\n");
  MPI_Finalize();
  return status;
}
