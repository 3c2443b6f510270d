// StepTrace: a record of a step contains the rank's report and the plan's parameters.
#include "core/session/step_trace.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/session/state.hpp"
#include "core/trace/trace.hpp"

namespace penstock {
namespace {

constexpr size_t max_names = 256;

std::vector<std::string> names(const std::vector<Pending>& pending) {
  std::vector<std::string> list;
  for (const Pending& p : pending) list.push_back(p.name);
  std::ranges::sort(list);
  list.erase(std::unique(list.begin(), list.end()), list.end());
  if (list.size() > max_names) list.resize(max_names);
  return list;
}

nlohmann::json phases(const PhaseTimes& times) {
  auto seconds = nlohmann::json::object();
  for (int p = 0; p < phase_count; ++p)
    seconds[std::string(name(static_cast<Phase>(p)))] = times[static_cast<Phase>(p)];
  return seconds;
}

}  // namespace

void begin_step(File::State& state, bool writes) {
  Trace* trace = Trace::current();
  if (trace == nullptr) return;
  state.step = {trace->time(), writes, state.target.token, names(writes ? state.puts : state.gets)};
}

void end_step(File::State& state, const Status& status) {
  Trace* trace = Trace::current();
  if (trace == nullptr || state.step.start < 0) return;
  const StepTrace step = std::exchange(state.step, {});
  Report& report = state.report;
  const int64_t end = trace->time();
  const nlohmann::json json = {{"path", trace->path_number(state.target.path)},
                               {"operation", step.writes ? "write" : "read"},
                               {"token", fmt::format("{:016x}", step.token)},
                               {"plan", report.plan},
                               {"problem", report.problem},
                               {"start", step.start},
                               {"end", end},
                               {"commit", state.commits},
                               {"rank", state.target.comm->rank()},
                               {"ranks", state.target.comm->size()},
                               {"node_rank", state.target.comm->node_rank()},
                               {"node_size", state.target.comm->node_size()},
                               {"phases", phases(report.phases)},
                               {"behind", report.background_seconds},
                               {"bytes", report.bytes},
                               {"file_calls", report.file_calls},
                               {"file_bytes", report.file_bytes},
                               {"metadata_calls", report.metadata_calls},
                               {"messages", report.messages},
                               {"message_bytes", report.message_bytes},
                               {"memory_peak", report.memory_peak},
                               {"writer", report.writers != 0},
                               {"datasets", step.datasets},
                               {"filesystem", report.filesystem},
                               {"hints_requested", state.hints},
                               {"hints_effective", report.hints},
                               {"statistics", report.statistics},
                               {"warnings", report.warnings},
                               {"error", status.ok() ? "" : status.message()}};
  trace->add_step(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), end);
  if (std::string trouble = trace->trouble(); !trouble.empty()) report.warnings.push_back(std::move(trouble));
}

}  // namespace penstock
