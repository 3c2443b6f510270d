// Record: a finished run as JSON file ("penstock.bench/1") and as table.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "bench/ceiling.hpp"
#include "bench/measure/results.hpp"
#include "bench/options.hpp"
#include "bench/report/summary.hpp"

namespace penstock::bench {

// All results of one case, on rank 0.
struct Record {
  const Options* options = nullptr;
  const Case* what = nullptr;
  const Results* results = nullptr;
  const Ceiling* ceiling = nullptr;            // null for a case of a list
  const nlohmann::json* provenance = nullptr;  // null for a case of a list, which has one for all
  const Summary* summary = nullptr;
  std::vector<std::string> warnings;
};

inline nlohmann::json number(std::optional<double> value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}
nlohmann::json ratio_json(const Ratio& ratio, const std::string& baseline);
nlohmann::json to_json(const Record& record);
nlohmann::json ceiling_json(const Ceiling& ceiling);
// Written completely beside PATH, then renamed to it.
Status write_json(const std::string& path, const nlohmann::json& json);
std::string to_table(const Record& record);

}  // namespace penstock::bench
