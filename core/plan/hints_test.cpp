// Tests of hints: their syntax, their sources, and plans that carry them unchanged.
#include "core/plan/hints.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "core/plan/plan.hpp"

namespace penstock {
namespace {

std::string written(std::string_view name, std::string_view text) {
  std::string path = ::testing::TempDir() + std::string(name);
  std::ofstream(path) << text;
  return path;
}

Hints good(std::string_view text) {
  const auto hints = parse_hints(text);
  EXPECT_TRUE(hints.ok()) << text << ": " << hints.status().message();
  return hints.ok() ? *hints : Hints();
}

TEST(Hints, AreReadInEveryFormThatUsersKnow) {
  const Hints both{{"cb_nodes", "2"}, {"romio_cb_write", "enable"}};
  for (const char* text : {"cb_nodes=2,romio_cb_write=enable", "cb_nodes=2;romio_cb_write=enable",
                           "cb_nodes=2\nromio_cb_write=enable\n", " cb_nodes = 2 ; ; romio_cb_write=enable;"})
    EXPECT_EQ(good(text), both) << text;
  EXPECT_EQ(good("@" + written("romio", "# ROMIO's own form\ncb_nodes 2\n\nromio_cb_write  enable # on\n")), both);
  EXPECT_EQ(good("@" + written("assigned", "cb_nodes = 2\nromio_cb_write=enable")), both);
  EXPECT_TRUE(good("").empty());
}

TEST(Hints, ACommaInsideAValueStays) {
  EXPECT_EQ(good("cb_config_list=a:1,b:1,cb_nodes=2"), (Hints{{"cb_config_list", "a:1,b:1"}, {"cb_nodes", "2"}}));
  EXPECT_EQ(good("cb_config_list=a:1,b:1;cb_nodes=2"), (Hints{{"cb_config_list", "a:1,b:1"}, {"cb_nodes", "2"}}));
  EXPECT_EQ(good("x=a=b"), (Hints{{"x", "a=b"}}));
}

TEST(Hints, MistakesAreNamedWithFileAndLine) {
  EXPECT_NE(parse_hints("cb_nodes").status().message().find("'cb_nodes' is no hint"), std::string::npos);
  EXPECT_NE(parse_hints("=2").status().message().find("'=2' is no hint"), std::string::npos);
  const std::string path = written("wrong", "cb_nodes 2\n\nlonely\n");
  EXPECT_NE(parse_hints("@" + path).status().message().find(path + ":3"), std::string::npos);
  EXPECT_EQ(parse_hints("@/nowhere/hints").status().code(), Code::not_found);
}

TEST(Hints, OursWinOverThoseOfIor) {
  const char* const environment[] = {"HOME=/",
                                     "IOR_HINT__MPI__a=ior",
                                     "IOR_HINT__MPI__b=ior",
                                     "IOR_HINT__GPFS__IBM_largeblock_io=true",
                                     "IOR_HINT__MPI__=nameless",
                                     "PENSTOCK_HINTS=b=ours,c=ours",
                                     "PENSTOCK_HINTS_OF_OTHERS=d=1",
                                     nullptr};
  const auto hints = hints_of_environment(environment);
  ASSERT_TRUE(hints.ok());
  EXPECT_EQ(*hints, (Hints{{"a", "ior"}, {"b", "ours"}, {"c", "ours"}, {"IBM_largeblock_io", "true"}}));
  const char* const broken[] = {"PENSTOCK_HINTS=b", nullptr};
  EXPECT_NE(hints_of_environment(broken).status().message().find("PENSTOCK_HINTS"), std::string::npos);
}

const Descriptor raw{"raw", "", {}, ""}, single{"single", "", {}, ""}, two_phase{"two_phase", "", {}, ""};
const Descriptor mpiio{"mpiio", "", {{"collective", Parameter::Type::boolean, "", "true", ""}}, "", true};
const Descriptor common{"common", "", {{"placement", Parameter::Type::choice, "single", "single", ""}}, ""};
const Vocabulary all{{&raw}, {&single}, {&two_phase, &mpiio}, {}, &common};

TEST(Hints, APlanPrintsThemBackAsTextAndAsJson) {
  const std::string text =
      "raw/mpiio:collective=false,env.MPICH_MPIIO_STATS=1,hint.cb_config_list=a:1,b:1,hint.romio_cb_write=enable";
  const auto plan = parse_plan(text, "raw", all);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ(plan->hints, (Hints{{"cb_config_list", "a:1,b:1"}, {"romio_cb_write", "enable"}}));
  EXPECT_EQ(plan->environment, (Hints{{"MPICH_MPIIO_STATS", "1"}}));
  EXPECT_EQ(plan->text(all), text);
  const auto again = parse_plan(plan->json(), "raw", all);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(again->text(all), text);
}

TEST(Hints, AMethodWithoutMpiIoRefusesThemByName) {
  const auto plan = parse_plan("raw/two_phase:hint.cb_nodes=2", "raw", all);
  EXPECT_EQ(plan.status().code(), Code::invalid);
  EXPECT_NE(plan.status().message().find("'two_phase' does not use MPI-IO"), std::string::npos);
  EXPECT_NE(plan.status().message().find("hint.cb_nodes"), std::string::npos);
  EXPECT_FALSE(parse_plan("raw/mpiio:hint.=2", "raw", all).ok());
  EXPECT_TRUE(parse_plan("raw/two_phase:env.X=2", "raw", all).ok());
}

TEST(Hints, AnEnvironmentThatIsOtherThanThePlanWantsIsAWarning) {
  const char* const environment[] = {"RIGHT=1", "WRONG=2", nullptr};
  const auto warnings = environment_warnings({{"RIGHT", "1"}, {"WRONG", "1"}, {"ABSENT", "1"}}, environment);
  ASSERT_EQ(warnings.size(), 2U);
  EXPECT_NE(warnings[0].find("ABSENT=1, but it is not set"), std::string::npos) << warnings[0];
  EXPECT_NE(warnings[1].find("WRONG=1, but it is '2'"), std::string::npos) << warnings[1];
}

}  // namespace
}  // namespace penstock
