// Summary: the statistics of a campaign, computed once for JSON and table.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bench/ceiling.hpp"
#include "bench/measure/results.hpp"
#include "bench/stats/stats.hpp"
#include "bench/workload/workload.hpp"

namespace penstock::bench {

// One operation of one method.
struct Line {
  const Outcome* outcome = nullptr;
  Operation operation = Operation::write;
  std::vector<double> seconds;      // slowest rank, by repetition
  std::optional<Interval> time;     // nothing if no repetition succeeded
  std::optional<Ratio> ratio;       // to the baseline; nothing for the baseline itself
  double best = 0;                  // seconds, "best seen"
  double mebibytes_per_second = 0;  // of the median
  bool above_ceiling = false;       // faster than the device: cached
  double stored_bytes = 0;          // of the files, the median of all repetitions; 0 unless the plan compresses
};

// The result of the A/A pair for one operation.
struct Control {
  Operation operation = Operation::write;
  Ratio ratio;
  double smallest_difference = 0;
};

struct Summary {
  std::string baseline;
  std::vector<Line> lines;
  std::vector<Control> controls;  // empty without an A/A pair
};

// Seconds of the slowest rank in OUTCOME's repetitions of OPERATION.
std::vector<double> seconds_of(const Outcome& outcome, Operation operation);

// From the medians: the cost of defining a dataset if there are several; otherwise nothing.
std::optional<double> define_seconds_per_dataset(const Line& line, const Workload& workload);
// Of RESULTS of the case WHAT; CEILING has no rates if it was not measured.
Summary summarise(const Case& what, const Results& results, const Ceiling& ceiling);

}  // namespace penstock::bench
