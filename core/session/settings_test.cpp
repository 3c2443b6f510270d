// Tests of external settings of a session: plans, parameters and the environment.
#include <sys/syscall.h>

#include <cerrno>
#include <fstream>
#include <set>

#include <fmt/format.h>

#include "core/methods/methods.hpp"
#include "core/plan/wisdom.hpp"
#include "core/session/testing.hpp"
#include "core/storage/refused_call.hpp"

namespace penstock {
namespace {

using namespace test;

// An environment variable for the duration of a test.
class Setting {
 public:
  Setting(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  ~Setting() { ::unsetenv(name_); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* name_;
};

TEST_P(Session, ThePlanOfTheEnvironmentWinsOverTheCodes) {
  const Setting setting("PENSTOCK_PLAN", GetParam());
  auto file = File::create(comm_, path_, "two_phase:writers=3");
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->plan(), parse_plan(GetParam(), "hdf5", vocabulary())->text(vocabulary()));
  const auto data = numbers(12);
  ASSERT_TRUE(file->put("data", f64, whole({12}), data.data()).ok());
  const Status status = file->close();
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(read("data", {12}), data);
}

TEST_P(Session, AMistakeInTheFileOfPlansIsNamed) {
  const std::string plans = folder_ + "/plans.toml";
  std::ofstream(plans) << "[[plan]]\npattern = \"f.*\"\nplan = \"hdf5/nonsense\"\n";
  const Setting setting("PENSTOCK_PLANS", plans);
  const std::string said = create().status().message();
  EXPECT_NE(said.find("with plan 'hdf5/nonsense' of PENSTOCK_PLAN or PENSTOCK_PLANS: there is no transport 'nonsense'"),
            std::string::npos)
      << said;
  std::ofstream(plans) << "[[plan]]\n";
  EXPECT_NE(create().status().message().find(plans + ":1: this [[plan]]"), std::string::npos);
}

// A file of wisdom that has PLAN for PROBLEM.
std::string wisdom_for(const std::string& problem, std::string_view plan) {
  return fmt::format(R"({{"schema": "penstock.wisdom/1", "entries": [{{"problem": {}, "plan": "{}", "ratio": 0.5,
                      "low": 0.4, "high": 0.6, "measured": "2026-11-20"}}]}})",
                     problem, plan);
}

TEST_P(Session, WisdomGivesAnOpenPlanItsTransport) {
  const Plan plan = *parse_plan(GetParam(), "hdf5", vocabulary());
  const std::string open_plan = fmt::format("{}:placement={}", plan.format, plan.placement);
  const std::string wisdom = folder_ + "/wisdom.json";
  const auto data = numbers(12);
  const auto part = *Decomposition::block({12}, {0}, {12});
  const auto written = [&](const std::string& as) {
    auto file = File::create(comm_, path_, as);
    EXPECT_TRUE(file.ok()) << file.status().message();
    EXPECT_TRUE(file->put("data", f64, part, data.data()).ok());
    const Status status = file->close();
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(read("data", {12}), data);
    return file->report();
  };
  std::string problem;
  {
    const Setting none("PENSTOCK_WISDOM", "none");
    const Report report = written(open_plan);
    EXPECT_EQ(report.reason, "default");
    EXPECT_TRUE(report.plan.starts_with(plan.format + "/two_phase")) << report.plan;
    problem = report.problem;
    EXPECT_NE(problem.find(R"("bytes_per_rank":96,)"), std::string::npos) << problem;
    EXPECT_NE(problem.find(R"("run_bytes":96)"), std::string::npos) << problem;
    EXPECT_EQ(written(GetParam()).reason, "") << "the plan named a transport";
  }
  std::ofstream(wisdom) << wisdom_for(problem, "independent");
  {
    const Setting known("PENSTOCK_WISDOM", wisdom);
    const Report report = written(open_plan);
    EXPECT_TRUE(report.plan.starts_with(plan.format + "/independent")) << report.plan;
    EXPECT_EQ(report.reason, "wisdom of 2026-11-20: 0.50 [0.40, 0.60] of the default's time");
    EXPECT_TRUE(report.warnings.empty()) << report.warnings[0];
    auto file = File::create(comm_, path_, open_plan);
    ASSERT_TRUE(file.ok() && file->put("data", f64, part, data.data()).ok());
    ASSERT_TRUE(file->commit_start().ok() && file->commit_wait().ok());
    EXPECT_EQ(file->report().reason, "default") << "in the background";
    EXPECT_TRUE(file->close().ok());
  }
  for (const char* plan_of_nobody : {"nonsense", "independent:io=nonsense", "independent:durability=none", "servers"}) {
    const std::string other = fmt::format("{}.{}", wisdom, std::string_view(plan_of_nobody).size());
    std::ofstream(other) << wisdom_for(problem, plan_of_nobody);
    const Setting known("PENSTOCK_WISDOM", other);
    const Report report = written(open_plan);
    EXPECT_TRUE(report.plan.starts_with(plan.format + "/two_phase")) << report.plan;
    EXPECT_EQ(report.reason, "default");
    ASSERT_EQ(report.warnings.size(), 1U);
    EXPECT_TRUE(report.warnings[0].starts_with(fmt::format("wisdom's plan '{}' is not used: ", plan_of_nobody)));
  }
}

