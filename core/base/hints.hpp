// Hints: names and values that MPI-IO based methods pass on to their libraries, and what became of them.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace penstock {

using Hints = std::map<std::string, std::string>;

// What a library said after it had opened a file, and what the user ought to know.
struct HintsOutcome {
  Hints effective;                    // as the library reports them
  std::vector<std::string> warnings;  // "hint cb_nodes=4 had no effect: ..."
};

}  // namespace penstock
