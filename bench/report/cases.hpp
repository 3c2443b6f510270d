// Cases: the record of several cases of one run ("penstock.cases/1").
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "bench/ceiling.hpp"
#include "bench/measure/results.hpp"
#include "bench/options.hpp"

namespace penstock::bench {

nlohmann::json unavailable_json(const Options& options);

// On rank 0.
struct CasesRecord {
  const Options* options = nullptr;
  const Measured* measured = nullptr;  // with one entry for each case of the options
  const Ceiling* ceiling = nullptr;    // without rows: not measured
  const nlohmann::json* provenance = nullptr;
  bool complete = true;  // false: the run continues, or was terminated
};
nlohmann::json cases_json(const CasesRecord& record);
std::string cases_table(const CasesRecord& record);

}  // namespace penstock::bench
