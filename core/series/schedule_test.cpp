// Tests of schedules: passed marks for any steps, budgets, and steps to keep.
#include "core/series/schedule.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace penstock {
namespace {

Schedule schedule(std::string_view options) {
  auto parsed = parse_schedule(options);
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  return parsed.ok() ? *parsed : Schedule();
}

int count(const Schedule& rules, const std::vector<Moment>& moments) {
  int due = 0;
  std::optional<Moment> before;
  for (const Moment& now : moments) {
    due += reaches_mark(rules, before, now) ? 1 : 0;
    before = now;
  }
  return due;
}

TEST(Schedule, EveryMarkIsMetOnceWhateverTheStepsAre) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 200; ++trial) {
    const int64_t every = 1 + static_cast<int64_t>(random() % 20);
    const double interval = 0.1 * static_cast<double>(1 + random() % 10);
    std::vector<Moment> moments = {{0, 0}};
    while (moments.size() < 300)
      moments.push_back({moments.back().iteration + 1, moments.back().time + interval / (1 + random() % 40)});
    const Moment& last = moments.back();
    EXPECT_EQ(count(schedule("steps=" + std::to_string(every)), moments), last.iteration / every + 1);
    const auto marks = static_cast<int>(std::floor(last.time / interval + 1e-6)) + 1;
    EXPECT_EQ(count(schedule("times=" + std::to_string(interval)), moments), marks) << interval << " " << last.time;
  }
}

TEST(Schedule, SumsOfTimeStepsReachTheirMarks) {
  std::vector<Moment> moments;
  double time = 0;
  for (int64_t n = 0; n <= 100000; ++n, time += 0.001) moments.push_back({n, time});
  const Schedule rules = schedule("times=0.1");
  std::optional<Moment> before;
  for (const Moment& now : moments) {
    EXPECT_EQ(reaches_mark(rules, before, now), now.iteration % 100 == 0) << now.iteration;
    before = now;
  }
}

TEST(Schedule, ListsOfTimesAndSeveralRules) {
  const Schedule list = schedule("at=0.25:0:0.1");
  EXPECT_TRUE(reaches_mark(list, std::nullopt, {0, 0}));
  EXPECT_FALSE(reaches_mark(list, Moment{0, 0}, {1, 0.05}));
  EXPECT_TRUE(reaches_mark(list, Moment{1, 0.05}, {2, 0.1}));
  EXPECT_TRUE(reaches_mark(list, Moment{2, 0.1}, {3, 7}));
  EXPECT_FALSE(reaches_mark(list, Moment{3, 7}, {4, 8}));
  const Schedule both = schedule("steps=10,at=0.1");
  EXPECT_TRUE(reaches_mark(both, Moment{3, 0.05}, {4, 0.15}));
  EXPECT_TRUE(reaches_mark(both, Moment{4, 0.15}, {10, 0.2}));
  EXPECT_FALSE(reaches_mark(both, std::nullopt, {11, 0.3}));  // a run that starts elsewhere
}

TEST(Schedule, TheClockAndTheBudget) {
  const Schedule rules = schedule("seconds=60,io_budget=10%");
  EXPECT_FALSE(clock_says_due(rules, {.since_step = 59}));
  EXPECT_TRUE(clock_says_due(rules, {.since_step = 60}));
  EXPECT_TRUE(budget_allows(rules, {.run = 1, .writing = 0, .last_write = 0}));
  EXPECT_FALSE(budget_allows(rules, {.run = 60, .writing = 5, .last_write = 5}));
  EXPECT_TRUE(budget_allows(rules, {.run = 96, .writing = 5, .last_write = 5}));
  EXPECT_DOUBLE_EQ(schedule("io_budget=0.1").io_budget, schedule("io_budget=10%").io_budget);
}

TEST(Schedule, WhatIsKept) {
  const Schedule rules = schedule("keep_last=2,keep_every=4");
  std::vector<int64_t> kept;
  for (int64_t n = 0; n < 11; ++n)
    if (is_kept(rules, n, 10 - n)) kept.push_back(n);
  EXPECT_EQ(kept, (std::vector<int64_t>{0, 4, 8, 9, 10}));
  EXPECT_TRUE(is_kept(schedule(""), 3, 1000));
  EXPECT_TRUE(is_kept(schedule("keep_every=5"), 3, 0));
  EXPECT_FALSE(is_kept(schedule("keep_every=5"), 3, 1));
}

TEST(Schedule, OptionsThatCannotBe) {
  for (const char* options : {"steps=-1", "steps=x", "times=0", "times=-1", "times=nan", "times=1:2", "at=1:", "at=1:x",
                              "seconds=0", "seconds=inf", "io_budget=0%", "io_budget=101%", "io_budget=10 %",
                              "keep_last=-1", "keep=3", "xdmf=yes", "steps"})
    EXPECT_EQ(parse_schedule(options).status().code(), Code::invalid) << options;
}

}  // namespace
}  // namespace penstock
