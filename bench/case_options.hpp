// Case options: the options of one case, declared once for the command line and for a list of cases.
#pragma once

#include <CLI/App.hpp>

#include "bench/case.hpp"

namespace penstock::bench {

// APP fills WORDS, which stays alive.
void declare_case(CLI::App& app, CaseWords& words);
// What was said and means nothing for the workload.
Status check_case_words(const CLI::App& app, const CaseWords& words);

}  // namespace penstock::bench
