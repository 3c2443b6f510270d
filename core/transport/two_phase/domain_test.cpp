// Domains: whatever the numbers, every block has one writer, and cut, writer_at, rank_of and writer_of agree.
#include "core/transport/two_phase/domain.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

namespace penstock {
namespace {

TEST(Domains, TileTheRangeInBlocks) {
  std::mt19937_64 random(1);
  const auto draw = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int round = 0; round < 2000; ++round) {
    const int64_t block = int64_t{4096} << draw(0, 4), begin = draw(0, 1 << 20),
                  end = begin + draw(0, int64_t{1} << draw(1, 40));
    const int ranks = static_cast<int>(draw(1, 300)), writers = static_cast<int>(draw(0, 310));
    const Domains d = cut_domains({.begin = begin,
                                   .end = end,
                                   .block = block,
                                   .window = draw(1, 64 << 20),
                                   .writers = writers,
                                   .most_writers = draw(0, 20),
                                   .ranks = ranks,
                                   .nodes = draw(1, ranks),
                                   .span = draw(0, end - begin)});
    ASSERT_LE(d.begin, begin);
    ASSERT_GE(d.end, end);
    ASSERT_EQ(d.cut(0), d.begin);
    ASSERT_EQ(d.cut(d.writers), d.end);
    ASSERT_EQ(d.window % block, 0);
    ASSERT_GE(d.window, block);
    ASSERT_LE(d.writers, ranks);
    std::set<int> used;
    for (int w = 0; w < d.writers; ++w) {
      ASSERT_LE(d.cut(w), d.cut(w + 1));
      ASSERT_EQ(d.cut(w) % block, 0);
      ASSERT_TRUE(used.insert(d.rank_of(w)).second);
      ASSERT_EQ(d.writer_of(d.rank_of(w)), w);
      ASSERT_GE(d.rounds() * d.window, d.cut(w + 1) - d.cut(w));
      if (d.cut(w) < d.cut(w + 1)) {
        ASSERT_EQ(d.writer_at(d.cut(w)), w);
        ASSERT_EQ(d.writer_at(d.cut(w + 1) - 1), w);
      }
    }
    for (int r = 0; r < ranks; ++r) {
      if (!used.contains(r)) {
        ASSERT_EQ(d.writer_of(r), -1);
      }
    }
  }
}

TEST(Domains, OneRankIsTheOnlyWriterOfGather) {
  const Domains d = cut_domains({.end = 1 << 30, .window = 16 << 20, .writers = 1, .ranks = 7});
  EXPECT_EQ(d.writers, 1);
  EXPECT_EQ(d.rank_of(0), 0);
  EXPECT_EQ(d.rounds(), 64);
}

TEST(Domains, NothingToMoveHasNoRounds) { EXPECT_EQ(cut_domains({.ranks = 4}).rounds(), 0); }

TEST(Domains, ANodeHasAFewWriters) {
  EXPECT_EQ(cut_domains({.end = int64_t{1} << 40, .ranks = 64, .nodes = 1}).writers, 4);
  EXPECT_EQ(cut_domains({.end = int64_t{1} << 40, .ranks = 64, .nodes = 8}).writers, 32);
  EXPECT_EQ(cut_domains({.end = 5 << 20, .ranks = 64, .nodes = 8}).writers, 2);
  EXPECT_EQ(cut_domains({.end = 1000, .ranks = 64, .nodes = 8}).writers, 1);
}

// Of column slabs, every rank's data is spread over all of the file; of row slabs, over a part of it.
TEST(Domains, ARankMeetsAboutLogOfRanksWriters) {
  for (int ranks = 64; ranks <= 4096; ranks *= 8) {
    const int64_t bytes = int64_t{ranks} << 23;
    const Cut columns{.end = bytes, .ranks = ranks, .nodes = ranks, .span = bytes};
    EXPECT_LE(cut_domains(columns).writers, 2 + std::log2(ranks));
    const Cut rows{.end = bytes, .ranks = ranks, .nodes = ranks, .span = bytes / ranks};
    EXPECT_EQ(cut_domains(rows).writers, ranks);
  }
}

}  // namespace
}  // namespace penstock
