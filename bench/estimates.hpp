// Estimates: what a workload asks of its plans, and what each plan should take.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "bench/case.hpp"
#include "core/session/bind.hpp"

namespace penstock::bench {

// Local. What a commit of WORKLOAD, which is made for RANKS, says of its blocks.
Result<PatternWords> pattern_of(const Workload& workload, int ranks);

// Local. The problem of writing ONE, whose workload is made for RANKS on one node, into FOLDER by its first method, and
// that of reading it back, each as docs/wisdom.md has it.
Result<nlohmann::json> problems_of(const Case& one, int ranks, const std::string& folder);

// Local. For PROBLEM, in JSON: the seconds that each plan should take here, the default first, whether the machine was
// probed, and the wisdom that applies.
Result<nlohmann::json> estimates_json(std::string_view problem);

}  // namespace penstock::bench
