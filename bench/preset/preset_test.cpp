// Tests of the table of ratios, and of ratios computed from raw times.
#include <gtest/gtest.h>
#include <algorithm>
#include <set>

#include "bench/measure/schedule.hpp"
#include "bench/preset/preset.hpp"
#include "bench/report/ratios.hpp"

namespace penstock::bench {
namespace {

ChosenPreset chosen(const std::vector<std::string>& only, const std::string& mpi_io = "OMPIO") {
  PresetRequest request;
  request.words.total = "1MiB";
  request.only = only;
  request.mpi_io = mpi_io;
  auto made = choose_preset("ratios", request);
  EXPECT_TRUE(made.ok()) << made.status().message();
  return *std::move(made);
}

TEST(Preset, EveryRatioNamesCasesThatThereAre) {
  const Preset preset = ratios_preset();
  std::set<std::string_view> ids, cases;
  for (const PresetCase& one : preset.cases) EXPECT_TRUE(cases.insert(one.name).second) << one.name;
  for (const RatioRow& row : preset.ratios) {
    EXPECT_TRUE(ids.insert(row.id).second) << row.id;
    for (const Side* side : {&row.ours, &row.other}) {
      if (!row.skipped.empty() || row.counted) continue;
      EXPECT_TRUE(cases.contains(side->case_name)) << row.id;
      EXPECT_FALSE(side->methods.empty()) << row.id;
    }
  }
}

TEST(Preset, OnlyWhatTheRatiosNeedIsMeasured) {
  const ChosenPreset small = chosen({"4a", "11"});
  ASSERT_EQ(small.cases.size(), 2u);
  EXPECT_EQ(small.cases[0].name, "short rows");
  EXPECT_EQ(small.cases[1].methods.size(), 2u);
  EXPECT_TRUE(small.cases[1].methods[1].reference);
  EXPECT_EQ(chosen({"4"}).ratios.size(), 3u);
  PresetRequest unknown;
  unknown.only = {"99"};
  EXPECT_NE(choose_preset("ratios", unknown).status().message().find("no ratio '99'"), std::string::npos);
  EXPECT_NE(choose_preset("rations", {}).status().message().find("no preset 'rations'; there is ratios"),
            std::string::npos);
}

TEST(Preset, NumbersAskForTheirLetters) {
  EXPECT_TRUE(asks_for("1a", "1a"));
  EXPECT_TRUE(asks_for("1", "1f"));
  EXPECT_TRUE(asks_for("3", "3"));
  EXPECT_FALSE(asks_for("1", "10"));
  EXPECT_FALSE(asks_for("1a", "1b"));
  EXPECT_FALSE(asks_for("", "1a"));
}

TEST(Preset, RomioIsAskedForOnlyWhereItIs) {
  EXPECT_FALSE(chosen({"4b"}).ratios[0].skipped.empty());
  EXPECT_TRUE(chosen({"4b"}).cases.empty());
  EXPECT_TRUE(chosen({"4b"}, "ROMIO").ratios[0].skipped.empty());
}

TEST(Preset, TargetsDependOnTheRanks) {
  const RatioRow row{.id = "x", .target = 0.5, .few_target = 0.75};
  EXPECT_EQ(row.target_on(16), 0.5);
  EXPECT_EQ(row.target_on(15), 0.75);
  EXPECT_EQ((RatioRow{.id = "x", .target = 0.2}).target_on(4), 0.2);
}

Outcome outcome(const std::string& label, const std::vector<double>& seconds, const std::string& rivals = {}) {
  Outcome made;
  made.method.label = label;
  made.method.rivals = rivals;
  for (const double value : seconds) {
    Sample sample;
    sample.seconds = value;
    sample.copy_seconds = value / 2;
    for (Series& series : made.series) {
      if (!series.warmup) series.warmup = sample;
      series.samples.push_back(sample);
    }
  }
  return made;
}

struct Finished {
  Options options;
  Measured measured;
};

// One case with OUTCOMES, and one ratio of the first outcome to the others.
Finished run_of(std::vector<Outcome> outcomes, Measure measure = Measure::write) {
  Finished run;
  Case one;
  one.name = "case";
  Side others{"case", {}, measure};
  for (const Outcome& each : outcomes) one.methods.push_back(each.method);
  for (size_t i = 1; i < outcomes.size(); ++i) others.methods.push_back(outcomes[i].method.label);
  if (measure == Measure::copy) others.methods = {outcomes[0].method.label};
  run.options.ratios = {{"1", "name", {"case", {outcomes[0].method.label}}, others, 0.5}};
  run.options.cases = {one};
  run.measured.cases.resize(1);
  run.measured.cases[0].writers = 4;
  run.measured.cases[0].outcomes = std::move(outcomes);
  return run;
}

TEST(Ratios, AreOfPairsWithTheBestRival) {
  // The best rival has the lowest median (4), although another has the lowest time (1).
  const Finished run = run_of(
      {outcome("ours", {1, 2, 3, 2, 1, 2}), outcome("slow", {9, 9, 1, 9, 9, 9}), outcome("best", {2, 4, 6, 4, 4, 8})});
  const RatioResult result = ratio_results(run.options, run.measured)[0];
  EXPECT_EQ(result.other, "best");
  ASSERT_TRUE(result.interval);
  EXPECT_EQ(result.interval->median, 0.5);
  EXPECT_EQ(result.interval->low, 0.25);
  EXPECT_EQ(result.interval->high, 0.5);
  EXPECT_EQ(result.met(), true);
}

TEST(Ratios, FewPairsHaveNoInterval) {
  const Finished run = run_of({outcome("ours", {3, 3}), outcome("other", {4, 4})});
  const RatioResult result = ratio_results(run.options, run.measured)[0];
  EXPECT_EQ(result.interval->median, 0.75);
  EXPECT_FALSE(result.interval->low);
  EXPECT_EQ(result.met(), false);
}

TEST(Ratios, ACopyIsOfTheSameRun) {
  const Finished run = run_of({outcome("ours", {3, 3})}, Measure::copy);
  EXPECT_EQ(ratio_results(run.options, run.measured)[0].interval->median, 2);
}

TEST(Ratios, WhatFailedOrWasDroppedDoesNotStand) {
  Finished run = run_of({outcome("ours", {1}), outcome("a", {1}), outcome("b", {4})});
  run.measured.cases[0].outcomes[1].error = Status(Code::damaged, "out of cheese");
  EXPECT_EQ(ratio_results(run.options, run.measured)[0].other, "b");
  run.measured.cases[0].outcomes[2].dropped = "hopeless";
  const RatioResult result = ratio_results(run.options, run.measured)[0];
  EXPECT_FALSE(result.interval);
  EXPECT_NE(result.skipped.find("a: out of cheese; b: hopeless"), std::string::npos) << result.skipped;
}

TEST(Ratios, GrowthIsCountedWithoutACase) {
  const ChosenPreset counted = chosen({"10a", "10b"});
  EXPECT_TRUE(counted.cases.empty());
  Options options;
  options.ratios = counted.ratios;
  const std::vector<RatioResult> results = ratio_results(options, {});
  const auto growth = count_growth("block2d", false);
  ASSERT_TRUE(growth.ok()) << growth.status().message();
  EXPECT_EQ(results[0].interval->median, growth->messages);
  EXPECT_EQ(results[1].interval->median, growth->plan_bytes);
  EXPECT_FALSE(results[0].interval->low);
  EXPECT_EQ(*results[1].met(), growth->plan_bytes <= 1);
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
