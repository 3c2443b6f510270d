// Wise: asks the planner, and the session's own description of a commit.
#include "bench/simulate/wise.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <memory>

#include "bench/estimates.hpp"
#include "core/methods/methods.hpp"
#include "core/methods/predict.hpp"

namespace penstock::bench {

namespace {

bool has_new_stripes(const SimulatedJob& job, const Machine& machine) { return job.write && machine.kind == "lustre"; }

}  // namespace

std::string default_method(const std::string& format) { return fmt::format("{}/{}", format, default_transport); }

Result<std::vector<Method>> methods_to_try(const SimulatedJob& job, const std::string& format, const Machine& machine) {
  std::vector<std::string> transports = plans_to_try(job.ranks);
  if (has_new_stripes(job, machine)) {
    const std::vector<std::string> more = stripes_to_try();
    transports.insert(transports.end(), more.begin(), more.end());
  }
  std::vector<Method> methods;
  for (const std::string& transport : transports) {
    if (may_be_refused(transport)) continue;
    PENSTOCK_ASSIGN(Method method, make_method(fmt::format("{}/{}", format, transport), job.what.regime));
    methods.push_back(std::move(method));
  }
  return methods;
}

Result<nlohmann::json> problem_of(const SimulatedJob& job, const Method& method, const Machine& machine) {
  PENSTOCK_ASSIGN(const Plan plan, parse_plan(method.plan, "raw", vocabulary()));
  PENSTOCK_ASSIGN(const std::shared_ptr<const Workload> workload, workload_of(job));
  PENSTOCK_ASSIGN(const PatternWords pattern, pattern_of(*workload, job.ranks));
  const bool cached = job.what.regime == Regime::cached;
  const ProblemOf of{.plan = &plan,
                     .filesystem = machine.kind,
                     .durable = !cached,
                     .ranks = job.ranks,
                     .ranks_per_node = std::min(job.ranks, job.ranks_per_node)};
  Problem problem = make_problem(of, job.write, pattern, cached || job.what.warm);
  problem.mpi = "";
  return nlohmann::json::parse(text_of(problem));
}

std::string wise_transport(const SimulatedJob& job, const Method& method, const Machine& machine) {
  if (names_stripes(method.label) && !has_new_stripes(job, machine)) return "";
  const auto plan = parse_plan(method.plan, "raw", vocabulary());
  if (!plan.ok() || plan->placement != "single" || !plan->hints.empty() || may_be_refused(method.label)) return "";
  const std::string transport = method.label.substr(method.label.find('/') + 1);
  const std::string durability(plan->settings.word("durability"));  // of the regime
  const auto plain = parse_plan(fmt::format("{}:durability={}", plan->format, durability), "raw", vocabulary());
  if (!plain.ok()) return "";
  const auto named = with_transport(*plain, transport, vocabulary());
  return named.ok() && named->text(vocabulary()) == plan->text(vocabulary()) ? transport : "";
}

}  // namespace penstock::bench