TEST_P(Session, AProbedMachineGivesAnOpenPlanAnEstimate) {
  const Plan plan = *parse_plan(GetParam(), "hdf5", vocabulary());
  const auto data = numbers(12);
  const auto part = *Decomposition::block({12}, {0}, {12});
  const auto written = [&] {
    auto file = File::create(comm_, path_, fmt::format("{}:placement={}", plan.format, plan.placement));
    EXPECT_TRUE(file.ok() && file->put("data", f64, part, data.data()).ok());
    EXPECT_TRUE(file->close().ok());
    EXPECT_EQ(read("data", {12}), data);
    return file->report();
  };
  const Setting none("PENSTOCK_WISDOM", "none");
  const Report before = written();
  EXPECT_EQ(before.predicted_seconds, 0);
  const Problem problem = *parse_problem(before.problem);
  Wisdom wisdom{{}, {usual_machine()}};
  wisdom.machines[0].filesystem = problem.filesystem;
  wisdom.machines[0].mpi = problem.mpi;
  // A copy of a byte may take a second: independent has none.
  for (const auto& [rate, transport] : {std::pair{1e9, "two_phase"}, std::pair{1.0, "independent"}}) {
    wisdom.machines[0].copy = rate;
    const std::string file = fmt::format("{}/machine{}.json", folder_, transport);
    std::ofstream(file) << text_of(wisdom);
    const Setting known("PENSTOCK_WISDOM", file);
    const Report report = written();
    EXPECT_TRUE(report.reason.starts_with("estimate: ")) << report.reason;
    EXPECT_TRUE(report.plan.starts_with(fmt::format("{}/{}", plan.format, transport))) << report.plan;
    EXPECT_GT(report.predicted_seconds, 0);
    EXPECT_TRUE(report.warnings.empty()) << report.warnings[0];
  }
}

// After what was measured, here as wisdom or by the program itself; before an estimate.
TEST_P(Session, SimulatedWisdomGivesWayToWhatWasMeasured) {
  const Plan plan = *parse_plan(GetParam(), "hdf5", vocabulary());
  const auto data = numbers(12);
  const auto written_with = [&](const Wisdom& wisdom, std::string_view name, const std::string& more = "") {
    const std::string known = fmt::format("{}/{}.json", folder_, name);
    std::ofstream(known) << text_of(wisdom);
    const Setting setting("PENSTOCK_WISDOM", known);
    auto file = File::create(comm_, path_, fmt::format("{}:placement={}{}", plan.format, plan.placement, more));
    EXPECT_TRUE(file.ok() && file->put("data", f64, whole({12}), data.data()).ok());
    EXPECT_TRUE(file->close().ok());
    return file->report();
  };
  const Problem problem = *parse_problem(written_with({}, "none").problem);
  Wisdom wisdom{{{.problem = problem, .plan = "independent", .ratio = 0.5, .measured = "2026-11-20"}},
                {usual_machine()}};
  wisdom.entries[0].problem.mpi = "";
  wisdom.entries[0].simulated = "Frontier";
  wisdom.machines[0].filesystem = problem.filesystem;
  wisdom.machines[0].mpi = problem.mpi;
  const std::string simulated = "wisdom of 2026-11-20, simulated on Frontier: 0.50 of the default's time";
  EXPECT_EQ(written_with(wisdom, "simulated").reason, simulated);
  EXPECT_EQ(written_with(wisdom, "learning", ",learn=20").reason.substr(0, 5), "learn");
  wisdom.entries.push_back({.problem = problem, .plan = "independent", .ratio = 0.7, .measured = "2026-11-21"});
  EXPECT_EQ(written_with(wisdom, "measured").reason, "wisdom of 2026-11-21: 0.70 of the default's time");
}

