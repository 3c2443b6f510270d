// Statistics of repetitions: order statistics by the binomial distribution.
#include "bench/stats/stats.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace penstock::bench {

namespace {

constexpr double confidence = 0.95;

std::vector<double> ratios(std::span<const double> above, std::span<const double> below) {
  std::vector<double> values;
  for (size_t i = 0; i < std::min(above.size(), below.size()); ++i) values.push_back(above[i] / below[i]);
  return values;
}

}  // namespace

double relative_half_width(const Interval& interval) {
  if (!interval.low || !interval.high || interval.median <= 0) return std::numeric_limits<double>::infinity();
  return std::max(*interval.high - interval.median, interval.median - *interval.low) / interval.median;
}

int order_statistic(int n, double& coverage) {
  // term is P(Binomial = k), tail P(Binomial < k); by logarithms, since 2^-n underflows for large n.
  double tail = 0;
  int best = 0;
  coverage = 0;
  for (int k = 1; 2 * k <= n; ++k) {
    const double term = std::lgamma(n + 1.0) - std::lgamma(static_cast<double>(k)) - std::lgamma(n - k + 2.0);
    tail += std::exp(term - n * std::log(2.0));
    if (1 - 2 * tail < confidence) break;
    best = k;
    coverage = 1 - 2 * tail;
  }
  return best;
}

Interval summarise(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const size_t n = sorted.size();
  Interval interval;
  interval.median = n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
  const int k = order_statistic(static_cast<int>(n), interval.coverage);
  if (k == 0) return interval;
  interval.low_index = k;
  interval.high_index = static_cast<int>(n) + 1 - k;
  interval.low = sorted[static_cast<size_t>(k - 1)];
  interval.high = sorted[n - static_cast<size_t>(k)];
  return interval;
}

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::faster: return "faster";
    case Verdict::slower: return "slower";
    case Verdict::no_difference: return "no detectable difference";
    case Verdict::no_interval: return "no 95 % interval";
  }
  return "";
}

Ratio compare(std::span<const double> method, std::span<const double> baseline, double smallest) {
  Ratio ratio;
  ratio.interval = summarise(ratios(method, baseline));
  const Interval& i = ratio.interval;
  if (!i.low)
    ratio.verdict = Verdict::no_interval;
  else if ((*i.low <= 1 && 1 <= *i.high) || std::abs(i.median - 1) <= smallest)
    ratio.verdict = Verdict::no_difference;
  else
    ratio.verdict = i.median < 1 ? Verdict::faster : Verdict::slower;
  return ratio;
}

double smallest_difference(std::span<const double> control, std::span<const double> baseline) {
  const std::vector<double> values = ratios(control, baseline);
  const Interval interval = summarise(values);
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return std::max(std::abs(interval.low.value_or(*least) - 1), std::abs(interval.high.value_or(*most) - 1));
}

}  // namespace penstock::bench
