// Tests of series on one rank: index and folder, restarts, kept steps, damaged and false files.
#include <penstock/series.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <regex>
#include <sstream>

#include <fmt/format.h>

#include "core/base/crc64.hpp"
#include "core/series/index.hpp"
#include "core/series/pattern.hpp"

namespace penstock {
namespace {

namespace fs = std::filesystem;

using Moments = std::vector<std::pair<int64_t, double>>;

class SeriesTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    std::string name = fs::current_path() / "series-test-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string pattern() const {
    const std::string plan = GetParam();
    return folder_ + "/out-*" + (plan.starts_with("raw") ? ".raw" : plan.starts_with("netcdf") ? ".nc" : ".h5");
  }
  Series create(std::string_view options = {}) {
    auto series = Series::create(comm_, pattern(), GetParam(), options);
    EXPECT_TRUE(series.ok()) << series.status().message();
    return *std::move(series);
  }
  static void write(Series& series, int64_t iteration, double time, double value) {
    auto file = series.step(iteration, time);
    ASSERT_TRUE(file.ok()) << file.status().message();
    fill(*file, value);
    const Status status = file->close();
    ASSERT_TRUE(status.ok()) << status.message();
  }
  static void fill(File& file, double value) {
    const auto part = Decomposition::block({4, 3}, {0, 0}, {4, 3});
    const std::vector<double> data(12, value);
    ASSERT_TRUE(file.put("rho", type_of<double>(), *part, data.data()).ok());
  }
  // As seen by a reader; each file's value is 10 times its time if it belongs to this run.
  Moments found() {
    const auto series = Series::open(comm_, pattern());
    EXPECT_TRUE(series.ok()) << series.status().message();
    Moments list;
    if (!series.ok()) return list;
    const auto steps = series->steps();
    for (size_t i = 0; i < steps.size(); ++i) {
      list.emplace_back(steps[i].iteration, steps[i].time);
      auto file = series->open_step(static_cast<int64_t>(i));
      EXPECT_TRUE(file.ok()) << file.status().message();
      std::vector<double> data(12);
      const auto part = Decomposition::block({4, 3}, {0, 0}, {4, 3});
      EXPECT_TRUE(file->get("rho", type_of<double>(), *part, data.data()).ok());
      EXPECT_TRUE(file->close().ok());
      EXPECT_DOUBLE_EQ(data[5], 10 * steps[i].time);
    }
    return list;
  }
  std::string index() const { return folder_ + "/out.series.json"; }
  std::string read_index() const {
    std::ostringstream out;
    out << std::ifstream(index()).rdbuf();
    return out.str();
  }
  size_t entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  std::string folder_;
  Communicator comm_ = serial_communicator();
};

TEST_P(SeriesTest, StepsAreFoundByTheIndexAndWithoutIt) {
  Series series = create();
  const Moments wanted = {{0, 0}, {10, 0.1}, {123456789, 0.3}};
  for (const auto& [iteration, time] : wanted) write(series, iteration, time, 10 * time);
  EXPECT_EQ(series.steps().size(), 3U);
  EXPECT_EQ(found(), wanted);
  const std::string whole = read_index();
  fs::remove(index());
  EXPECT_EQ(found(), wanted);
  for (const size_t at : {size_t{0}, whole.size() / 2, whole.size() - 4}) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    std::ofstream(index()) << damaged;
    EXPECT_EQ(found(), wanted) << at;
    EXPECT_EQ(Series::open(comm_, pattern())->warnings().size(), 1U);
  }
  std::ofstream(index()) << whole.substr(0, whole.size() / 3);
  EXPECT_EQ(found(), wanted);
  Series again = create();
  write(again, 123456790, 0.4, 4);
  EXPECT_EQ(found().size(), 4U);
  EXPECT_TRUE(Series::open(comm_, pattern())->warnings().empty());
}

TEST_P(SeriesTest, AnIndexOlderThanTheFilesIsMended) {
  std::string old;
  {
    Series series = create();
    write(series, 1, 0.1, 1);
    write(series, 2, 0.2, 2);
    old = read_index();
    write(series, 3, 0.3, 3);
  }
  std::ofstream(index()) << old;  // killed between the step and its index
  EXPECT_EQ(found(), (Moments{{1, 0.1}, {2, 0.2}, {3, 0.3}}));
  {
    Series series = create();
    old = read_index();
    write(series, 2, 0.25, 2.5);  // a restart from 1
  }
  EXPECT_EQ(found(), (Moments{{1, 0.1}, {2, 0.25}}));
  std::ofstream(index()) << old;
  EXPECT_EQ(found(), (Moments{{1, 0.1}, {2, 0.25}}));
}

