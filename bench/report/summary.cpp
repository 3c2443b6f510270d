// Summary: medians, intervals and paired ratios of every method.
#include "bench/report/summary.hpp"

#include <algorithm>

namespace penstock::bench {

std::vector<double> seconds_of(const Outcome& outcome, Operation operation) {
  std::vector<double> seconds;
  for (const Sample& sample : outcome.series[static_cast<size_t>(operation)].samples) seconds.push_back(sample.seconds);
  return seconds;
}

namespace {

double median_stored(const Outcome& outcome, Operation operation) {
  std::vector<double> bytes;
  for (const Sample& sample : outcome.series[static_cast<size_t>(operation)].samples)
    bytes.push_back(static_cast<double>(sample.stored_bytes));
  return summarise(bytes).median;
}

}  // namespace

std::optional<double> define_seconds_per_dataset(const Line& line, const Workload& workload) {
  const size_t datasets = workload.fields().size();
  const auto& samples = line.outcome->series[static_cast<size_t>(line.operation)].samples;
  if (datasets < 2 || samples.empty()) return std::nullopt;
  std::vector<double> seconds;
  for (const Sample& sample : samples) seconds.push_back(sample.phases[Phase::define]);
  return summarise(seconds).median / static_cast<double>(datasets);
}

Summary summarise(const Case& what, const Results& results, const Ceiling& ceiling) {
  Summary summary;
  summary.baseline = what.methods[what.baseline].label;
  const auto is_baseline = [&](const Outcome& outcome) { return outcome.method.label == summary.baseline; };
  const auto base = std::find_if(results.outcomes.begin(), results.outcomes.end(), is_baseline);
  for (const Operation operation : {Operation::write, Operation::read}) {
    const std::vector<double> base_seconds =
        base == results.outcomes.end() ? std::vector<double>() : seconds_of(*base, operation);
    double smallest = 0;
    for (const Outcome& outcome : results.outcomes) {
      const std::vector<double> seconds = seconds_of(outcome, operation);
      if (!outcome.method.control || seconds.empty() || base_seconds.empty()) continue;
      smallest = smallest_difference(seconds, base_seconds);
      summary.controls.push_back({operation, compare(seconds, base_seconds, smallest), smallest});
    }
    for (const Outcome& outcome : results.outcomes) {
      if (outcome.method.reference && operation == Operation::read) continue;
      Line line{.outcome = &outcome, .operation = operation, .seconds = seconds_of(outcome, operation)};
      if (!line.seconds.empty()) {
        line.time = summarise(line.seconds);
        line.best = *std::min_element(line.seconds.begin(), line.seconds.end());
        line.mebibytes_per_second = static_cast<double>(what.total_bytes()) / (1 << 20) / line.time->median;
        const double limit = operation == Operation::write ? ceiling.best_write : ceiling.best_read;
        if (compresses(outcome.method.parsed)) line.stored_bytes = median_stored(outcome, operation);
        line.above_ceiling = limit > 0 && line.mebibytes_per_second > limit;
        if (!is_baseline(outcome) && !base_seconds.empty()) line.ratio = compare(line.seconds, base_seconds, smallest);
      }
      summary.lines.push_back(std::move(line));
    }
  }
  return summary;
}

}  // namespace penstock::bench
