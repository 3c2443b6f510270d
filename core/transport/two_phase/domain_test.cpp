// Tests of domains: for all numbers, every block has one writer, and cut, writer_at, rank_of and writer_of agree.
#include "core/transport/two_phase/domain.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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
                                   .max_writers = draw(0, 20),
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

// Ranks distributed cyclically over the nodes, and nodes of very different sizes.
TEST(Domains, EveryNodeHasItsShareOfWriters) {
  const std::vector<std::vector<int>> cyclic = {
      {0, 3, 6, 9, 12, 15, 18, 21}, {1, 4, 7, 10, 13, 16, 19, 22}, {2, 5, 8, 11, 14, 17, 20, 23}};
  const std::vector<std::vector<int>> uneven = {
      {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}, {20}, {21, 22, 23}};
  for (const auto& nodes : {cyclic, uneven}) {
    std::vector<std::vector<int>> candidates;
    for (const auto& ranks : nodes) {
      candidates.push_back(candidates_among(ranks));
      EXPECT_EQ(candidates.back().size(), std::min<size_t>(4, ranks.size()));
    }
    for (const int writers : {0, 1, 3, 5, 8, 13, 24}) {
      const Domains d =
          cut_domains({.end = 1 << 30, .writers = writers, .ranks = 24, .nodes = 3, .candidates = candidates});
      std::set<int> used, nodes_used;
      for (int w = 0; w < d.writers; ++w) {
        EXPECT_TRUE(used.insert(d.rank_of(w)).second);
        EXPECT_EQ(d.writer_of(d.rank_of(w)), w);
        for (size_t n = 0; n < nodes.size(); ++n)
          if (std::ranges::count(nodes[n], d.rank_of(w)) > 0) nodes_used.insert(static_cast<int>(n));
      }
      for (int r = 0; r < 24; ++r) EXPECT_EQ(d.writer_of(r) >= 0, used.contains(r));
      EXPECT_EQ(nodes_used.size(), std::min<size_t>(3, static_cast<size_t>(d.writers))) << writers;
    }
  }
  EXPECT_EQ(candidates_among({7}), std::vector<int>{7});
}

// Fifteen ranks on four nodes, of which the last has three.
TEST(Domains, AFewWritersAreSpreadOverTheNodes) {
  const std::vector<std::vector<int>> candidates = {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14}};
  const auto ranks_of = [&](int64_t writers) {
    return cut_domains({.end = 1 << 30, .writers = writers, .ranks = 15, .nodes = 4, .candidates = candidates})
        .writer_ranks;
  };
  EXPECT_EQ(ranks_of(4), (std::vector<int>{0, 4, 8, 12}));
  EXPECT_EQ(ranks_of(2), (std::vector<int>{0, 8}));
  EXPECT_EQ(ranks_of(6), (std::vector<int>{0, 2, 4, 8, 10, 12}));
  EXPECT_EQ(ranks_of(15), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}));
  EXPECT_EQ(ranks_of(0), ranks_of(15)) << "all candidates, and no more";
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
  EXPECT_EQ(cut_domains({.end = int64_t{1} << 42, .ranks = 1 << 17, .nodes = 1 << 11}).writers, 4096);
  EXPECT_EQ(cut_domains({.end = int64_t{1} << 42, .ranks = 1 << 20, .nodes = 1 << 14}).writers, 1 << 14);
  EXPECT_EQ(cut_domains({.end = 5 << 20, .ranks = 64, .nodes = 8}).writers, 2);
  EXPECT_EQ(cut_domains({.end = 1000, .ranks = 64, .nodes = 8}).writers, 1);
}

// With column slabs, every rank's data is spread over the whole file; with row slabs, over a part of it.
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