TEST_P(SeriesTest, ARestartReplacesWhatItWritesAgain) {
  {
    Series series = create();
    for (int64_t n = 0; n <= 5; ++n) write(series, 10 * n, 0.1 * static_cast<double>(n), static_cast<double>(n));
  }
  Series series = create();
  EXPECT_EQ(series.steps().size(), 6U);
  {
    auto abandoned = series.step(25, 2.5);
    ASSERT_TRUE(abandoned.ok());
  }
  EXPECT_EQ(found().size(), 6U);  // nothing is replaced before its replacement exists
  write(series, 25, 2.5, 25);
  EXPECT_EQ(found(), (Moments{{0, 0}, {10, 0.1}, {20, 0.2}, {25, 2.5}}));
  write(series, 25, 2.6, 26);
  EXPECT_EQ(found().back(), (std::pair<int64_t, double>{25, 2.6}));
  write(series, 0, 0, 0);  // sets keep what they replaced until then
  EXPECT_EQ(found(), (Moments{{0, 0}}));
  for (const auto& entry : fs::directory_iterator(folder_))
    EXPECT_TRUE(entry.path().filename().string().starts_with("out-00000000.") || entry.path() == index())
        << entry.path();
}

TEST_P(SeriesTest, WhatIsKeptAndNothingElse) {
  std::ofstream(folder_ + "/out-00000001.txt") << "mine";
  std::ofstream(folder_ + "/out-7.h5") << "mine";
  std::ofstream(folder_ + "/out-00000777.h5") << "not a step";
  for (int run = 0; run < 2; ++run) {  // numbers continue across restarts
    Series series = create("keep_last=2,keep_every=4");
    for (int64_t n = int64_t{6} * run, end = n + 6; n < end; ++n)
      write(series, 10 * n, static_cast<double>(n), 10 * static_cast<double>(n));
  }
  EXPECT_EQ(found(), (Moments{{0, 0}, {40, 4}, {80, 8}, {100, 10}, {110, 11}}));
  fs::remove(index());
  EXPECT_EQ(found(), (Moments{{0, 0}, {40, 4}, {80, 8}, {100, 10}, {110, 11}}));
  for (const char* name : {"/out-00000001.txt", "/out-7.h5", "/out-00000777.h5"})
    EXPECT_TRUE(fs::exists(folder_ + name));
  size_t of_steps = 0;
  for (const auto& entry : fs::directory_iterator(folder_))
    of_steps += entry.path().filename().string().find("out-00000") == 0 ? 1 : 0;
  const bool set = std::string_view(GetParam()).find("raw") == 0 ||
                   std::string_view(GetParam()).find("parts") != std::string_view::npos;
  if (!set) {
    EXPECT_EQ(of_steps, 5U + 2U);
  } else {
    for (const auto& entry : fs::directory_iterator(folder_))  // parts of removed steps are gone
      EXPECT_EQ(entry.path().filename().string().find("out-00000010."), std::string::npos) << entry.path();
  }
}

TEST_P(SeriesTest, StepsThatAreReplacedCountForNothing) {
  const auto run = [&](int64_t from) {
    Series series = create("keep_last=1,keep_every=2");
    for (int64_t n = from; n <= 3; ++n) write(series, 10 * n, static_cast<double>(n), 10 * static_cast<double>(n));
  };
  run(0);
  EXPECT_EQ(found(), (Moments{{0, 0}, {20, 2}, {30, 3}}));
  run(1);  // a restart: its first step is the second again
  EXPECT_EQ(found(), (Moments{{0, 0}, {20, 2}, {30, 3}}));
}

TEST_P(SeriesTest, AnIndexThatLiesIsRefused) {
  {
    Series series = create();
    write(series, 1, 0.1, 1);
  }
  const std::string honest = read_index();
  const auto sealed = [](std::string text) {
    const size_t at = text.rfind(",\n \"crc64\"");
    text.resize(at);
    const uint64_t sum = crc64(std::as_bytes(std::span(text)));
    return text + fmt::format(",\n \"crc64\": \"{:016x}\"}}\n", sum);
  };
  const std::regex file("\"file\": \"[^\"]*\"");
  for (const char* name : {"../out-00000001.h5", "/etc/passwd", "sub/out-00000001.h5", "out-00000002.h5", "..", "",
                           "out-1.h5", "out-00000001.h5/"}) {
    std::ofstream(index()) << sealed(std::regex_replace(honest, file, fmt::format("\"file\": \"{}\"", name)));
    for (const auto& status : {Series::open(comm_, pattern()).status(), Series::create(comm_, pattern()).status()}) {
      EXPECT_EQ(status.code(), Code::damaged) << name;
      EXPECT_NE(status.message().find("is refused"), std::string::npos) << status.message();
    }
  }
  for (const auto& [from, to] : {std::pair{"\"iteration\": 1", "\"iteration\": -1"},
                                 {"\"time\": 0.1", "\"time\": \"x\""},
                                 {"\"number\": 0", "\"number\": 0.5"},
                                 {"penstock.series/1", "penstock.series/9"}}) {
    std::ofstream(index()) << sealed(std::regex_replace(honest, std::regex(from), to));
    EXPECT_EQ(Series::open(comm_, pattern()).status().code(), Code::damaged) << to;
  }
  const Pattern other = *parse_pattern(folder_ + "/out_*.h5");
  EXPECT_EQ(decode_index(honest, other).status().code(), Code::exists);
}

INSTANTIATE_TEST_SUITE_P(Plans, SeriesTest,
                         ::testing::Values("hdf5/independent", "hdf5/independent:placement=parts,parts=2",
                                           "netcdf/two_phase", "raw/independent"));

