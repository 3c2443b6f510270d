// Ratios: selects the method for each side, and pairs them.
#include "bench/report/ratios.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "bench/count/count.hpp"
#include "bench/report/cases.hpp"
#include "bench/report/record.hpp"
#include "bench/report/summary.hpp"

namespace penstock::bench {

namespace {

using Json = nlohmann::json;

std::vector<double> seconds_of(const Outcome& outcome, Measure measure) {
  if (measure != Measure::copy)
    return seconds_of(outcome, measure == Measure::write ? Operation::write : Operation::read);
  std::vector<double> seconds;
  for (const Sample& sample : outcome.series[0].samples) seconds.push_back(sample.copy_seconds);
  return seconds;
}

// The method that represents a side, or why there is none.
struct Standing {
  const Outcome* outcome = nullptr;
  std::vector<double> seconds;
  double median = 0;
  std::string missing;
};

void miss(Standing& standing, const std::string& method, const std::string& reason) {
  standing.missing += fmt::format("{}{}: {}", standing.missing.empty() ? "" : "; ", method, reason);
}

void consider(const Outcome& outcome, Measure measure, Standing& standing) {
  if (!outcome.error.ok()) return miss(standing, outcome.method.label, outcome.error.message());
  if (!outcome.dropped.empty()) return miss(standing, outcome.method.label, outcome.dropped);
  std::vector<double> seconds = seconds_of(outcome, measure);
  if (seconds.empty()) return miss(standing, outcome.method.label, "not measured");
  const double median = summarise(seconds).median;
  if (standing.outcome != nullptr && standing.median <= median) return;
  standing.outcome = &outcome;
  standing.seconds = std::move(seconds);
  standing.median = median;
}

Standing stand(const Side& side, const Options& options, const Measured& measured) {
  Standing standing;
  for (const Unavailable& one : options.unavailable)
    if (one.case_name == side.case_name &&
        std::find(side.methods.begin(), side.methods.end(), one.method) != side.methods.end())
      miss(standing, one.method, one.reason);
  for (size_t c = 0; c < options.cases.size(); ++c) {
    if (options.cases[c].name != side.case_name) continue;
    for (const Outcome& outcome : measured.cases[c].outcomes)
      if (!outcome.method.control &&
          std::find(side.methods.begin(), side.methods.end(), outcome.method.label) != side.methods.end())
        consider(outcome, side.measure, standing);
  }
  return standing;
}

// Exact: without repetitions and interval.
void count_ratio(const CountedSide& counted, RatioResult& result) {
  const auto growth = count_growth(counted.workload, counted.weak);
  if (!growth) {
    result.skipped = growth.status().message();
    return;
  }
  result.ours = "hdf5/two_phase";
  result.other = "log P";
  result.interval = Interval{.median = counted.plan_bytes ? growth->plan_bytes : growth->messages};
}

RatioResult ratio_result(const RatioRow& row, const Options& options, const Measured& measured) {
  RatioResult result;
  result.row = &row;
  result.target = row.target_on(measured.cases.empty() ? 1 : measured.cases[0].writers);
  result.skipped = row.skipped;
  if (!result.skipped.empty()) return result;
  if (row.counted) {
    count_ratio(*row.counted, result);
    return result;
  }
  const Standing ours = stand(row.ours, options, measured);
  Side other_side = row.other;
  // A copy is of the data of the run that it belongs to.
  if (row.other.measure == Measure::copy && ours.outcome != nullptr) other_side.methods = {ours.outcome->method.label};
  const Standing other = stand(other_side, options, measured);
  for (const Standing* side : {&ours, &other})
    if (side->outcome == nullptr && result.skipped.empty()) result.skipped = side->missing;
  if (!result.skipped.empty()) return result;
  // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): without an outcome it is said what is missing
  result.ours = ours.outcome->method.label;
  result.other = row.other.measure == Measure::copy ? "memory copy" : other.outcome->method.label;
  result.ours_seconds = ours.median;
  result.other_seconds = other.median;
  result.pairs = std::min(ours.seconds.size(), other.seconds.size());
  result.interval = compare(ours.seconds, other.seconds, 0).interval;
  return result;
}

std::string name(Measure measure) {
  switch (measure) {
    case Measure::write: return "write";
    case Measure::read: return "read";
    case Measure::copy: return "copy";
  }
  return {};
}

Json side_json(const Side& side, const std::string& method, double seconds) {
  return {{"case", side.case_name}, {"method", method}, {"measure", name(side.measure)}, {"median_seconds", seconds}};
}

Json ratio_json(const RatioResult& result, const Options& options, int ranks) {
  const RatioRow& row = *result.row;
  Json json{{"id", row.id},
            {"name", row.name},
            {"value", nullptr},
            {"low", nullptr},
            {"high", nullptr},
            {"target", number(result.target)},
            {"better", "lower"},
            {"met", result.met() ? Json(*result.met()) : Json(nullptr)},
            {"np", ranks},
            {"pairs", result.pairs},
            {"counted", row.counted.has_value()},
            {"skipped", result.skipped.empty() ? Json(nullptr) : Json(result.skipped)}};
  if (row.romio && !result.skipped.empty()) json["needs"] = "romio";
  if (!result.interval) return json;
  json["value"] = result.interval->median;
  json["low"] = number(result.interval->low);
  json["high"] = number(result.interval->high);
  json["coverage"] = result.interval->coverage;
  json["ours"] = result.ours;
  json["other"] = result.other;
  if (row.counted) return json;
  json["sides"] = {
      side_json(row.ours, result.ours, result.ours_seconds),
      side_json(row.other, row.other.measure == Measure::copy ? result.ours : result.other, result.other_seconds)};
  for (const Case& one : options.cases)
    if (one.name == row.ours.case_name) json["regime"] = name(one.regime);
  return json;
}

}  // namespace

std::optional<bool> RatioResult::met() const {
  if (!interval || !target) return std::nullopt;
  return interval->median <= *target;
}

std::vector<RatioResult> ratio_results(const Options& options, const Measured& measured) {
  std::vector<RatioResult> results;
  for (const RatioRow& row : options.ratios) results.push_back(ratio_result(row, options, measured));
  return results;
}

Json preset_json(const Options& options, const Measured& measured, const Json& where) {
  Json ratios = Json::array();
  const int ranks = measured.cases.empty() ? 0 : measured.cases[0].writers;
  for (const RatioResult& result : ratio_results(options, measured))
    ratios.push_back(ratio_json(result, options, ranks));
  return {{"schema", "penstock.preset/1"},
          {"preset", options.preset->name},
          {"np", ranks},
          {"repetitions", measured.order.empty() ? 0 : measured.order.size() - 1},
          {"repetitions_asked", options.repetitions},
          {"stopped", measured.stopped.empty() ? Json(nullptr) : Json(measured.stopped)},
          {"seed", options.seed},
          {"order", order_json(options, measured)},  // the warm-up first
          {"verified", measured.ok()},
          {"ratios", std::move(ratios)},
          {"cases", each_case(options, measured, Ceiling())},
          {"unavailable", unavailable_json(options)},
          {"provenance", where}};
}

namespace {

std::string interval_text(const Interval& interval, bool counted) {
  if (counted) return "exact";
  return interval.low ? fmt::format("[{:.3g}, {:.3g}]", *interval.low, *interval.high) : "[no 95 % interval]";
}

}  // namespace

std::string preset_table(const Options& options, const Measured& measured) {
  std::string text;
  for (const RatioResult& result : ratio_results(options, measured)) {
    text += fmt::format("{:<4} {:<52} ", result.row->id, result.row->name);
    if (!result.interval) {
      text += fmt::format("skipped: {}\n", result.skipped);
      continue;
    }
    const Interval& i = *result.interval;
    text +=
        fmt::format("{:<8.3g} {:<20} {:<12} {} / {}\n", i.median, interval_text(i, result.row->counted.has_value()),
                    result.target ? fmt::format("<= {:.3g} {}", *result.target, *result.met() ? "met" : "MISSED") : "",
                    result.ours, result.other);
  }
  return text;
}

}  // namespace penstock::bench
