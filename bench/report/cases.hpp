// Cases: the record of several cases of one run ("penstock.cases/1"), with parts that a preset's record shares.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "bench/ceiling.hpp"
#include "bench/measure/results.hpp"
#include "bench/options.hpp"

namespace penstock::bench {

// On rank 0. MEASURED has a case for each of OPTIONS.cases; a ceiling without rows was not measured.
nlohmann::json each_case(const Options& options, const Measured& measured, const Ceiling& ceiling);
nlohmann::json order_json(const Options& options, const Measured& measured);
nlohmann::json unavailable_json(const Options& options);

struct CasesRecord {
  const Options* options = nullptr;
  const Measured* measured = nullptr;
  const Ceiling* ceiling = nullptr;
  const nlohmann::json* provenance = nullptr;
  bool complete = true;  // false: the run continues, or was terminated
};
nlohmann::json cases_json(const CasesRecord& record);
std::string cases_table(const CasesRecord& record);

}  // namespace penstock::bench