TEST(Pattern, NamesAndBack) {
  const Pattern pattern = *parse_pattern("run/out-*.h5");
  EXPECT_EQ(pattern.path_of(100), "run/out-00000100.h5");
  EXPECT_EQ(pattern.path_of(12345678901), "run/out-12345678901.h5");
  for (const int64_t n : {int64_t{0}, int64_t{7}, int64_t{99999999}, int64_t{100000000}, INT64_MAX})
    EXPECT_EQ(pattern.iteration_of(pattern.path_of(n).substr(4)), n);
  for (const char* name :
       {"out-7.h5", "out-000000007.h5", "out--0000007.h5", "out-0000000a.h5", "out-.h5", "out-00000007.h",
        "out-00000007.h5.partial", "out-99999999999999999999.h5", ".out-00000007.h5"})
    EXPECT_FALSE(pattern.iteration_of(name)) << name;
  EXPECT_EQ(pattern.iteration_of("out-00000007.h5.json"), 7);
  EXPECT_EQ(pattern.index_path(), "run/out.series.json");
  EXPECT_EQ(parse_pattern("*.h5")->index_path(), "series.series.json");
  for (const char* wrong : {"", "out.h5", "o*t-*.h5", "r*n/out-*.h5", "run/", ".*.h5"})
    EXPECT_EQ(parse_pattern(wrong).status().code(), Code::invalid) << wrong;
}

// Any text with a correct checksum is rejected or describes a possible series.
TEST(Index, AnyTextWithARightChecksum) {
  const Pattern pattern = *parse_pattern("run/out-*.h5");
  std::vector<Step> steps;
  for (int64_t n = 1; n < 5; ++n) {
    Step step{10 * n, 0.1 * static_cast<double>(n), 0, 0, n, "", 4096, 1};
    step.name = pattern.path_of(step.iteration).substr(4);
    steps.push_back(step);
  }
  const std::string honest = encode_index(pattern, steps);
  EXPECT_EQ(**decode_index(honest, pattern), steps);
  std::mt19937 random(11);
  int refused = 0, taken = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    std::string text = honest.substr(0, honest.rfind(",\n \"crc64\""));
    for (auto changes = 1 + random() % 4; changes > 0; --changes) {
      const size_t at = random() % text.size();
      switch (random() % 3) {
        case 0: text[at] = static_cast<char>(random() % 256); break;
        case 1: text.erase(at, random() % 8); break;
        default: text.insert(at, honest.substr(random() % honest.size(), random() % 12));
      }
    }
    const uint64_t sum = crc64(std::as_bytes(std::span(text)));
    const auto found = decode_index(text + fmt::format(",\n \"crc64\": \"{:016x}\"}}\n", sum), pattern);
    if (!found.ok() || !*found) {
      ++refused;
      continue;
    }
    ++taken;
    int64_t last = -1;
    for (const Step& step : **found) {
      EXPECT_EQ(pattern.iteration_of(step.name), step.iteration);
      EXPECT_EQ(step.name.find('/'), std::string::npos);
      EXPECT_GT(step.iteration, last);
      EXPECT_TRUE(std::isfinite(step.time));
      last = step.iteration;
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(taken, 100);
}

TEST(Series, Questions) {
  const auto comm = serial_communicator();
  auto series = Series::create(comm, "nothing-*.h5", {}, "steps=10");
  ASSERT_TRUE(series.ok()) << series.status().message();
  EXPECT_TRUE(*series->due(0, 0));
  EXPECT_TRUE(*series->due(0, 0));
  EXPECT_FALSE(*series->due(9, 0));
  EXPECT_TRUE(*series->due(12, 0));
  EXPECT_TRUE(*series->due(12, 0));
  EXPECT_FALSE(*series->due(13, 0));
  EXPECT_EQ(series->due(-1, 0).status().code(), Code::invalid);
  EXPECT_EQ(series->step(1, NAN).status().code(), Code::invalid);
  EXPECT_EQ(series->open_step(0).status().code(), Code::invalid);
  EXPECT_EQ(Series::open(comm, "nothing-*.h5").status().code(), Code::not_found);
  EXPECT_EQ(Series::create(comm, "no/such/folder-*.h5").status().code(), Code::not_found);
  EXPECT_EQ(Series::create(comm, "nothing-*.h5", {}, "stebs=1").status().code(), Code::invalid);
  const struct {
    const char *pattern, *plan, *options, *said;
  } wrong[] = {{"nothing-*.h5", "", "step=1", "did you mean 'steps'?"},
               {"nothing-*.h5", "hdf5:writrs=2", "", "writers"},
               {"nothing-*.dat", "", "", "extension"},
               {"nothing-*.nc", "", "xdmf=true", "refers to HDF5"}};
  for (const auto& one : wrong) {
    const Status status = Series::create(comm, one.pattern, one.plan, one.options).status();
    EXPECT_FALSE(status.ok()) << one.said;
    EXPECT_NE(status.message().find(one.said), std::string::npos) << status.message();
  }
}

}  // namespace
}  // namespace penstock
