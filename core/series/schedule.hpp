// Schedule: when a step is due, and which steps stay: arithmetic on iterations, times and seconds.
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
  int64_t steps = 0;       // 0, and empty: no such rule
  double interval = 0;     // of the simulation's time
  std::vector<double> at;  // ascending
  double seconds = 0;
  double io_budget = 0;  // a share of run time
  int64_t keep_last = 0, keep_every = 0;
  bool xdmf = false;

  bool needs_clock() const { return seconds > 0 || io_budget > 0; }
  bool has_rules() const { return steps > 0 || interval > 0 || !at.empty() || seconds > 0; }
  bool removes() const { return keep_last > 0 || keep_every > 0; }
};
// Of the options of Series::create.
Result<Schedule> parse_schedule(std::string_view options);

struct Moment {
  int64_t iteration = 0;
  double time = 0;
  friend bool operator==(const Moment&, const Moment&) = default;
};
// Whether steps, times or at say so: where a mark was reached or passed after BEFORE, which is nothing at the beginning
// of a series: then NOW must be on a mark itself. Times count as reached when they are nearer than a millionth of the
// interval, since they are sums of time steps.
bool reaches_mark(const Schedule& schedule, const std::optional<Moment>& before, const Moment& now);

// What rank 0's clock knows.
struct Spent {
  double run = 0;         // since create
  double since_step = 0;  // since the last step was begun, or create
  double writing = 0;     // in commits so far
  double last_write = 0;  // the last of them: the next will take about as long
};
bool clock_says_due(const Schedule& schedule, const Spent& spent);
bool budget_allows(const Schedule& schedule, const Spent& spent);

// Whether step NUMBER (counted from 0, over all that ever were) stays, which has NEWER steps after it. The newest
// always stays.
bool is_kept(const Schedule& schedule, int64_t number, int64_t newer);

}  // namespace penstock
