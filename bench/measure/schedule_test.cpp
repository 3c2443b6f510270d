// Tests of the order of measurements, and of what happens to slow methods.
#include "bench/measure/schedule.hpp"

#include <gtest/gtest.h>
#include <set>
#include <utility>

namespace penstock::bench {
namespace {

Outcome outcome(const std::string& label, const std::vector<double>& seconds, const std::string& rivals = {}) {
  Outcome made;
  made.method.label = label;
  made.method.rivals = rivals;
  for (const double value : seconds) {
    Sample sample;
    sample.seconds = value;
    for (Series& series : made.series) {
      if (!series.warmup) series.warmup = sample;
      series.samples.push_back(sample);
    }
  }
  return made;
}

TEST(Schedule, SlowRivalsAreDroppedButNeverTheBest) {
  Results results;
  results.outcomes = {outcome("ours", {1}), outcome("slow", {50}, "x"), outcome("slower", {60}, "x"),
                      outcome("alone", {99})};
  const std::vector<Patience> all = patience(results, 10);
  EXPECT_EQ(all[0].dropped + all[1].dropped + all[3].dropped + all[0].slow + all[2].slow, "");
  EXPECT_EQ(all[2].dropped, "took 60 times as long as ours in the warm-up");
  EXPECT_EQ(all[1].slow, "took 50 times as long as ours in the warm-up");
  EXPECT_EQ(all[3].slow, "took 99 times as long as ours in the warm-up");
  results.outcomes[1].slow = all[1].slow;
  EXPECT_TRUE(results.outcomes[1].runs(slow_repetitions));
  EXPECT_FALSE(results.outcomes[1].runs(slow_repetitions + 1));
}

TEST(Schedule, EveryMethodComesOnceAndGroupsStayTogether) {
  std::vector<Case> cases(3);
  cases[0].group = cases[2].group = "a";
  cases[1].group = "b";
  for (Case& one : cases) one.methods.resize(4);
  bool differs = false;
  for (int repetition = 0; repetition < 20; ++repetition) {
    const std::vector<Turn> turns = shuffled_turns(cases, 1, repetition);
    std::set<std::pair<size_t, size_t>> seen;
    int changes = 0;
    for (size_t i = 0; i < turns.size(); ++i) {
      seen.insert({turns[i].case_index, turns[i].method});
      changes += i > 0 && cases[turns[i].case_index].group != cases[turns[i - 1].case_index].group;
    }
    EXPECT_EQ(seen.size(), 12u);
    EXPECT_EQ(turns.size(), 12u);
    EXPECT_EQ(changes, 1);
    differs = differs || turns[0].case_index == 1;
  }
  EXPECT_TRUE(differs);
}

}  // namespace
}  // namespace penstock::bench
