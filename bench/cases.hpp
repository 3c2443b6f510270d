// Cases: a list of cases in a JSON file, {"cases": [{"case": NAME, "group": NAME, "words": [WORD, ...],
// "rivals": [[METHOD, ...], ...]}, ...], "slow_factor": NUMBER}; WORD is an argument as on the command line. Without
// rivals and a factor, nothing is dropped.
#pragma once

#include <string>
#include <vector>

#include <penstock/status.hpp>

#include "bench/case.hpp"

namespace penstock::bench {

struct CaseList {
  std::vector<Case> cases;  // those with a method in this build
  std::vector<Unavailable> unavailable;
  double slow_factor = 0;  // see Options
};

// Local. Code::invalid names the wrong case. Adds an A/A pair if the words request it, or from 6 REPETITIONS on.
Result<CaseList> read_cases(const std::string& path, int repetitions);

}  // namespace penstock::bench
