// Schedule: who comes when, and who no longer comes at all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/case.hpp"
#include "bench/measure/results.hpp"

namespace penstock::bench {

// Every method of every case once, in an order that SEED and REPETITION decide: groups of cases in shuffled order, and
// in each group all methods of all its cases in shuffled order, so that what is compared lies close in time.
std::vector<Turn> shuffled_turns(const std::vector<Case>& cases, uint64_t seed, int repetition);

// What the warm-up says of a method that took over FACTOR times as long as the first one; "" for the others.
struct Patience {
  std::string dropped;  // among its rivals others both write and read faster: it need not be measured
  std::string slow;     // it must be, but in few repetitions
};
// For each method.
std::vector<Patience> patience(const Results& results, double factor);

}  // namespace penstock::bench
