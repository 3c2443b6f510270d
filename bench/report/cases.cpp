// Cases: one record for all cases.
#include "bench/report/cases.hpp"

#include <fmt/format.h>

#include "bench/report/record.hpp"
#include "bench/report/summary.hpp"

namespace penstock::bench {

namespace {

using Json = nlohmann::json;

Json each_case(const Options& options, const Measured& measured, const Ceiling& ceiling) {
  Json cases = Json::array();
  for (size_t c = 0; c < measured.cases.size(); ++c) {
    const Case& what = options.cases[c];
    const Results& results = measured.cases[c];
    const Summary summary = summarise(what, results, ceiling);
    Json json = to_json({&options, &what, &results, nullptr, nullptr, &summary, {}});
    json["case"] = what.name;
    json["group"] = what.group;
    cases.push_back(std::move(json));
  }
  return cases;
}

Json order_json(const Options& options, const Measured& measured) {
  Json order = Json::array();
  for (const auto& repetition : measured.order) {
    Json turns = Json::array();
    for (const Turn& turn : repetition) {
      const Case& what = options.cases[turn.case_index];
      turns.push_back(fmt::format("{}: {}", what.name, what.methods[turn.method].label));
    }
    order.push_back(std::move(turns));
  }
  return order;
}

}  // namespace

Json unavailable_json(const Options& options) {
  Json unavailable = Json::array();
  for (const Unavailable& one : options.unavailable)
    unavailable.push_back({{"case", one.case_name}, {"method", one.method}, {"reason", one.reason}});
  return unavailable;
}

Json cases_json(const CasesRecord& record) {
  const Options& options = *record.options;
  const Measured& measured = *record.measured;
  return {{"schema", "penstock.cases/1"},
          {"np", measured.cases.empty() ? 0 : measured.cases[0].writers},
          {"repetitions", measured.order.empty() ? 0 : measured.order.size() - 1},
          {"repetitions_asked", options.repetitions},
          {"stopped", measured.stopped.empty() ? Json(nullptr) : Json(measured.stopped)},
          {"complete", record.complete},
          {"seed", options.seed},
          {"order", order_json(options, measured)},  // the warm-up first
          {"verified", measured.ok()},
          {"cases", each_case(options, measured, *record.ceiling)},
          {"unavailable", unavailable_json(options)},
          {"ceiling", ceiling_json(*record.ceiling)},
          {"provenance", *record.provenance}};
}

std::string cases_table(const CasesRecord& record) {
  std::string text;
  for (size_t c = 0; c < record.measured->cases.size(); ++c) {
    const Case& what = record.options->cases[c];
    const Results& results = record.measured->cases[c];
    const Summary summary = summarise(what, results, *record.ceiling);
    text += fmt::format("{}{}\n", c == 0 ? "" : "\n", what.name);
    text += to_table({record.options, &what, &results, record.ceiling, nullptr, &summary, {}});
  }
  return text;
}

}  // namespace penstock::bench
