// Cases: a list of cases in a JSON file, {"cases": [{"case": NAME, "group": NAME, "words": [WORD, ...]}, ...]}, each
// with the words that the command line would have for it alone.
#pragma once

#include <string>
#include <vector>

#include <penstock/status.hpp>

#include "bench/case.hpp"

namespace penstock::bench {

struct CaseList {
  std::vector<Case> cases;  // those that have a method in this build
  std::vector<Unavailable> unavailable;
};

// Local. Code::invalid names the case that is wrong. With an A/A pair where the words say so, or else from 6
// REPETITIONS on.
Result<CaseList> read_cases(const std::string& path, int repetitions);

}  // namespace penstock::bench
