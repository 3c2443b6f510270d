// Statistics of repetitions: medians with order-statistic intervals, and ratios of pairs.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace penstock::bench {

// The median of N independent values, and the narrowest pair of symmetric order statistics x(k), x(n + 1 - k) that
// covers the true median with at least 95 %: coverage = 1 - 2 P(Binomial(n, 1/2) < k), for any distribution (Hoefler
// and Belli, SC15). Fewer than six values have no such pair.
struct Interval {
  double median = 0;
  std::optional<double> low, high;
  int low_index = 0, high_index = 0;  // from 1; 0 if there is no interval
  double coverage = 0;
};
// REQUIRES: VALUES is not empty.
Interval summarise(std::span<const double> values);
// The larger distance from the median to an interval end, relative to the median; infinite without an interval.
double relative_half_width(const Interval& interval);
// k, or 0 if N is too small; stores the coverage in COVERAGE.
int order_statistic(int n, double& coverage);

enum class Verdict { faster, slower, no_difference, no_interval };
std::string_view name(Verdict verdict);

struct Ratio {
  Interval interval;
  Verdict verdict = Verdict::no_interval;
};
// Seconds of a method over those of its baseline in the same repetition. Differences below SMALLEST (from an A/A pair;
// 0 without one) are not significant. REQUIRES: equal, nonzero lengths.
Ratio compare(std::span<const double> method, std::span<const double> baseline, double smallest);
// The smallest significant difference by an A/A pair: the distance of its interval (or range, without an interval) from
// 1.
double smallest_difference(std::span<const double> control, std::span<const double> baseline);

}  // namespace penstock::bench
