// Statistics of repetitions: medians with order-statistic intervals, and ratios of pairs.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace penstock::bench {

// The median of N independent values, and the narrowest pair of symmetric order statistics x(k), x(n + 1 - k) that
// covers the true median with at least 95 %: coverage = 1 - 2 P(Binomial(n, 1/2) < k), whatever the distribution
// (Hoefler and Belli, SC15). Under six values there is none.
struct Interval {
  double median = 0;
  std::optional<double> low, high;
  int low_index = 0, high_index = 0;  // from 1 on; 0 where there is no interval
  double coverage = 0;
};
// REQUIRES: VALUES is not empty.
Interval summarise(std::span<const double> values);
// The farther end of the interval from the median, over the median; infinite where there is no interval.
double relative_half_width(const Interval& interval);
// k, or 0 where N is too small; the coverage goes to COVERAGE.
int order_statistic(int n, double& coverage);

enum class Verdict { faster, slower, no_difference, no_interval };
std::string_view name(Verdict verdict);

struct Ratio {
  Interval interval;
  Verdict verdict = Verdict::no_interval;
};
// Seconds of a method over those of its baseline in the same repetition. A difference below SMALLEST (of an A/A pair; 0
// where there was none) is not claimed. REQUIRES: both have the same length, not 0.
Ratio compare(std::span<const double> method, std::span<const double> baseline, double smallest);
// The smallest difference that an A/A pair lets one claim: how far its interval (its range where there is none) is
// from 1.
double smallest_difference(std::span<const double> control, std::span<const double> baseline);

}  // namespace penstock::bench
