// Results: whether everything succeeded.
#include "bench/measure/results.hpp"

#include <algorithm>

namespace penstock::bench {

std::string_view name(Operation operation) { return operation == Operation::write ? "write" : "read"; }

bool Results::ok() const {
  return std::all_of(outcomes.begin(), outcomes.end(), [](const Outcome& outcome) { return outcome.verified(); });
}

bool Measured::ok() const {
  return std::all_of(cases.begin(), cases.end(), [](const Results& results) { return results.ok(); });
}

}  // namespace penstock::bench
