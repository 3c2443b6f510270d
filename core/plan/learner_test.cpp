// Tests of the learner: what it settles on, what it costs, and that it begins again when plans get slow.
#include "core/plan/learner.hpp"

#include <gtest/gtest.h>

#include <map>

namespace penstock {
namespace {

const std::vector<std::string> plans{"default", "slow", "fast", "equal", "hopeless"};

// Asks once; SECONDS of each plan.
std::string step(Learner& learner, const std::map<std::string, double>& seconds, double share = 1,
                 const std::string& problem = "p") {
  const std::string plan = learner.next(problem, plans, share).plan;
  learner.took(seconds.at(plan));
  return plan;
}

const std::map<std::string, double> usual{
    {"default", 1}, {"slow", 1.3}, {"fast", 0.5}, {"equal", 0.99}, {"hopeless", 10}};

TEST(Learner, TriesAllAndSettlesOnTheFastest) {
  Learner learner;
  std::map<std::string, int> used;
  for (int i = 0; i < 60; ++i) ++used[step(learner, usual)];
  EXPECT_EQ(step(learner, usual), "fast");
  EXPECT_EQ(learner.next("p", plans, 1).reason, "learnt: 0.50 of the default's time");
  EXPECT_EQ(used["hopeless"], 1);
  EXPECT_EQ(used["slow"], 1) << "1.3 is over 1.5 times 0.5";
  EXPECT_EQ(used["default"] + used["equal"] + used["slow"] + used["hopeless"] + used["fast"], 60);
  EXPECT_GT(used["fast"], 40);
}

TEST(Learner, KeepsTheDefaultUnlessAnotherPlanIsClearlyFaster) {
  Learner learner;
  auto seconds = usual;
  seconds["fast"] = 0.96;
  for (int i = 0; i < 60; ++i) step(learner, seconds);
  const auto advice = learner.next("p", plans, 1);
  EXPECT_EQ(advice.plan, "default");
  EXPECT_EQ(advice.reason, "learnt: the default");
}

TEST(Learner, TrialsStayWithinTheShare) {
  for (const double share : {0.05, 0.2, 1.0}) {
    Learner learner;
    double total = 0, extra = 0, worst = 0;
    for (int i = 0; i < 400; ++i) {
      const double before = extra;
      const std::string plan = step(learner, usual, share);
      total += usual.at(plan);
      extra += std::max(0.0, usual.at(plan) - 1);
      if (extra > before) worst = std::max(worst, before - share * (total - usual.at(plan)));
    }
    EXPECT_LE(worst, 1e-9) << "a trial begins only where the earlier ones are paid for; share " << share;
  }
}

TEST(Learner, BeginsAgainWhenItsPlanGetsSlow) {
  Learner learner;
  for (int i = 0; i < 60; ++i) step(learner, usual);
  auto later = usual;
  later["fast"] = 3;
  later["equal"] = 0.4;
  for (int i = 0; i < 100; ++i) step(learner, later);
  EXPECT_EQ(step(learner, later), "equal");
}

TEST(Learner, ProblemsAreApartAndRefusedPlansAreNotTriedAgain) {
  Learner learner;
  for (int i = 0; i < 30; ++i) {
    const std::string plan = learner.next("q", plans, 1).plan;
    ASSERT_FALSE(plan == "fast" && i > 10);
    if (plan == "fast")
      learner.refuse();
    else
      learner.took(usual.at(plan));
  }
  EXPECT_EQ(learner.next("q", plans, 1).plan, "default");
  EXPECT_EQ(learner.next("p", plans, 1).reason, "learning: 0 of 5 plans tried");
}

TEST(Learner, TheShareIsOfAllProblemsTogether) {
  Learner learner;
  for (int i = 0; i < 3; ++i) step(learner, usual, 0.5, "p");
  ASSERT_EQ(step(learner, usual, 0.5, "p"), "fast");
  while (step(learner, usual, 0.5, "p") != "hopeless") continue;
  for (int i = 0; i < 4; ++i) EXPECT_EQ(step(learner, usual, 0.5, "q"), "default") << "the 9 seconds are not paid for";
}

TEST(Learner, AFailedTrialDoesNotCount) {
  Learner learner;
  EXPECT_EQ(learner.next("p", plans, 1).plan, "default");
  EXPECT_EQ(learner.next("p", plans, 1).plan, "default") << "it has no time yet";
  learner.took(1);
  learner.took(7);
  step(learner, usual);
  EXPECT_EQ(learner.next("p", plans, 1).plan, "slow");
}

}  // namespace
}  // namespace penstock
