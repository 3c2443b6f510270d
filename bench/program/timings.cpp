// Timings: computes statistics, a record and a table.
#include "bench/program/timings.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstring>
#include <numeric>

#include "bench/report/record.hpp"

namespace penstock::bench {

namespace {

using Json = nlohmann::json;

Json ratio_json(const TimedOperation& operation, const TimedCase& of) {
  const auto base = std::find_if(of.operations.begin(), of.operations.end(), [&](const TimedOperation& other) {
    return other.method == of.baseline && other.operation == operation.operation;
  });
  const std::vector<double> own = operation.slowest();
  if (base == of.operations.end() || operation.method == of.baseline || own.empty() || base->rank_seconds.empty())
    return nullptr;
  return ratio_json(compare(own, base->slowest(), 0), of.baseline);
}

Json line_json(const TimedOperation& operation, const TimedCase& of, int np) {
  const std::vector<double> seconds = operation.slowest();
  const bool measured = !seconds.empty();
  const Interval time = measured ? summarise(seconds) : Interval();
  Json json = operation.more;
  json["workload"] = of.workload["name"];
  json["method"] = operation.method;
  json["control"] = false;
  json["operation"] = operation.operation;
  json["np"] = np;
  json["bytes"] = operation.bytes;
  json["seconds"] = seconds;
  json["rank_seconds"] = operation.rank_seconds;
  json["warmup_seconds"] = operation.warmup.empty()
                               ? Json::array()
                               : Json::array({*std::max_element(operation.warmup.begin(), operation.warmup.end())});
  json["median"] = measured ? Json(time.median) : Json(nullptr);
  json["low"] = number(time.low);
  json["high"] = number(time.high);
  json["coverage"] = time.coverage;
  json["best"] = measured ? Json(*std::min_element(seconds.begin(), seconds.end())) : Json(nullptr);
  json["ratio"] = ratio_json(operation, of);
  json["bwMiB"] = measured && operation.bytes > 0 && time.median > 0
                      ? Json(static_cast<double>(operation.bytes) / (1 << 20) / time.median)
                      : Json(nullptr);
  json["rate_label"] = "cached";
  json["verified"] = operation.ok();
  json["error"] = operation.error.ok() ? Json(nullptr) : Json(operation.error.message());
  return json;
}

Json case_json(const TimedCase& of, const TimedRun& run) {
  Json lines = Json::array();
  for (const TimedOperation& operation : of.operations) lines.push_back(line_json(operation, of, run.np));
  return {{"schema", "penstock.bench/1"},
          {"case", of.name},
          {"group", of.name},
          {"workload", of.workload},
          {"np", run.np},
          {"readers", run.np},
          {"regime", "cached"},
          {"repetitions", run.repetitions},
          {"repetitions_asked", run.repetitions_asked},
          {"stopped", run.stopped.empty() ? Json(nullptr) : Json(run.stopped)},
          {"seed", run.seed},
          {"baseline", of.baseline},
          {"verified", of.ok()},
          {"results", std::move(lines)},
          {"aa", nullptr},
          {"ceiling", nullptr},
          {"competitors", nullptr},
          {"warnings", Json::array()},
          {"provenance", nullptr}};
}

}  // namespace

std::vector<double> TimedOperation::slowest() const {
  std::vector<double> seconds;
  for (const std::vector<double>& ranks : rank_seconds)
    seconds.push_back(*std::max_element(ranks.begin(), ranks.end()));
  return seconds;
}

TimedOperation& TimedCase::find(const std::string& method, const std::string& operation) {
  for (TimedOperation& one : operations)
    if (one.method == method && one.operation == operation) return one;
  operations.push_back({.method = method, .operation = operation});
  return operations.back();
}

bool TimedCase::ok() const { return std::ranges::all_of(operations, &TimedOperation::ok); }

bool TimedRun::ok() const { return std::ranges::all_of(cases, &TimedCase::ok); }

Status record(const Communicator& comm, int repetition, double seconds, TimedOperation& operation) {
  PENSTOCK_ASSIGN(const auto all, comm->gather(std::as_bytes(std::span(&seconds, 1)), 0));
  if (comm->rank() != 0) return {};
  std::vector<double> ranks(all.size());
  for (size_t rank = 0; rank < all.size(); ++rank) std::memcpy(&ranks[rank], all[rank].data(), sizeof(double));
  if (repetition == 0)
    operation.warmup = std::move(ranks);
  else
    operation.rank_seconds.push_back(std::move(ranks));
  return {};
}

Json to_json(const TimedRun& run) {
  Json cases = Json::array();
  for (const TimedCase& one : run.cases) cases.push_back(case_json(one, run));
  return {{"schema", "penstock.cases/1"},
          {"np", run.np},
          {"repetitions", run.repetitions},
          {"repetitions_asked", run.repetitions_asked},
          {"stopped", run.stopped.empty() ? Json(nullptr) : Json(run.stopped)},
          {"complete", run.complete},
          {"seed", run.seed},
          {"order", run.order},
          {"verified", run.ok()},
          {"cases", std::move(cases)},
          {"unavailable", Json::array()},
          {"ceiling", nullptr},
          {"provenance", run.provenance}};
}

std::string to_table(const TimedRun& run) {
  std::string text;
  for (const TimedCase& one : run.cases) {
    text += fmt::format("{}{}\n{:<28} {:<10} {:>12} {:>12} {:>12}\n", text.empty() ? "" : "\n", one.name, "method",
                        "operation", "fastest", "mean", "slowest rank");
    for (const TimedOperation& operation : one.operations) {
      if (!operation.error.ok()) {
        text +=
            fmt::format("{:<28} {:<10} FAILED: {}\n", operation.method, operation.operation, operation.error.message());
        continue;
      }
      if (operation.rank_seconds.empty()) continue;
      std::vector<double> fastest, mean;
      for (std::vector<double> ranks : operation.rank_seconds) {
        std::erase(ranks, 0.0);  // of ranks without work
        if (ranks.empty()) ranks = {0};
        fastest.push_back(*std::min_element(ranks.begin(), ranks.end()));
        mean.push_back(std::accumulate(ranks.begin(), ranks.end(), 0.0) / static_cast<double>(ranks.size()));
      }
      text += fmt::format("{:<28} {:<10} {:>10.4g} s {:>10.4g} s {:>10.4g} s{}\n", operation.method,
                          operation.operation, summarise(fastest).median, summarise(mean).median,
                          summarise(operation.slowest()).median, operation.verified ? "" : "  WRONG");
    }
  }
  return text;
}

}  // namespace penstock::bench
