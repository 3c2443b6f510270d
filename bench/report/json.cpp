// The JSON record. Raw times of every rank and repetition come first; every statistic can be recomputed from them.
#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "bench/report/record.hpp"
#include "bench/workload/element.hpp"
#include "bench/workload/numbering.hpp"
#include "core/methods/methods.hpp"
#include "core/plan/plan.hpp"

namespace penstock::bench {

namespace {

using Json = nlohmann::json;

Json workload_json(const Record& record) {
  const Case& what = *record.what;
  Json json = what.workload->describe(record.results->writers);
  json["name"] = what.workload_name;
  json["total_bytes"] = what.total_bytes();
  json["type"] = element_word(what.request.type.kind);
  json["partial"] = has_holes(*what.workload);
  json["ghosts"] = what.ghosts;
  json["data"] = what.data_name;
  if (what.data == nullptr) {
    const Numbering numbering(what.request.type.kind, record.options->seed, 0);
    json["numbering"] = {{"bits", numbering.bits()},
                         {"injective", numbering.injective(total_elements(*what.workload))}};
  }
  json["datasets"] = what.workload->fields().size();
  return json;
}

std::vector<double> phase_of(const std::vector<Sample>& samples, Phase phase) {
  std::vector<double> seconds;
  for (const Sample& sample : samples) seconds.push_back(sample.phases[phase]);
  return seconds;
}

// Our phases, and IOR's terms for the same times: open, move bytes, close.
void add_phases(Json& json, const std::vector<Sample>& samples, const std::vector<double>& totals) {
  for (int p = 0; p < phase_count; ++p) {
    const auto phase = static_cast<Phase>(p);
    json["phases"][std::string(name(phase))] = phase_of(samples, phase);
  }
  Json open = Json::array(), move = Json::array(), close = Json::array();
  for (const Sample& sample : samples) {
    const PhaseTimes& t = sample.phases;
    open.push_back(t[Phase::define]);
    move.push_back(t[Phase::pack] + t[Phase::exchange] + t[Phase::write] + t[Phase::read]);
    close.push_back(t[Phase::sync] + t[Phase::commit]);
  }
  json["openTime"] = std::move(open);
  json["wrRdTime"] = std::move(move);
  json["closeTime"] = std::move(close);
  json["totalTime"] = totals;
}

void add_counts(Json& json, const Counts& counts) {
  json["writers"] = counts.writers;
  json["file_calls"] = counts.file_calls;
  json["file_bytes"] = counts.file_bytes;
  json["metadata_calls"] = counts.metadata_calls;
  json["messages"] = counts.messages;
  json["message_bytes"] = counts.message_bytes;
  json["memory_peak_bytes"] = counts.memory_peak;
  json["resident_growth_bytes"] = counts.resident_growth < 0 ? Json(nullptr) : Json(counts.resident_growth);
  const int64_t moved = counts.file_bytes + counts.message_bytes;
  json["moved_per_byte"] = counts.bytes > 0 ? static_cast<double>(moved) / static_cast<double>(counts.bytes) : 0;
}

void add_plan(Json& json, const Series& series, const Method& method) {
  json["requested_plan"] = method.plan;
  json["plan"] = series.plan;
  const auto plan = parse_plan(series.plan.empty() ? method.plan : series.plan, method.format, vocabulary());
  json["plan_object"] = plan ? Json::parse(plan->json(), nullptr, false) : Json(nullptr);
  const Report& report = series.report;
  json["reason"] = report.reason;
  json["predicted_seconds"] = report.predicted_seconds > 0 ? Json(report.predicted_seconds) : Json(nullptr);
  json["problem"] = Json::parse(report.problem, nullptr, false);
  if (json["problem"].is_discarded()) json["problem"] = nullptr;
  json["filesystem"] = report.filesystem;
  json["effective_hints"] = report.hints;
  json["warnings"] = report.warnings;
  json["transport_statistics"] =
      report.statistics.empty() ? Json(nullptr) : Json::parse(report.statistics, nullptr, false);
}

// Cached reads say nothing about a device's rate.
bool cold(const Case& what, const std::vector<Sample>& samples) {
  if (what.regime != Regime::durable) return false;
  for (const Sample& sample : samples)
    if (sample.resident > 0.05) return false;
  return true;
}

// The counts of the last run, with the memory of the run that grew most, since memory that is kept for later runs grows
// in the first.
Counts max_memory(const Series& series) {
  Counts counts = series.samples.empty() ? Counts() : series.samples.back().counts;
  const auto grow = [&](const Sample& sample) {
    counts.memory_peak = std::max(counts.memory_peak, sample.counts.memory_peak);
    counts.resident_growth = std::max(counts.resident_growth, sample.counts.resident_growth);
  };
  if (series.warmup) grow(*series.warmup);
  for (const Sample& sample : series.samples) grow(sample);
  return counts;
}

// "seconds" is then the time that the write added to the compute phase.
void add_background(Json& json, const std::vector<Sample>& samples) {
  Json copy = Json::array(), compute = Json::array(), behind = Json::array();
  std::vector<double> ratios;
  for (const Sample& sample : samples) {
    copy.push_back(sample.copy_seconds);
    compute.push_back(sample.compute_seconds);
    behind.push_back(sample.background_seconds);
    if (sample.copy_seconds > 0) ratios.push_back(sample.seconds / sample.copy_seconds);
  }
  json["behind"] = {{"copy_seconds", std::move(copy)},
                    {"compute_seconds", std::move(compute)},
                    {"moved_meanwhile_seconds", std::move(behind)},
                    {"visible_to_copy", ratios.empty() ? Json(nullptr) : Json(summarise(ratios).median)}};
}

Json line_json(const Record& record, const Line& line) {
  const Outcome& outcome = *line.outcome;
  const Series& series = outcome.series[static_cast<size_t>(line.operation)];
  Json json{{"workload", record.what->workload_name},
            {"method", outcome.method.label},
            {"control", outcome.method.control},
            {"operation", name(line.operation)},
            {"regime", name(record.what->regime)},
            {"np", line.operation == Operation::write ? record.results->writers : record.results->readers},
            {"bytes", record.what->total_bytes()},
            {"seconds", line.seconds}};
  add_plan(json, series, outcome.method);
  Json rank_seconds = Json::array(), resident = Json::array(), stored = Json::array();
  for (const Sample& sample : series.samples) {
    rank_seconds.push_back(sample.rank_seconds);
    resident.push_back(sample.resident);
    stored.push_back(sample.stored_bytes);
  }
  json["rank_seconds"] = std::move(rank_seconds);
  if (!outcome.method.reference) json["stored_bytes"] = std::move(stored);
  if (line.stored_bytes > 0)
    json["compressed"] = {{"stored_bytes", line.stored_bytes},
                          {"ratio", static_cast<double>(record.what->total_bytes()) / line.stored_bytes}};
  json["warmup_seconds"] = series.warmup ? Json::array({series.warmup->seconds}) : Json::array();
  add_phases(json, series.samples, line.seconds);
  json["median"] = line.time ? Json(line.time->median) : Json(nullptr);
  json["low"] = line.time ? number(line.time->low) : Json(nullptr);
  json["high"] = line.time ? number(line.time->high) : Json(nullptr);
  json["coverage"] = line.time ? line.time->coverage : 0;
  if (const auto define = define_seconds_per_dataset(line, *record.what->workload))
    json["define_seconds_per_dataset"] = *define;
  json["best"] = line.time ? Json(line.best) : Json(nullptr);
  json["ratio"] = line.ratio ? ratio_json(*line.ratio, record.summary->baseline) : Json(nullptr);
  json["bwMiB"] = line.time ? Json(line.mebibytes_per_second) : Json(nullptr);
  const bool in_memory =
      record.what->regime == Regime::cached || (record.what->warm && line.operation == Operation::read);
  json["rate_label"] = line.above_ceiling || in_memory ? "cached" : "device";
  if (line.operation == Operation::read && json["problem"].is_object()) json["problem"]["in_memory"] = in_memory;
  json["above_ceiling"] = line.above_ceiling;
  add_counts(json, max_memory(series));
  if (line.operation == Operation::write && record.what->compute_seconds > 0) add_background(json, series.samples);
  if (line.operation == Operation::read) {
    json["resident"] = std::move(resident);
    json["cold"] = cold(*record.what, series.samples);
  } else {
    json["cold"] = false;
  }
  json["digest"] = outcome.digests.empty() ? Json(nullptr) : Json(fmt::format("{:016x}", outcome.digests.back()));
  json["verified"] = outcome.verified();
  const std::vector<Bound> bounds = outcome.method.bounds(*record.what->workload);
  if (!std::ranges::all_of(bounds, &Bound::exact))
    json["largest_error"] = {{"absolute", outcome.largest.absolute}, {"relative", outcome.largest.relative}};
  if (outcome.method.reference) json["reference"] = true;
  if (!outcome.dropped.empty()) json["dropped"] = outcome.dropped;
  if (!outcome.slow.empty()) json["slow"] = outcome.slow;
  json["checks"] = outcome.checks;
  json["library"] = outcome.library.empty() ? Json(nullptr) : Json(outcome.library);
  json["library_checks"] = outcome.library_checks;
  json["error"] = outcome.error.ok() ? Json(nullptr) : Json(outcome.error.message());
  return json;
}

Json competitors_json(const Case& what, const Results& results) {
  if (what.competitors == 0) return nullptr;
  return {{"streams_per_node", what.competitors},
          {"seconds", results.competed_seconds},
          {"bytes_written", results.competed_bytes}};
}

Json control_json(const Summary& summary) {
  if (summary.controls.empty()) return nullptr;
  Json json;
  for (const Control& control : summary.controls) {
    Json one = ratio_json(control.ratio, summary.baseline);
    one["smallest_claimable"] = control.smallest_difference;
    json[std::string(name(control.operation))] = std::move(one);
  }
  return json;
}

}  // namespace

nlohmann::json ratio_json(const Ratio& ratio, const std::string& baseline) {
  return {{"to", baseline},
          {"median", ratio.interval.median},
          {"low", number(ratio.interval.low)},
          {"high", number(ratio.interval.high)},
          {"coverage", ratio.interval.coverage},
          {"verdict", name(ratio.verdict)}};
}

nlohmann::json ceiling_json(const Ceiling& ceiling) {
  const auto rates = [](const std::vector<double>& values) {
    if (values.empty()) return Json(nullptr);
    return Json{{"MiB_per_second", values},
                {"median", summarise(values).median},
                {"best", *std::max_element(values.begin(), values.end())}};
  };
  Json rows = Json::array();
  for (const CeilingRow& row : ceiling.rows)
    rows.push_back({{"io", row.io},
                    {"streams", row.streams},
                    {"write", rates(row.write_rates)},
                    {"read", rates(row.read_rates)},
                    {"error", row.error.empty() ? Json(nullptr) : Json(row.error)}});
  return {{"bytes", ceiling.bytes},
          {"transfer_bytes", ceiling.transfer_bytes},
          {"best_write", ceiling.best_write},
          {"best_read", ceiling.best_read},
          {"rows", std::move(rows)}};
}

nlohmann::json to_json(const Record& record) {
  const Options& options = *record.options;
  const Results& results = *record.results;
  Json order = Json::array(), expected = Json::array(), lines = Json::array();
  for (const auto& repetition : results.order) {
    Json labels = Json::array();
    for (size_t method : repetition) labels.push_back(results.outcomes[method].method.label);
    order.push_back(std::move(labels));
  }
  for (uint64_t digest : results.expected_digests) expected.push_back(fmt::format("{:016x}", digest));
  for (const Line& line : record.summary->lines) lines.push_back(line_json(record, line));
  const Json warmup_order = order.empty() ? Json::array() : order[0];
  if (!order.empty()) order.erase(0);
  return {{"schema", "penstock.bench/1"},
          {"workload", workload_json(record)},
          {"np", results.writers},
          {"readers", results.readers},
          {"competitors", competitors_json(*record.what, results)},
          {"regime", name(record.what->regime)},
          {"warm", record.what->warm},
          {"repetitions", order.size()},
          {"repetitions_asked", options.repetitions},
          {"stopped", results.stopped.empty() ? Json(nullptr) : Json(results.stopped)},
          {"seed", options.seed},
          {"baseline", record.summary->baseline},
          {"order", order},
          {"warmup_order", warmup_order},
          {"expected_digests", expected},  // of the warm-up, then of each repetition
          {"verified", results.ok()},
          {"results", std::move(lines)},
          {"aa", control_json(*record.summary)},
          {"ceiling", record.ceiling ? ceiling_json(*record.ceiling) : Json(nullptr)},
          {"warnings", record.warnings},
          {"provenance", record.provenance ? *record.provenance : Json(nullptr)}};
}

Status write_json(const std::string& path, const nlohmann::json& json) {
  const std::string text = json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  const std::string partial = fmt::format("{}.{}.partial", path, ::getpid());
  std::FILE* file = std::fopen(partial.c_str(), "w");
  if (file == nullptr) return Status::from_errno(errno, fmt::format("creating {}", partial));
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = std::fclose(file) == 0;
  if (written && closed && std::rename(partial.c_str(), path.c_str()) == 0) return {};
  const Status status = Status::from_errno(errno, fmt::format("writing {}", path));
  (void)std::remove(partial.c_str());
  return status;
}

}  // namespace penstock::bench
