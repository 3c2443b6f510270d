// Tests of wisdom: the nearest entry, files that are damaged or of another version, where files are looked for.
#include "core/plan/wisdom.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <initializer_list>
#include <tuple>

namespace penstock {
namespace {

const std::string today = "2026-11-27";

Problem problem(int64_t bytes = 1 << 20, int64_t ranks = 4) {
  return {.write = true,
          .format = "hdf5",
          .placement = "single",
          .durable = true,
          .ranks = ranks,
          .ranks_per_node = 4,
          .bytes = bytes,
          .blocks = 1,
          .run_bytes = 4096,
          .filesystem = "ext4",
          .mpi = "Open MPI v4.1.4"};
}

Wise wise(const Problem& problem, std::string plan, std::string expires = "") {
  return {problem, std::move(plan), 0.5, 0.4, 0.6, "2026-11-20", std::move(expires)};
}

std::string plan_for(const Wisdom& wisdom, const Problem& problem) {
  const Wise* found = wisdom.find(problem);
  return found == nullptr ? "none" : found->plan;
}

std::string written(std::string_view text, std::string_view name = "") {
  std::string path =
      ::testing::TempDir() + ::testing::UnitTest::GetInstance()->current_test_info()->name() + std::string(name);
  std::ofstream(path) << text;
  return path;
}

TEST(Wisdom, TheNearestProblemLendsItsPlan) {
  const Wisdom wisdom{{wise(problem(1 << 20), "small"), wise(problem(8 << 20), "large")}};
  EXPECT_EQ(plan_for(wisdom, problem(1 << 20)), "small");
  EXPECT_EQ(plan_for(wisdom, problem(2 << 20)), "small");
  EXPECT_EQ(plan_for(wisdom, problem(5 << 20)), "large");
  EXPECT_EQ(plan_for(wisdom, problem(64 << 20)), "large");
  EXPECT_EQ(plan_for(wisdom, problem(65 << 20)), "none");
  EXPECT_EQ(plan_for(wisdom, problem(8 << 20, 16)), "large");
  EXPECT_EQ(plan_for(wisdom, problem(16 << 20, 32)), "none") << "a factor of 2 and one of 8";
}

TEST(Wisdom, WhatIsOfAnotherKindLendsNothing) {
  const Wisdom wisdom{{wise(problem(), "plan")}};
  ASSERT_EQ(plan_for(wisdom, problem()), "plan");
  const auto with = [](auto change) {
    Problem p = problem();
    change(p);
    return p;
  };
  for (const Problem& other :
       {with([](Problem& p) { p.write = false; }), with([](Problem& p) { p.format = "raw"; }),
        with([](Problem& p) { p.placement = "parts"; }), with([](Problem& p) { p.durable = false; }),
        with([](Problem& p) { p.in_memory = true; }), with([](Problem& p) { p.filesystem = "lustre"; }),
        with([](Problem& p) { p.mpi = "MPICH 4.0"; })})
    EXPECT_EQ(plan_for(wisdom, other), "none") << text_of(other);
}

TEST(Wisdom, OfEqualProblemsTheFirstCounts) {
  const Wisdom wisdom{{wise(problem(), "mine"), wise(problem(), "the site's")}};
  EXPECT_EQ(plan_for(wisdom, problem()), "mine");
}

// For any library, and used only where nothing was measured.
TEST(Wisdom, WhatWasMeasuredComesBeforeWhatWasSimulated) {
  Wise simulated = wise(problem(), "simulated");
  simulated.problem.mpi = "";
  simulated.simulated = "Frontier";
  EXPECT_EQ(plan_for({{simulated}}, problem()), "simulated");
  EXPECT_EQ(plan_for({{simulated, wise(problem(4 << 20), "measured")}}, problem()), "measured") << "though less near";
  EXPECT_EQ(plan_for({{wise(problem(64 << 20), "measured"), simulated}}, problem()), "simulated") << "it is too far";
  Problem elsewhere = problem();
  elsewhere.filesystem = "lustre";
  EXPECT_EQ(plan_for({{simulated}}, elsewhere), "none");
}

TEST(Wisdom, TextIsReadBack) {
  Wisdom wisdom{{wise(problem(), "independent:io=direct", "2027-01-01"), wise(problem(0), "two_phase")}};
  wisdom.entries[1].low = wisdom.entries[1].high = std::nullopt;
  wisdom.entries[1].problem.in_memory = true;
  wisdom.entries[1].problem.write = false;
  wisdom.entries[1].simulated = "Frontier";
  const auto back = parse_wisdom(text_of(wisdom), today);
  ASSERT_TRUE(back.ok()) << back.status().message();
  ASSERT_EQ(back->entries.size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(distance(back->entries[i].problem, wisdom.entries[i].problem), 0);
    EXPECT_EQ(back->entries[i].plan, wisdom.entries[i].plan);
    EXPECT_EQ(back->entries[i].low, wisdom.entries[i].low);
    EXPECT_EQ(back->entries[i].measured, wisdom.entries[i].measured);
    EXPECT_EQ(back->entries[i].expires, wisdom.entries[i].expires);
    EXPECT_EQ(back->entries[i].simulated, wisdom.entries[i].simulated);
  }
}

TEST(Wisdom, MachinesAreReadBackAndTheNearestIsFound) {
  Wisdom wisdom;
  for (const int64_t ranks : {2, 16}) {
    wisdom.machines.push_back(usual_machine());
    wisdom.machines.back().filesystem = problem().filesystem;
    wisdom.machines.back().mpi = problem().mpi;
    wisdom.machines.back().ranks = ranks;
    wisdom.machines.back().copy = 1e9 * static_cast<double>(ranks);
  }
  const std::string text = text_of(wisdom);
  const auto back = parse_wisdom(text, today);
  ASSERT_TRUE(back.ok()) << back.status().message();
  const auto ranks_for = [&](const Problem& p) {
    const Machine* machine = back->machine(p);
    return machine == nullptr ? 0 : machine->ranks;
  };
  EXPECT_EQ(ranks_for(problem(1, 1)), 2);
  EXPECT_EQ(ranks_for(problem(1, 5)), 2);
  EXPECT_EQ(ranks_for(problem(1, 6)), 16);
  EXPECT_EQ(back->machine(problem(1, 64))->copy, 16e9);
  EXPECT_EQ(back->machine(problem(1, 64))->publish, usual_machine().publish);
  Problem other = problem();
  other.filesystem = "lustre";
  EXPECT_EQ(ranks_for(other), 0);

  for (const auto& [from, to, message] : std::initializer_list<std::tuple<const char*, const char*, const char*>>{
           {"\"copy\":2000000000.0", "\"copy\":0", "machine 1 is wrong: copy is not over 0"},
           {"\"publish\"", "\"published\"", "machine 1 is wrong: "},
           {"\"machines\":[", "\"machines\":[3,", "machine 1 is wrong: "}}) {
    std::string damaged = text;
    ASSERT_NE(damaged.find(from), std::string::npos) << from;
    damaged.replace(damaged.find(from), std::string_view(from).size(), to);
    const std::string said = parse_wisdom(damaged, today).status().message();
    EXPECT_TRUE(said.starts_with(message)) << said;
  }
}

TEST(Wisdom, AProblemIsReadBack) {
  const auto back = parse_problem(text_of(problem(12345, 7)));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(distance(*back, problem(12345, 7)), 0);
  for (const Problem& wrong : {problem(1, 0), problem(1, int64_t{1} << 40), problem(INT64_MAX, 2)})
    EXPECT_NE(parse_problem(text_of(wrong)).status().message().find("its ranks, or their bytes, are out of range"),
              std::string::npos);
  EXPECT_TRUE(parse_problem("{").status().message().starts_with("it is no problem as in docs/wisdom.md: "));
}

// A round machine: 1 GB/s of everything, a microsecond for each call.
Machine round_machine() {
  Machine m = usual_machine();
  m.ranks = 4;
  m.copy = m.send = 1e9;
  m.write_cache_one = m.write_synced_one = m.write_direct_one = 1e9;
  m.write_cache_all = 2e9;
  m.write_call = 1e-6;
  m.collective = m.piece = m.publish = 0;
  return m;
}

TEST(Estimate, CountsTimesRates) {
  Problem cached = problem();
  cached.durable = false;
  cached.blocks = 0;
  Work work;
  work.bytes = 1'000'000'000;
  const auto seconds = [&](const Problem& p) { return estimate(work, p, round_machine()).seconds(); };
  EXPECT_DOUBLE_EQ(seconds(cached), 1) << "one rank at its own rate";
  work.movers = 4;
  EXPECT_DOUBLE_EQ(seconds(cached), 0.5) << "all ranks";
  work.calls = 1'000'000;
  EXPECT_DOUBLE_EQ(seconds(cached), 1.5);
  work.copied = 1'000'000'000;
  EXPECT_DOUBLE_EQ(seconds(cached), 2.5) << "copies use the same processors";
  EXPECT_STREQ(estimate(work, cached, round_machine()).limit(), "the file system");
  work.calls = 0;
  work.movers = 1;
  work.direct = true;
  EXPECT_DOUBLE_EQ(seconds(problem()) - 70e-6, 1) << "a device works while the ranks copy";
}

TEST(Wisdom, WhatHasExpiredIsLeftOut) {
  const std::string text = text_of({{wise(problem(), "old", "2026-11-26"), wise(problem(), "last day", today)}});
  const auto wisdom = parse_wisdom(text, today);
  ASSERT_TRUE(wisdom.ok());
  EXPECT_EQ(plan_for(*wisdom, problem()), "last day");
  EXPECT_EQ(wisdom->entries.size(), 1U);
}

TEST(Wisdom, FilesThatCannotBeUsedAreLeftOutWithAWarning) {
  const std::string good = text_of({{wise(problem(), "good")}});
  std::string newer = good, wrong = good, negative = good;
  newer.replace(newer.find("wisdom/1"), 8, "wisdom/2");
  wrong.replace(wrong.find("\"write\""), 7, "\"erase\"");
  negative.replace(negative.find("1048576"), 7, "-7");
  const auto read = read_wisdom({written("{", "1"), written("[]", "2"), written(newer, "3"), written(wrong, "4"),
                                 written(R"({"schema": "penstock.wisdom/1"})", "5"), written(negative, "7"),
                                 "/proc/self/mem", ::testing::TempDir(), "/absent", written(good, "6")},
                                today);
  EXPECT_EQ(plan_for(read.wisdom, problem()), "good");
  ASSERT_EQ(read.warnings.size(), 8U);
  EXPECT_NE(read.warnings[2].find("its schema is 'penstock.wisdom/2', and this version reads 'penstock.wisdom/1'"),
            std::string::npos)
      << read.warnings[2];
  EXPECT_NE(read.warnings[3].find("entry 1 is wrong: operation is neither write nor read"), std::string::npos)
      << read.warnings[3];
  EXPECT_NE(read.warnings[5].find("entry 1 is wrong: bytes_per_rank is no count"), std::string::npos)
      << read.warnings[5];
}

TEST(Wisdom, FilesAreLookedForWhereTheEnvironmentSays) {
  using Files = std::vector<std::string>;
  const auto files = [](std::vector<const char*> environment) {
    environment.push_back(nullptr);
    return wisdom_files(environment.data());
  };
  EXPECT_EQ(files({"HOME=/home/me"}), (Files{"/home/me/.config/penstock/wisdom.json", "/etc/penstock/wisdom.json"}));
  EXPECT_EQ(files({"HOME=/home/me", "XDG_CONFIG_HOME=/config"}),
            (Files{"/config/penstock/wisdom.json", "/etc/penstock/wisdom.json"}));
  EXPECT_EQ(files({"HOME=/home/me", "PENSTOCK_WISDOM=none"}), Files{});
  EXPECT_EQ(files({"HOME=/home/me", "PENSTOCK_WISDOM=a.json:/b/c.json:"}), (Files{"a.json", "/b/c.json"}));
  EXPECT_EQ(files({}), Files{"/etc/penstock/wisdom.json"});
}

}  // namespace
}  // namespace penstock
