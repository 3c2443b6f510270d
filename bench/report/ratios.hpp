// Ratios: computes a preset's ratios from raw times, and the record of the whole run ("penstock.preset/1").
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/measure/results.hpp"
#include "bench/options.hpp"
#include "bench/stats/stats.hpp"

namespace penstock::bench {

struct RatioResult {
  const RatioRow* row = nullptr;
  std::string ours, other;                     // the compared methods; of several, those with the lowest medians
  double ours_seconds = 0, other_seconds = 0;  // medians
  std::optional<Interval> interval;            // of the paired ratios; nothing if skipped
  size_t pairs = 0;
  std::optional<double> target;
  std::string skipped;  // why it was skipped; "" if it was not

  std::optional<bool> met() const;  // nothing without a value or a target
};

// In the order of options.ratios. MEASURED has a case for each of options.cases.
std::vector<RatioResult> ratio_results(const Options& options, const Measured& measured);

// On rank 0; WHERE is the provenance.
nlohmann::json preset_json(const Options& options, const Measured& measured, const nlohmann::json& where);
std::string preset_table(const Options& options, const Measured& measured);

}  // namespace penstock::bench
