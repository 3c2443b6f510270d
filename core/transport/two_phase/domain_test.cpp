// Domains: whatever the numbers, every block has one writer, and cut, writer_at, rank_of and writer_of agree.
#include "core/transport/two_phase/domain.hpp"

#include <gtest/gtest.h>

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
    const Domains d = cut_domains(begin, end, block, draw(1, 64 << 20), writers, ranks);
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
  const Domains d = cut_domains(0, 1 << 30, 4096, 16 << 20, 1, 7);
  EXPECT_EQ(d.writers, 1);
  EXPECT_EQ(d.rank_of(0), 0);
  EXPECT_EQ(d.rounds(), 64);
}

TEST(Domains, NothingToMoveHasNoRounds) { EXPECT_EQ(cut_domains(0, 0, 4096, 16 << 20, 0, 4).rounds(), 0); }

}  // namespace
}  // namespace penstock
