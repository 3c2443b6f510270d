// Schedule: when a step is due and which steps are kept: arithmetic on iterations, times and seconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <penstock/status.hpp>

#include "core/model/descriptor.hpp"

namespace penstock {

const Descriptor& series_descriptor();

struct Schedule {
  int64_t steps = 0;       // 0 or empty: no such rule
  double interval = 0;     // of simulation time
  std::vector<double> at;  // ascending
  double seconds = 0;
  double io_budget = 0;  // a share of run time
  int64_t keep_last = 0, keep_every = 0;
  bool xdmf = false;

  bool needs_clock() const { return seconds > 0 || io_budget > 0; }
  bool has_rules() const { return steps > 0 || interval > 0 || !at.empty() || seconds > 0; }
  bool removes() const { return keep_last > 0 || keep_every > 0; }
};
// Parses the options of Series::create.
Result<Schedule> parse_schedule(std::string_view options);

struct Moment {
  int64_t iteration = 0;
  double time = 0;
  friend bool operator==(const Moment&, const Moment&) = default;
};
// Whether steps, times or at make a step due: a mark was reached or passed after BEFORE. At the beginning of a series
// BEFORE is empty, and NOW must be on a mark. Times within a millionth of the interval count as reached, since they are
// sums of time steps.
bool reaches_mark(const Schedule& schedule, const std::optional<Moment>& before, const Moment& now);

// Measurements of rank 0's clock.
struct Spent {
  double run = 0;         // since create
  double since_step = 0;  // since the last step began, or since create
  double writing = 0;     // in commits so far
  double last_write = 0;  // the last of them: estimate for the next
};
bool clock_says_due(const Schedule& schedule, const Spent& spent);
bool budget_allows(const Schedule& schedule, const Spent& spent);

// Whether step NUMBER (counted from 0 over all steps ever written) is kept when NEWER steps follow it. The newest is
// always kept.
bool is_kept(const Schedule& schedule, int64_t number, int64_t newer);

}  // namespace penstock
