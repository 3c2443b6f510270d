// Estimates: asks the library's planner.
#include "bench/estimates.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <utility>

#include "core/comm/library.hpp"
#include "core/methods/methods.hpp"
#include "core/methods/predict.hpp"
#include "core/session/striping.hpp"

namespace penstock::bench {

namespace {

using Json = nlohmann::json;

}  // namespace

Result<PatternWords> pattern_of(const Workload& workload, int ranks) {
  PatternWords most{0, 0, INT64_MIN};
  for (int rank = 0; rank < ranks; ++rank) {
    PENSTOCK_ASSIGN(std::vector<Portion> portions, workload.portions(rank, ranks));
    std::vector<Pending> pending;
    for (Portion& portion : portions) {
      const ElementType type = workload.fields()[static_cast<size_t>(portion.field)].type;
      pending.push_back({"", type, std::move(portion.part), {}, nullptr, {}, {}, {}, {}});
    }
    const PatternWords own = penstock::pattern_of(pending, ranks);
    for (size_t i = 0; i < own.size(); ++i) most[i] = std::max(most[i], own[i]);
  }
  return most;
}

Result<Json> problems_of(const Case& one, int ranks, const std::string& folder) {
  const Method& method = one.methods.front();
  PENSTOCK_ASSIGN(const Plan plan, parse_plan(method.plan, "hdf5", vocabulary()));
  PENSTOCK_ASSIGN(const PatternWords words, pattern_of(*one.workload, ranks));
  Json both = Json::array();
  for (const bool write : {true, false}) {
    const ProblemOf of{.plan = &plan,
                       .filesystem = find_file_system(folder).text,
                       .durable = one.regime == Regime::durable,
                       .ranks = ranks,
                       .ranks_per_node = ranks};
    both.push_back(Json::parse(text_of(make_problem(of, write, words, one.regime == Regime::cached || one.warm))));
  }
  return both;
}

Result<Json> estimates_json(std::string_view text) {
  PENSTOCK_ASSIGN(const Problem problem, parse_problem(text));
  PENSTOCK_ASSIGN(const Plan plan, parse_plan(problem.format, "hdf5", vocabulary()));
  const ReadWisdom known = known_wisdom(problem.filesystem, true, problem.format);
  const Machine* probed = known.wisdom.machine(problem);
  const Machine machine = probed != nullptr ? *probed : usual_machine();
  const std::vector<Prediction> predictions = predict(plan, problem, machine);
  Json plans = Json::array();
  for (const auto& [transport, seconds] : predictions)
    plans.push_back({{"plan", transport},
                     {"seconds", seconds.seconds()},
                     {"memory", seconds.memory},
                     {"messages", seconds.messages},
                     {"storage", seconds.storage},
                     {"fixed", seconds.fixed},
                     {"limit", seconds.limit()}});
  const Wise* wise = known.wisdom.find(problem);
  return Json{
      {"problem", Json::parse(text_of(problem))},
      {"probed", probed != nullptr},
      {"plans", std::move(plans)},
      {"estimated", predictions.empty() ? Json(nullptr) : Json(best_of(predictions).transport)},
      {"wisdom", wise == nullptr ? Json(nullptr) : Json{{"plan", wise->plan}, {"reason", reason_of(*wise, problem)}}},
      {"warnings", known.warnings}};
}

}  // namespace penstock::bench