TEST_P(Session, PlansAreLearntFromCommits) {
  const Setting none("PENSTOCK_WISDOM", "none");
  const Plan plan = *parse_plan(GetParam(), "hdf5", vocabulary());
  const auto data = numbers(12);
  std::set<std::string> plans;
  Report report;
  for (int i = 0; i < 200 && !report.reason.starts_with("learnt: "); ++i) {
    auto file = File::create(comm_, path_, fmt::format("{}:placement={},learn=1000", plan.format, plan.placement));
    ASSERT_TRUE(file.ok() && file->put("data", f64, whole({12}), data.data()).ok());
    const Status status = file->close();
    ASSERT_TRUE(status.ok()) << status.message();
    report = file->report();
    EXPECT_TRUE(report.reason.starts_with("learn")) << report.reason;
    EXPECT_EQ(read("data", {12}), data) << report.plan;
    plans.insert(report.plan);
  }
  EXPECT_TRUE(report.reason.starts_with("learnt: ")) << report.reason;
  EXPECT_GT(plans.size(), 3U) << "several were tried";
}

TEST_P(Session, StripesWhereThereAreNoneAreReported) {
  const std::string separator = GetParam().find(':') == std::string::npos ? ":" : ",";
  auto file = File::create(comm_, path_, GetParam() + separator + "stripe_count=4,stripe_bytes=1MiB");
  ASSERT_TRUE(file.ok()) << file.status().message();
  const auto data = numbers(12);
  ASSERT_TRUE(file->put("data", f64, whole({12}), data.data()).ok());
  ASSERT_TRUE(file->commit().ok());
  EXPECT_NE(file->report().filesystem.find("blocks of"), std::string::npos) << file->report().filesystem;
  if (file->report().filesystem.starts_with("lustre")) GTEST_SKIP() << "this is Lustre";
  ASSERT_EQ(file->report().warnings.size(), 1U);
  EXPECT_NE(file->report().warnings[0].find("stripe_count=4, stripe_bytes=1048576"), std::string::npos);
  EXPECT_NE(file->report().warnings[0].find("not applicable"), std::string::npos);
  ASSERT_TRUE(file->close().ok());
  EXPECT_EQ(File::create(comm_, path_, GetParam() + separator + "stripe_bytes=1000").status().code(), Code::invalid);
}

TEST_P(Session, AQueueDepthThatIsNotThereIsReported) {
  const std::string separator = GetParam().find(':') == std::string::npos ? ":" : ",";
  const auto warnings = [&](const std::string& depth) -> std::vector<std::string> {
    auto file = File::create(comm_, path_, GetParam() + separator + "queue_depth=" + depth);
    if (!file.ok()) return {file.status().message()};
    const auto data = numbers(12);
    EXPECT_TRUE(file->put("data", f64, whole({12}), data.data()).ok());
    EXPECT_TRUE(file->commit().ok());
    return file->report().warnings;
  };
  std::vector<std::string> four, one;
  const bool ran = with_refused(SYS_io_uring_setup, EPERM, [&] {
    four = warnings("4");
    one = warnings("1");
  });
  if (!ran) GTEST_SKIP() << "this kernel takes no seccomp filter";
  ASSERT_EQ(four.size(), 1U);
  EXPECT_NE(four[0].find("queue_depth=4 has no effect"), std::string::npos) << four[0];
  EXPECT_TRUE(one.empty());
}

TEST_P(Session, AnEnvironmentOtherThanThePlanWantsIsReported) {
  const std::string separator = GetParam().find(':') == std::string::npos ? ":" : ",";
  auto file = File::create(comm_, path_, GetParam() + separator + "env.PENSTOCK_NEVER_SET=1");
  ASSERT_TRUE(file.ok()) << file.status().message();
  const auto data = numbers(12);
  ASSERT_TRUE(file->put("data", f64, whole({12}), data.data()).ok());
  ASSERT_TRUE(file->commit().ok());
  ASSERT_EQ(file->report().warnings.size(), 1U);
  EXPECT_NE(file->report().warnings[0].find("PENSTOCK_NEVER_SET=1"), std::string::npos);
  ASSERT_TRUE(file->close().ok());
}

TEST_P(Session, ALimitThatIsNoneIsReported) {
  const Setting setting("PENSTOCK_TIMEOUT", "5 minutes");
  auto file = create();
  ASSERT_TRUE(file.ok()) << file.status().message();
  const auto data = numbers(12);
  ASSERT_TRUE(file->put("data", f64, whole({12}), data.data()).ok());
  ASSERT_TRUE(file->commit().ok());
  ASSERT_EQ(file->report().warnings.size(), 1U);
  EXPECT_NE(file->report().warnings[0].find("PENSTOCK_TIMEOUT=5 minutes is no number"), std::string::npos);
}

}  // namespace
}  // namespace penstock
