// Tests of overrides: precedence, matching of patterns, and errors in the file with their line.
#include "core/plan/override.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace penstock {
namespace {

std::string written(std::string_view text) {
  std::string path = ::testing::TempDir() + ::testing::UnitTest::GetInstance()->current_test_info()->name();
  std::ofstream(path) << text;
  return path;
}

std::string chosen(std::string_view path, const std::string& setting) {
  const char* const environment[] = {"HOME=/", setting.c_str(), nullptr};
  const auto plan = plan_override(path, "code", environment);
  return plan.ok() ? *plan : plan.status().message();
}

constexpr std::string_view patterns = R"([[plan]]
pattern = "chk_*.h5"
plan = "hdf5/two_phase:writers=2"

[[plan]]
pattern = "/scratch/*"
plan = "raw/independent"

[[plan]]
pattern = "*.h5"
plan = "hdf5/independent"
)";

TEST(Override, NothingSetIsWhatTheCodeSays) {
  EXPECT_EQ(chosen("a.h5", "OTHER=1"), "code");
  EXPECT_EQ(chosen("a.h5", "PENSTOCK_PLAN="), "code");
  EXPECT_EQ(chosen("a.h5", "PENSTOCK_PLANS="), "code");
}

TEST(Override, APlanInTheEnvironmentIsForEveryFile) {
  EXPECT_EQ(chosen("a.h5", "PENSTOCK_PLAN=raw/independent"), "raw/independent");
}

TEST(Override, TheFirstPatternThatMatchesWins) {
  const std::string path = written(patterns);
  for (const std::string& setting : {"PENSTOCK_PLANS=" + path, "PENSTOCK_PLAN=@" + path}) {
    EXPECT_EQ(chosen("chk_1.h5", setting), "hdf5/two_phase:writers=2");
    EXPECT_EQ(chosen("/home/me/chk_1.h5", setting), "hdf5/two_phase:writers=2");
    EXPECT_EQ(chosen("/scratch/x.h5", setting), "raw/independent");
    EXPECT_EQ(chosen("x.h5", setting), "hdf5/independent");
    EXPECT_EQ(chosen("x.nc", setting), "code");
  }
}

TEST(Override, MistakesAreNamedWithFileAndLine) {
  const std::pair<const char*, const char*> table[] = {
      {"[[plan]]\npattern = \"a\"\n", ":1: this [[plan]] has no 'plan'"},
      {"[[plan]]\npattern = 3\nplan = \"x\"\n", ":2: 'pattern' must be a string"},
      {"[[plan]]\npattern = \"a\"\nplan = \"x\"\ncolour = 1\n", ":4: 'colour' is unknown"},
      {"writers = 2\n", ":1: a file of plans has [[plan]] entries only"},
      {"[plan]\npattern = \"a\"\n", ":1: a file of plans has [[plan]] entries only"},
      {"\n [[ = ]]\n", ":2: a file of plans has [[plan]] entries only"},
      {"[[plan]] x\n", ":1: a file of plans has [[plan]] entries only"},
      {"[[plan]]\n[a.]\n", ":2: a file of plans has [[plan]] entries only"},
      {"[[plan]]\npattern\n", ":2: a file of plans has [[plan]] entries only"},
      {"[[plan]]\nplan = 'a'\n[[plan]]\n", ":1: this [[plan]] has no 'pattern'"},
      {"[[plan]]\nplan = 'a'\nplan = 'a'\n", ":3: this [[plan]] has 'plan' twice"},
      {"[[plan]]\npattern = \n", ":2: 'pattern' must be a string"},
      {"[[plan]]\npattern = \"a\n", ":2: 'pattern' must be a string"},
      {"[[plan]]\npattern = \"a\\n\"\n", ":2: 'pattern' must be a string"},
      {"[[plan]]\npattern = \"a\\", ":2: 'pattern' must be a string"},
      {"[[plan]]\npattern = \"\"\"a\n\"\"\"\n", ":2: 'pattern' must be a string"},
      {"[[plan]]\npattern = 'a\x01'\n", ":2: 'pattern' must be a string"},
  };
  for (const auto& [text, complaint] : table) {
    const std::string path = written(text);
    const std::string said = chosen("a", "PENSTOCK_PLANS=" + path);
    EXPECT_NE(said.find(path + complaint), std::string::npos) << said;
  }
  EXPECT_EQ(chosen("a", "PENSTOCK_PLANS=/"), "/: the file of plans cannot be read");
  EXPECT_EQ(chosen("a", "PENSTOCK_PLANS=" + written("")), "code");
  EXPECT_EQ(chosen("a\"\\", "PENSTOCK_PLANS=" + written("[[plan]]\npattern = \"a\\\"\\\\\\\\\"\nplan = '\\'\n")), "\\");
  const std::string greek = "\xEF\xBB\xBF[[plan]] # \xCF\x89\npattern = \"\xCF\x89*\"\nplan = 'b'\n";
  EXPECT_EQ(chosen("\xCF\x89.h5", "PENSTOCK_PLANS=" + written(greek)), "b");
  EXPECT_EQ(chosen("a", "PENSTOCK_PLANS=" + written("[[ plan ]] # which\r\npattern='a'\nplan='b'#\n")), "b");
  EXPECT_NE(chosen("a", "PENSTOCK_PLANS=/nowhere/plans.toml").find("/nowhere/plans.toml"), std::string::npos);
}

}  // namespace
}  // namespace penstock
