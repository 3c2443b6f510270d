// Hints: names and values that MPI-IO based methods pass to their libraries, and the outcome.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace penstock {

using Hints = std::map<std::string, std::string>;

// The hints that a library reports after opening a file, and warnings for the user.
struct HintsOutcome {
  Hints effective;                    // as the library reports them
  std::vector<std::string> warnings;  // "hint cb_nodes=4 had no effect: ..."
};

}  // namespace penstock
