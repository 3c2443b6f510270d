// Tests of output profiles: rules, the files they are for, and mistakes with file and line.
#include "core/methods/output_profile.hpp"

#include <gtest/gtest.h>

#include "core/methods/methods.hpp"

namespace penstock {
namespace {

constexpr ElementType f64{Kind::f64}, i32{Kind::i32};

Plan plan_of(std::string_view text) { return *parse_plan(text, "hdf5", vocabulary()); }

OutputProfile profile_of(std::string text) {
  OutputProfile profile{"p.toml", std::move(text), {}, {}};
  const Status status = parse_output_profile(profile);
  EXPECT_TRUE(status.ok()) << status.message();
  return profile;
}

std::string mistake(std::string text, std::string_view plan = "hdf5") {
  OutputProfile profile{"p.toml", std::move(text), {}, {}};
  Status status = parse_output_profile(profile);
  if (status.ok()) status = choose_rules(profile, "a.h5", plan_of(plan));
  return status.message();
}

TEST(OutputProfile, TheFirstRuleThatMatchesCounts) {
  const auto profile = profile_of(R"(
# for production
files = "out/*.h5"
[[dataset]]
name = "/fluid/rho"   # as in a path
every = [2, 2, 1]
[[dataset]]
name = "fluid/*"
write = false
[[dataset]]
name = "*"
steps = 10
box = { start = [0, 4], count = [8, 8] }
type = "f32"
keep_bits = 12
)");
  ASSERT_EQ(profile.rules.size(), 3U);
  EXPECT_EQ(profile.files, std::vector<std::string>{"out/*.h5"});
  const OutputRule* rho = profile.rule_for("fluid/rho");
  ASSERT_NE(rho, nullptr);
  EXPECT_EQ(rho->every, (std::vector<int64_t>{2, 2, 1}));
  EXPECT_EQ(profile.place_of(*rho), "p.toml:4");
  EXPECT_FALSE(profile.leaves_out("fluid/rho", -1));
  EXPECT_TRUE(profile.leaves_out("fluid/u/x", -1));
  EXPECT_EQ(profile.rule_for("p")->options, "type=f32,keep_bits=12");
  EXPECT_EQ(profile.rule_for("p")->box->start, (Dims{0, 4}));
  EXPECT_FALSE(profile.leaves_out("p", -1));
  EXPECT_FALSE(profile.leaves_out("p", 20));
  EXPECT_TRUE(profile.leaves_out("p", 21));
  EXPECT_EQ(profile_of("").rule_for("p"), nullptr);
}

TEST(OutputProfile, RulesAreForFiles) {
  const std::string text = R"(files = ["out/*", "slice_*.h5"]
[[dataset]]
name = "a"
every = 2
[[dataset]]
name = "a"
files = "slice_*"
every = 3
)";
  const std::pair<const char*, size_t> table[] = {{"out/x.h5", 1}, {"chk.h5", 0}, {"x/slice_1.h5", 2}};
  for (const auto& [path, count] : table) {
    auto profile = profile_of(text);
    ASSERT_TRUE(choose_rules(profile, path, plan_of("hdf5")).ok());
    EXPECT_EQ(profile.rules.size(), count) << path;
  }
}

TEST(OutputProfile, MistakesAreNamedWithFileAndLine) {
  const std::string dataset = "[[dataset]]\nname = 'a'\n";
  const std::pair<std::string, std::string> table[] = {
      {"every = 2\n", "p.toml:1: 'every' before the first [[dataset]]"},
      {"[dataset]\n", "p.toml:1: an output profile has lines KEY = VALUE"},
      {"[[datasets]]\n", "p.toml:1: an output profile has"},
      {"[[dataset]]\n\n[[dataset]]\nname='a'\n", "p.toml:1: this [[dataset]] has no 'name'"},
      {dataset + "evry = 2\n", "p.toml:3: 'evry' is unknown"},
      {dataset + "evry = 2\n", "did you mean 'every'?"},
      {dataset + "every = 2\nevery = 2\n", "p.toml:4: 'every' is there twice"},
      {dataset + "every = 0\n", "p.toml:3: 'every' must be a whole number from 1"},
      {dataset + "every = [2, 1.5]\n", "p.toml:3: 'every' must be"},
      {dataset + "every = []\n", "p.toml:3: 'every' must be"},
      {dataset + "every = [\n2]\n", "p.toml:3: 'every' must be one value on one line"},
      {dataset + "every = '2'\n", "p.toml:3: 'every' must be"},
      {dataset + "mean = [1,2,3,4,5,6,7,8,9]\n", "p.toml:3: 'mean' must be"},
      {dataset + "mean = 2\nevery = 2\n", "p.toml:1: this [[dataset]] has 'every' and 'mean'"},
      {dataset + "box = [1, 2]\n", "p.toml:3: 'box' must be"},
      {dataset + "box = { start = [1], count = [1, 2] }\n", "p.toml:3: 'box' must be"},
      {dataset + "box = { start = [-1], count = [1] }\n", "p.toml:3: 'box.start' must be a list"},
      {dataset + "box = { start = [1], size = [1] }\n", "p.toml:3: 'box' must be"},
      {dataset + "box = { start = [1], count = [1] }\nevery = [1, 2]\n",
       "p.toml:1: this [[dataset]] has a box of other"},
      {dataset + "write = 'no'\n", "p.toml:3: 'write' must be true or false"},
      {dataset + "steps = 0\n", "p.toml:3: 'steps' must be"},
      {dataset + "files = 3\n", "p.toml:3: 'files' must be a string"},
      {dataset + "name = 3\n", "p.toml:3: 'name' is there twice"},
      {"[[dataset]]\nname = 3\n", "p.toml:2: 'name' must be"},
      {dataset + "type = 'f31'\n", "p.toml:1: "},
      {dataset + "keep_bits = 'many'\n", "p.toml:3: keep_bits: 'many' is no whole number"},
      {dataset + "keep_bits = [1]\n", "p.toml:3: 'keep_bits' must be one value"},
      {dataset + "compression = 'gzip'\n", "p.toml:3: compression=gzip"},
      {dataset + "level = 3\n", "p.toml:1: level=3: name the codec too"},
  };
  for (const auto& [text, complaint] : table) {
    const std::string said = mistake(text);
    EXPECT_NE(said.find(complaint), std::string::npos) << said << "\n" << text;
  }
}

TEST(OutputProfile, SubsetsFitTheDataset) {
  const auto rule = [](const std::string& lines) {
    return profile_of("[[dataset]]\nname = 'a'\n" + lines).rules.at(0);
  };
  const auto subset = [&](const std::string& lines, const Dims& shape, const ElementType& type = f64,
                          bool rows = false) { return subset_of(rule(lines), type, shape, rows); };
  EXPECT_EQ((*subset("every = 2", {5, 6}))->stored(), (Dims{3, 3}));
  EXPECT_EQ((*subset("every = [3, 1]", {5, 6}))->stored(), (Dims{2, 6}));
  EXPECT_EQ((*subset("mean = 2", {5, 6}))->stored(), (Dims{3, 3}));
  EXPECT_EQ((*subset("box = {start=[1, 2], count=[3, 4]}\nevery = 2", {5, 6}))->stored(), (Dims{2, 2}));
  EXPECT_EQ((*subset("every = 10", {5, 3}, i32, true))->step, (Dims{10, 1}));
  EXPECT_EQ((*subset("every = [10, 2]", {5, 3}, i32, true))->step, (Dims{10, 2}));
  EXPECT_EQ(*subset("every = 2", {}), std::nullopt);
  EXPECT_EQ(*subset("every = 1", {7}), std::nullopt);
  EXPECT_EQ(*subset("type = 'f32'", {7}), std::nullopt);
  EXPECT_FALSE(subset("every = [2, 2]", {7}).ok());
  EXPECT_FALSE(subset("every = [2, 2]", {}).ok());
  EXPECT_FALSE(subset("mean = 2", {7}, i32).ok());
  EXPECT_FALSE(subset("mean = 2", {7, 3}, f64, true).ok());
  EXPECT_FALSE(subset("box = {start=[0], count=[2]}", {7}, f64, true).ok());
  EXPECT_FALSE(subset("box = {start=[0, 0], count=[2, 2]}", {7}).ok());
  EXPECT_FALSE(subset("box = {start=[6], count=[2]}", {7}).ok());
  EXPECT_FALSE(subset("box = {start=[9], count=[2]}", {7}).ok());
}

TEST(OutputProfile, ItsOptionsComeBeforeTheProgramsOwn) {
  const Plan plan = plan_of("hdf5");
  const auto options = [&](const std::string& rule, const std::string& program, const ElementType& type = f64) {
    const auto found = options_of(profile_of("[[dataset]]\nname = 'a'\n" + rule).rules.at(0), type, program, plan);
    return found.ok() ? found->text : found.status().message();
  };
  EXPECT_EQ(options("type = 'f32'", "type=i16,scale=0.5,compression=none"), "type=f32,compression=none");
  EXPECT_EQ(options("compression = 'none'", "type=i16,scale=0.5"), "type=i16,scale=0.5,compression=none");
  EXPECT_EQ(options("every = 2", "keep_bits=3"), "keep_bits=3");
  EXPECT_EQ(options("compression = 'none'", "compression=zfp,max_error=1"), "compression=none");
  EXPECT_EQ(options("type = 'f32'", "type=i16", i32), "type=i16");
  EXPECT_EQ(options("type = 'i16'", "", i32), "type=i16");
  EXPECT_EQ(options("keep_bits = 3", "", i32), "");
}

}  // namespace
}  // namespace penstock
