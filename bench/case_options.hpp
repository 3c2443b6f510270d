// Case options: the options of one case, declared once for the command line and for lists of cases.
#pragma once

#include <CLI/App.hpp>

#include "bench/case.hpp"

namespace penstock::bench {

// APP stores options in WORDS, which must stay alive. Their groups are Workload (what is written), Case (how), and
// Conditions, which may be chosen for every case of a study.
void declare_case(CLI::App& app, CaseWords& words);
bool is_of_case(const CLI::Option& option);
// Rejects options that have no meaning for the workload.
Status check_case_words(const CLI::App& app, const CaseWords& words);

}  // namespace penstock::bench
