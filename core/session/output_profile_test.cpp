// Tests of output profiles on one rank, in each format: what is lent, supplied, left out and refused.
#include <cstdlib>
#include <fstream>

#include "core/session/testing.hpp"

namespace penstock {
namespace {

using test::f64, test::i32, test::name_of_method, test::numbers, test::whole;

class Profiled : public test::Session {
 protected:
  void TearDown() override {
    ::unsetenv("PENSTOCK_PROFILE");
    test::Session::TearDown();
  }
  Result<File> create_by(const std::string& profile) {
    const std::string path = folder_ + "/p.toml";
    std::ofstream(path) << profile;
    ::setenv("PENSTOCK_PROFILE", path.c_str(), 1);
    auto file = create();
    ::unsetenv("PENSTOCK_PROFILE");
    return file;
  }
  void check(File& file) {
    const Status status = file.close();
    ASSERT_TRUE(status.ok()) << status.message();
  }
};

// Elements FIRST, FIRST + STRIDE, ... of COUNT numbers.
std::vector<double> every(int64_t count, int64_t stride, int64_t first = 0) {
  std::vector<double> list;
  for (int64_t i = first; i < count; i += stride) list.push_back(static_cast<double>(i));
  return list;
}

TEST_P(Profiled, WhatIsLentIsTakenFromWhereItIs) {
  auto file = create_by("[[dataset]]\nname = '*'\nevery = [2, 3]\n");
  ASSERT_TRUE(file.ok()) << file.status().message();
  file->set_capture_bytes(0);  // no copy is possible
  auto data = numbers(60);
  const auto part = *Decomposition::block({10, 6}, {0, 0}, {10, 6});
  ASSERT_TRUE(file->lend("a", f64, part, data.data()).ok());
  EXPECT_EQ(file->put("b", f64, part, data.data()).code(), Code::memory);
  file = create_by("[[dataset]]\nname = '*'\nevery = [2, 3]\n");
  file->set_capture_bytes(0);
  ASSERT_TRUE(file->lend("a", f64, part, data.data()).ok());
  data[0] = -1;
  check(*file);
  EXPECT_EQ(read("a", {5, 2}), (std::vector<double>{-1, 3, 12, 15, 24, 27, 36, 39, 48, 51}));
}

TEST_P(Profiled, SuppliersAreAskedForWhatIsNear) {
  if (GetParam().find("rank_order") != std::string::npos) GTEST_SKIP() << "no suppliers with placement=rank_order";
  auto file = create_by("[[dataset]]\nname = '*'\nevery = [4, 3]\nbox = { start = [1, 0], count = [30, 100] }\n");
  ASSERT_TRUE(file.ok());
  int64_t asked = 0;
  const auto supply = [&](int64_t first, std::span<std::byte> out) -> Status {
    const auto list = numbers(std::ssize(out) / 8, static_cast<double>(first));
    asked += std::ssize(list);
    std::memcpy(out.data(), list.data(), out.size());
    return {};
  };
  const auto rows = *Decomposition::block({40, 100}, {0, 0}, {40, 100});
  const penstock::Run runs[] = {{2000, 2000}, {0, 2000}};
  const auto pieces = *Decomposition::runs({40, 100}, runs);
  ASSERT_TRUE(file->supply("a", f64, rows, supply).ok());
  check(*file);
  EXPECT_LE(asked, 8 * 100);
  std::vector<double> expected;
  for (int64_t y = 1; y < 31; y += 4)
    for (int64_t x = 0; x < 100; x += 3) expected.push_back(static_cast<double>(100 * y + x));
  EXPECT_EQ(read("a", {8, 34}), expected);
  file = create_by("[[dataset]]\nname = '*'\nevery = [4, 3]\nbox = { start = [1, 0], count = [30, 100] }\n");
  ASSERT_TRUE(file->supply("a", f64, pieces, supply).ok());
  check(*file);
  for (double& value : expected) value += value < 2000 ? 2000 : -2000;  // by the order of the runs
  EXPECT_EQ(read("a", {8, 34}), expected);
  file = create_by("[[dataset]]\nname = '*'\nmean = 2\n");
  const Status status = file->supply("a", f64, rows, supply);
  EXPECT_EQ(status.code(), Code::unsupported);
  EXPECT_NE(status.message().find("p.toml:1: 'a': means of supplied elements"), std::string::npos) << status.message();
}

TEST_P(Profiled, WhatIsSaidOfADatasetThatIsLeftOutIsDropped) {
  auto file = create_by("[[dataset]]\nname = 'a'\nwrite = false\n");
  ASSERT_TRUE(file.ok());
  const auto data = numbers(12);
  const std::string names[] = {"x"};
  ASSERT_TRUE(file->set_options("a", "type=f32").ok());
  ASSERT_TRUE(file->put("b", f64, whole({12}), data.data()).ok());
  ASSERT_TRUE(file->put("a", f64, whole({12}), data.data()).ok());
  file->set_meant("bool");  // of a, not of b
  ASSERT_TRUE(file->set_attribute("a", text_attribute("units", "m")).ok());
  ASSERT_TRUE(file->set_dimensions("a", names).ok());
  ASSERT_TRUE(file->set_unlimited("a").ok());
  EXPECT_TRUE(file->remove("a").ok());
  ASSERT_TRUE(file->put("a", f64, whole({12}), data.data()).ok());
  check(*file);
  auto again = open();
  ASSERT_TRUE(again.ok());
  EXPECT_FALSE(again->has("a"));
  EXPECT_TRUE(again->has("b"));
  EXPECT_EQ(text(*again->attribute("", "penstock_left_out")), "a");
  const std::string signature = text(*again->attribute("", "penstock_profile"));
  EXPECT_TRUE(signature.starts_with("p.toml, crc64 ")) << signature;
}

TEST_P(Profiled, ARuleThatMatchesNothingIsAWarningUntilItDoes) {
  auto file = create_by(
      "[[dataset]]\nname = 'b'\nevery = 2\n[[dataset]]\nname = 'out*'\nwrite = false\n"
      "[[dataset]]\nname = 'late'\nevery = 2\n[[dataset]]\nname = '/fluid/uu'\nevery = 2\n");
  ASSERT_TRUE(file.ok());
  const auto data = numbers(4);
  const auto put = [&](const char* name) { ASSERT_TRUE(file->put(name, f64, whole({4}), data.data()).ok()); };
  put("a");
  put("b");
  put("outer");
  const bool commits_twice = GetParam().find("placement=") == std::string::npos;
  if (commits_twice) {
    ASSERT_TRUE(file->commit().ok());
    const std::vector<std::string>& warnings = file->report().warnings;
    ASSERT_EQ(warnings.size(), 2U);
    EXPECT_NE(warnings[0].find("p.toml:7: name = 'late' matches no dataset"), std::string::npos) << warnings[0];
  }
  put("late");
  check(*file);
  const std::vector<std::string>& warnings = file->report().warnings;
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(
      warnings[0].ends_with("p.toml:10: name = 'fluid/uu' matches no dataset of this file, which has a, b, "
                            "late, outer"))
      << warnings[0];
}

TEST_P(Profiled, PrecisionAndSubsetsGoTogether) {
  auto file = create_by("[[dataset]]\nname = '*'\nevery = 3\ntype = 'f32'\nkeep_bits = 4\n");
  ASSERT_TRUE(file.ok());
  const auto data = numbers(12);
  const std::vector<int32_t> ids{1 << 25, (1 << 25) + 1, 3, 4};
  ASSERT_TRUE(file->set_options("a", "keep_bits=50").ok());  // the profile has the last word
  ASSERT_TRUE(file->put("a", f64, whole({12}), data.data()).ok());
  ASSERT_TRUE(file->put("ids", i32, whole({4}), ids.data()).ok());
  check(*file);
  auto again = open();
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->dataset("a")->type, (ElementType{Kind::f32}));
  EXPECT_EQ(again->dataset("a")->shape, Dims{4});
  EXPECT_EQ(again->dataset("ids")->type, i32);
  EXPECT_TRUE(again->attribute("a", "_QuantizeBitRoundNumberOfSignificantBits").ok());
  EXPECT_FALSE(again->attribute("ids", "_QuantizeBitRoundNumberOfSignificantBits").ok());
  EXPECT_EQ(text(*again->attribute("a", "penstock_subset")), "every (3) from (0) of (12)");
}

TEST_P(Profiled, ADatasetThatGrowsIsThinnedAlike) {
  auto file = create_by("[[dataset]]\nname = 'a'\nevery = [3]\n");
  ASSERT_TRUE(file.ok());
  const auto data = numbers(20);
  const auto put = [&](int64_t begin, int64_t end) {
    const auto part = *Decomposition::block({end}, {begin}, {end - begin});
    ASSERT_TRUE(file->put("a", f64, part, data.data() + begin).ok());
  };
  ASSERT_TRUE(file->set_unlimited("a").ok());
  put(0, 5);
  put(5, 11);
  if (GetParam().find("placement=") == std::string::npos) {
    ASSERT_TRUE(file->commit().ok());
    put(11, 20);
    check(*file);
    EXPECT_EQ(read("a", {7}), every(20, 3));
  } else {
    check(*file);
    EXPECT_EQ(read("a", {4}), every(11, 3));
  }
  file = create_by("[[dataset]]\nname = 'a'\nmean = 2\n");
  ASSERT_TRUE(file->set_unlimited("a").ok());
  put(0, 4);
  const Status status = file->close();
  EXPECT_EQ(status.code(), Code::invalid);
  EXPECT_NE(status.message().find("'a' is unlimited: means of blocks"), std::string::npos) << status.message();
}

TEST_P(Profiled, ShapesThatDifferAreErrorsAsTheProgramSeesThem) {
  auto file = create_by("[[dataset]]\nname = 'a'\nevery = 2\n");
  ASSERT_TRUE(file.ok());
  const auto data = numbers(12);
  ASSERT_TRUE(file->put("a", f64, *Decomposition::block({12}, {0}, {6}), data.data()).ok());
  ASSERT_TRUE(file->put("a", f64, *Decomposition::block({11}, {6}, {5}), data.data()).ok());  // 6 are stored, too
  const Status status = file->close();
  EXPECT_EQ(status.code(), Code::mismatch);
  EXPECT_NE(status.message().find("f64 (12) and then f64 (11)"), std::string::npos) << status.message();
}

TEST_P(Profiled, MistakesInItAreErrorsOfCreate) {
  const std::pair<const char*, const char*> table[] = {
      {"[[dataset]]\nname = 'a'\nevry = 2\n", "/p.toml:3: 'evry' is unknown"},
      {"[[dataset]]\nname = 'a'\ntype = 'f31'\n", "/p.toml:1: "},
  };
  for (const auto& [text, complaint] : table) {
    const auto file = create_by(text);
    ASSERT_FALSE(file.ok());
    EXPECT_NE(file.status().message().find(complaint), std::string::npos) << file.status().message();
  }
  ::setenv("PENSTOCK_PROFILE", "/nowhere/p.toml", 1);
  const auto file = create();
  EXPECT_EQ(file.status().code(), Code::not_found);
  EXPECT_NE(file.status().message().find("/nowhere/p.toml: this output profile"), std::string::npos);
}

TEST_P(Profiled, APutThatDoesNotFitFailsAndHasNoEffectWhereThatIsWanted) {
  auto file = create_by("[[dataset]]\nname = 'a'\nmean = [2, 2]\n[[dataset]]\nname = 'b'\nmean = 2\n");
  ASSERT_TRUE(file.ok());
  file->set_forgetful(true);
  file->set_capture_bytes(24);
  const auto data = numbers(12);
  const std::vector<int32_t> whole_numbers(12);
  const auto message = [&](const Status& status) { return status.message(); };
  EXPECT_NE(message(file->put("a", f64, whole({12}), data.data())).find("p.toml:1: 'a': the dataset has 1 dim"),
            std::string::npos);
  EXPECT_NE(message(file->put("b", i32, whole({12}), whole_numbers.data())).find("means of i32"), std::string::npos);
  const auto block = [](int64_t begin, int64_t end) { return *Decomposition::block({12}, {begin}, {end - begin}); };
  EXPECT_EQ(file->put("b", f64, block(0, 11), data.data()).code(), Code::memory);  // five means
  file->set_capture_bytes(1000);
  ASSERT_TRUE(file->put("b", f64, block(0, 5), data.data()).ok());
  ASSERT_TRUE(file->put("b", f64, block(5, 12), data.data() + 5).ok());
  check(*file);
  EXPECT_EQ(read("b", {6}), (std::vector<double>{0.5, 2.5, 4.5, 6.5, 8.5, 10.5}));
}

TEST_P(Profiled, CopiesHaveAllContents) {
  make();
  std::ofstream(folder_ + "/p.toml") << "[[dataset]]\nname = '*'\nevery = 2\n";
  ::setenv("PENSTOCK_PROFILE", (folder_ + "/p.toml").c_str(), 1);
  const std::string source = path_;
  path_ = folder_ + "/copy." + path_.substr(path_.find_last_of('.') + 1);
  const Status status = File::copy(comm_, source, path_, GetParam());
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(read("data", {12}), numbers(12));
}

INSTANTIATE_TEST_SUITE_P(Methods, Profiled, ::testing::ValuesIn(test::methods), name_of_method);

}  // namespace
}  // namespace penstock
