// Tests of statistics against the table of the measuring rules and hand-made series.
#include "bench/stats/stats.hpp"

#include <gtest/gtest.h>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace penstock::bench {
namespace {

TEST(Stats, IntervalsByNumberOfRepetitions) {
  struct Row {
    int n, low;
    double percent;
  };
  for (const Row& row : {Row{6, 1, 96.9}, Row{9, 2, 96.1}, Row{12, 3, 96.1}, Row{20, 6, 95.9}}) {
    double coverage = 0;
    EXPECT_EQ(order_statistic(row.n, coverage), row.low) << row.n;
    EXPECT_NEAR(coverage * 100, row.percent, 0.05) << row.n;
  }
  for (int n = 1; n < 6; ++n) {
    double coverage = 1;
    EXPECT_EQ(order_statistic(n, coverage), 0) << n;
    EXPECT_EQ(coverage, 0) << n;
  }
  double coverage = 0;
  EXPECT_EQ(order_statistic(10000, coverage), 4902);  // n / 2 - 1.96 sqrt(n) / 2
  EXPECT_GE(coverage, 0.95);
}

TEST(Stats, MedianAndInterval) {
  const std::vector<double> nine = {9, 1, 8, 2, 7, 3, 6, 4, 5};
  const Interval interval = summarise(nine);
  EXPECT_EQ(interval.median, 5);
  EXPECT_EQ(interval.low, 2);
  EXPECT_EQ(interval.high, 8);
  EXPECT_EQ(interval.low_index, 2);
  EXPECT_EQ(interval.high_index, 8);
  const std::vector<double> few = {4, 1, 3, 2};
  EXPECT_EQ(summarise(few).median, 2.5);
  EXPECT_FALSE(summarise(few).low.has_value());
}

TEST(Stats, HalfWidthIsThatOfTheFartherEnd) {
  EXPECT_DOUBLE_EQ(relative_half_width(summarise(std::vector<double>{9, 1, 8, 2, 7, 3, 6, 4, 5})), 0.6);
  EXPECT_NEAR(relative_half_width({.median = 10, .low = 9.9, .high = 10.4}), 0.04, 1e-12);
  EXPECT_TRUE(std::isinf(relative_half_width(summarise(std::vector<double>{1, 1, 1}))));
}

TEST(Stats, PairedRatios) {
  // Each repetition is slower than the previous one, but always by the same factor: pairs show it, medians would not.
  const std::vector<double> base = {1, 2, 4, 8, 16, 32};
  std::vector<double> fast, noisy = {1.2, 1.9, 4.4, 7.2, 17, 31};
  for (double b : base) fast.push_back(0.9 * b);
  EXPECT_EQ(compare(fast, base, 0).verdict, Verdict::faster);
  EXPECT_NEAR(compare(fast, base, 0).interval.median, 0.9, 1e-12);
  EXPECT_EQ(compare(base, fast, 0).verdict, Verdict::slower);
  EXPECT_EQ(compare(noisy, base, 0).verdict, Verdict::no_difference);
  EXPECT_EQ(compare(fast, base, 0.2).verdict, Verdict::no_difference);  // below the smallest of the A/A pair
  EXPECT_EQ(compare(std::span(fast).first(5), std::span(base).first(5), 0).verdict, Verdict::no_interval);
  EXPECT_NEAR(smallest_difference(noisy, base), 0.2, 1e-12);
}

// Two names of one method, and the baseline's twin, on a machine that drifts, stutters and is shared: how often a false
// difference is claimed.
TEST(Stats, OfEqualMethodsHardlyAnyDifferenceIsClaimed) {
  std::mt19937_64 random(42);
  std::normal_distribution<double> normal;
  constexpr int campaigns = 4000;
  for (const int repetitions : {6, 9, 12, 20}) {
    int claimed = 0;
    for (int campaign = 0; campaign < campaigns; ++campaign) {
      std::vector<double> baseline, control, method;
      double drift = 1;
      for (int repetition = 0; repetition < repetitions; ++repetition) {
        drift *= std::exp(0.2 * normal(random));
        const double crowd = random() % 5 == 0 ? 3 : 1;  // another user's job, during the whole repetition
        for (std::vector<double>* series : {&baseline, &control, &method}) {
          const double stutter = random() % 10 == 0 ? 2 : 1;  // during one run
          series->push_back(drift * crowd * stutter * std::exp(0.05 * normal(random)));
        }
      }
      const Verdict verdict = compare(method, baseline, smallest_difference(control, baseline)).verdict;
      claimed += verdict == Verdict::faster || verdict == Verdict::slower;
    }
    EXPECT_LT(claimed, campaigns / 40) << repetitions << " repetitions";
    RecordProperty("claimed_of_4000_with_" + std::to_string(repetitions), claimed);
  }
}

}  // namespace
}  // namespace penstock::bench
