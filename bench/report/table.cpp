// The table for people: medians with intervals, rates, ratios, and failures.
#include <fmt/format.h>
#include <algorithm>
#include <utility>

#include "bench/report/record.hpp"
#include "core/base/units.hpp"

namespace penstock::bench {

namespace {

std::string interval_text(const Interval& interval, const char* unit) {
  if (!interval.low) return fmt::format("{:.4g}{} [no 95 % interval]", interval.median, unit);
  return fmt::format("{:.4g}{} [{:.4g}, {:.4g}]", interval.median, unit, *interval.low, *interval.high);
}

std::string rate_text(const Line& line) {
  return fmt::format("{:.4g} MiB/s{}", line.mebibytes_per_second, line.above_ceiling ? " (cached)" : "");
}

std::string ratio_text(const Line& line, const std::string& baseline) {
  if (!line.ratio) return line.outcome->method.label == baseline ? "1" : "-";
  std::string text = interval_text(line.ratio->interval, "");
  if (line.ratio->verdict != Verdict::no_interval) text += fmt::format(", {}", name(line.ratio->verdict));
  return text;
}

std::string stored_text(const Line& line, int64_t total_bytes) {
  if (line.stored_bytes <= 0) return "";
  return fmt::format("{} ({:.3g} : 1)", format_bytes(static_cast<int64_t>(line.stored_bytes)),
                     static_cast<double>(total_bytes) / line.stored_bytes);
}

bool any_compresses(const Record& record) {
  return std::ranges::any_of(record.summary->lines, [](const Line& line) { return line.stored_bytes > 0; });
}

std::string row(const Line& line, size_t width, const Record& record) {
  const std::string head = fmt::format("{:<5}  {:<{}}", name(line.operation), line.outcome->method.label, width);
  if (!line.outcome->error.ok()) return fmt::format("{}  FAILED: {}\n", head, line.outcome->error.message());
  if (!line.time) return fmt::format("{}  not measured\n", head);
  return fmt::format(
      "{}  {:<30}  {:<22}  {}{:<8}  {}\n", head, interval_text(*line.time, " s"), rate_text(line),
      any_compresses(record) ? fmt::format("{:<20}  ", stored_text(line, record.what->total_bytes())) : "",
      line.outcome->verified() ? "verified" : "WRONG", ratio_text(line, record.summary->baseline));
}

// By how much plans that round have changed values.
std::string errors_text(const Record& record) {
  std::string text;
  for (const Outcome& outcome : record.results->outcomes) {
    const std::vector<Bound> bounds = outcome.method.bounds(*record.what->workload);
    if (!outcome.verified() || outcome.method.control || std::ranges::all_of(bounds, &Bound::exact)) continue;
    text += fmt::format("{}: no value is off by more than {:.3g}, relatively {:.3g}\n", outcome.method.label,
                        outcome.largest.absolute, outcome.largest.relative);
  }
  return text;
}

// What one write costs besides moving data.
std::string costs_text(const Record& record) {
  std::string calls, definition;
  for (const Line& line : record.summary->lines) {
    const auto& samples = line.outcome->series[static_cast<size_t>(line.operation)].samples;
    if (line.operation != Operation::write || samples.empty()) continue;
    const std::string& label = line.outcome->method.label;
    if (const int64_t count = samples.back().counts.metadata_calls) calls += fmt::format(" {} {};", label, count);
    if (const auto seconds = define_seconds_per_dataset(line, *record.what->workload))
      definition += fmt::format(" {} {:.3g} us;", label, *seconds * 1e6);
  }
  std::string text;
  for (auto [what, of_methods] : {std::pair("metadata calls of one write, all ranks", &calls),
                                  std::pair("definition of one dataset", &definition)}) {
    if (of_methods->empty()) continue;
    of_methods->pop_back();
    text += fmt::format("{}:{}\n", what, *of_methods);
  }
  return text;
}

// Which plan a method got by wisdom or estimate, and how long it was expected to take.
std::string choices_text(const Record& record) {
  std::string text;
  for (const Line& line : record.summary->lines) {
    const Series& series = line.outcome->series[static_cast<size_t>(line.operation)];
    if (series.report.predicted_seconds <= 0 || !line.time || !line.outcome->error.ok()) continue;
    if (!line.outcome->verified() || line.outcome->method.control) continue;
    text += fmt::format("{} {}: predicted {:.3g} s, took {:.3g} s, with plan {}, by {}\n", name(line.operation),
                        line.outcome->method.label, series.report.predicted_seconds, line.time->median, series.plan,
                        series.report.reason);
  }
  return text;
}

}  // namespace

std::string to_table(const Record& record) {
  const Case& what = *record.what;
  const Results& results = *record.results;
  std::string text =
      fmt::format("{}: {}{} on {} ranks, read back on {}; {}; {} repetitions{}\n", what.workload_name,
                  format_bytes(what.total_bytes()), what.data == nullptr ? "" : ", data " + what.data_name + ",",
                  results.writers, results.readers, name(what.regime), results.order.size() - 1,
                  results.stopped.empty() ? "" : fmt::format(" ({})", results.stopped));
  text += fmt::format("device: writes {:.1f} MiB/s, reads {:.1f} MiB/s at best\n", record.ceiling->best_write,
                      record.ceiling->best_read);
  size_t width = 6;
  for (const Line& line : record.summary->lines) width = std::max(width, line.outcome->method.label.size());
  if (what.compute_seconds > 0)
    text += fmt::format("write: the time added to a compute phase of {} s\n", what.compute_seconds);
  text +=
      fmt::format("\n{:<5}  {:<{}}  {:<30}  {:<22}  {}{:<8}  time / {}\n", "", "method", width, "median [95 %]", "rate",
                  any_compresses(record) ? fmt::format("{:<20}  ", "stored") : "", "", record.summary->baseline);
  for (const Line& line : record.summary->lines) text += row(line, width, record);
  text += errors_text(record);
  text += choices_text(record);
  text += costs_text(record);
  for (const Control& control : record.summary->controls)
    text += fmt::format("\nA/A {}: the same method twice differs by up to {:.1f} %; less is not claimed",
                        name(control.operation), control.smallest_difference * 100);
  if (!record.summary->controls.empty()) text += "\n";
  const nlohmann::json described = what.workload->describe(results.writers);
  if (described.contains("notes"))
    for (const auto& note : described["notes"]) text += fmt::format("{}\n", note.get<std::string>());
  for (const std::string& warning : record.warnings) text += fmt::format("warning: {}\n", warning);
  return text;
}

}  // namespace penstock::bench
