// Schedule: the order of measurements, and the methods that are dropped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/case.hpp"
#include "bench/measure/results.hpp"

namespace penstock::bench {

// Every method of every case once, in an order determined by SEED and REPETITION: groups of cases are shuffled, and in
// each group all methods of all its cases, so that comparable measurements are close in time.
std::vector<Turn> shuffled_turns(const std::vector<Case>& cases, uint64_t seed, int repetition);

// The consequence for a method that took more than FACTOR times as long as the first one in the warm-up; "" otherwise.
struct Patience {
  std::string dropped;  // a rival both writes and reads faster: it need not be measured
  std::string slow;     // it is measured in few repetitions
};
// For each method.
std::vector<Patience> patience(const Results& results, double factor);

}  // namespace penstock::bench
