// Tests of chunk shapes: within blocks, not too large, and the same on all ranks.
#include "core/commit/chunk_shape.hpp"

#include <gtest/gtest.h>

#include <random>

namespace penstock {
namespace {

Dims chunk_of(const Dims& shape, const Dims& block, int64_t most) {
  return chunk_of_block(shape, block, 8, most, Dims::filled(shape.rank(), 1));
}

TEST(ChunkShape, DividesBlocksWhereOthersBegin) {
  const Dims cube{64, 64, 64}, all{256, 256, 256};
  EXPECT_EQ(chunk_of(all, cube, 1 << 20), (Dims{32, 64, 64}));
  EXPECT_EQ(chunk_of(all, cube, 1 << 30), cube);
  EXPECT_EQ(chunk_of(all, cube, 3 << 14), (Dims{1, 64, 64})) << "32 KiB; 48 would not divide the block";
  EXPECT_EQ(chunk_of(all, cube, 1 << 10), (Dims{1, 2, 64}));
  EXPECT_EQ(chunk_of(all, cube, 1), (Dims{1, 1, 1}));
  EXPECT_EQ(chunk_of({6, 62}, {6, 31}, 100), (Dims{1, 1})) << "31 has no divisor below 13";
}

TEST(ChunkShape, NeedsNoDivisorWhereOneBlockIsAlone) {
  EXPECT_EQ(chunk_of({997, 100}, {997, 100}, 8000), (Dims{10, 100}));
  EXPECT_EQ(chunk_of({997, 31}, {1, 31}, 100), (Dims{1, 11}));
}

TEST(ChunkShape, HasUnitsWhereItCan) {
  const Dims unit{4, 4, 4};
  EXPECT_EQ(chunk_of_block({512, 512, 512}, {512, 512, 512}, 8, 1 << 20, unit), (Dims{4, 64, 512}));
  EXPECT_EQ(chunk_of_block({512, 512, 512}, {256, 256, 256}, 8, 1 << 18, unit), (Dims{4, 32, 256}));
  EXPECT_EQ(chunk_of_block({62, 512, 512}, {31, 512, 512}, 8, 1 << 18, unit), (Dims{1, 64, 512})) << "31 is prime";
  EXPECT_EQ(chunk_of_block({8, 8, 8}, {8, 8, 8}, 8, 512, unit), unit);
}

TEST(ChunkShape, IsAMultipleWhereThatIsNear) {
  const auto chunk = [](const Dims& shape, const Dims& block, int64_t most) {
    return chunk_within({"a", {Kind::f64}, shape}, {block, false}, Dims::filled(shape.rank(), 1), most, 8);
  };
  EXPECT_EQ(chunk({70, 91, 110}, {70, 91, 110}, 1 << 20), (Dims{12, 91, 110}));
  EXPECT_EQ(chunk({140, 91, 110}, {70, 91, 110}, 1 << 20), (Dims{10, 91, 110})) << "70 has no such divisor";
  EXPECT_EQ(chunk({70, 91, 110}, {70, 91, 110}, 900'000), (Dims{8, 91, 110})) << "of 10";
  EXPECT_EQ(chunk({999'999}, {999'999}, 1 << 20), Dims{125'000});
  EXPECT_EQ(chunk({9999}, {9999}, 1 << 20), Dims{9999}) << "one chunk stays one";
}

TEST(ChunkShape, IsNeverLargerThanAskedForAndMeetsEachBlock) {
  std::mt19937 random(3);
  const auto number = [&](int most) { return std::uniform_int_distribution<int64_t>(1, most)(random); };
  for (int i = 0; i < 2000; ++i) {
    const Dims block{number(40), number(40), number(40)};
    Dims shape = block;
    for (int d = 0; d < 3; ++d) shape[d] *= number(3);
    const int64_t most = number(4000);
    const Dims chunk = chunk_of(shape, block, most);
    EXPECT_TRUE(elements(chunk) * 8 <= most || elements(chunk) == 1);
    for (int d = 0; d < 3; ++d)
      if (block[d] < shape[d]) {
        EXPECT_EQ(block[d] % chunk[d], 0) << d;
      }
  }
}

class Blocks : public ::testing::Test {
 protected:
  Dims chunk(const std::vector<Selection>& selections, const Dims& shape, int64_t most = 1 << 20) {
    const std::vector<Dataset> datasets{{"a", {Kind::f64}, shape, false}};
    std::vector<Claim> claims;
    for (const Selection& selection : selections) claims.push_back({0, selection, nullptr, nullptr});
    const auto found = blocks_of_ranks(comm_, datasets, {true}, claims);
    EXPECT_TRUE(found.ok());
    const RankBlocks& blocks = found->at(0);
    return blocks.extents.rank() == 0 ? Dims() : chunk_within(datasets[0], blocks, Dims::filled(shape.rank(), 1), most);
  }
  static Selection box(const Dims& shape, const Dims& start, const Dims& count) {
    return Selection::of_box(shape, {start, count});
  }

  Communicator comm_ = serial_communicator();
};

TEST_F(Blocks, GiveChunksWhereAllBeginAtMultiples) {
  const Dims shape{200, 300};
  EXPECT_EQ(chunk({box(shape, {0, 0}, {100, 300}), box(shape, {100, 0}, {100, 300})}, shape), (Dims{100, 300}));
  EXPECT_EQ(chunk({box(shape, {0, 0}, {128, 300}), box(shape, {128, 0}, {72, 300})}, shape), (Dims{128, 300}));
  EXPECT_EQ(chunk({box(shape, {0, 0}, {0, 300}), box(shape, {0, 0}, {200, 300})}, shape), (Dims{200, 300}));
}

TEST_F(Blocks, GiveSmallChunksWhereTheyAreUnevenInTheFirstDimension) {
  const Dims shape{203, 300};
  const std::vector<Selection> halves{box(shape, {0, 0}, {102, 300}), box(shape, {102, 0}, {101, 300})};
  EXPECT_EQ(chunk(halves, shape), (Dims{102, 300}));
  const std::vector<Selection> thirds{box(shape, {0, 0}, {67, 300}), box(shape, {67, 0}, {68, 300}),
                                      box(shape, {135, 0}, {68, 300})};
  EXPECT_EQ(chunk(thirds, shape).rank(), 0) << "ranks would share most chunks";
  EXPECT_EQ(chunk(thirds, shape, 16 << 10), (Dims{4, 300}));
  const Dims wide{203, 9000};
  const std::vector<Selection> large{box(wide, {0, 0}, {67, 9000}), box(wide, {67, 0}, {68, 9000}),
                                     box(wide, {135, 0}, {68, 9000})};
  EXPECT_EQ(chunk(large, wide, 600 << 10), (Dims{4, 9000}));
  EXPECT_EQ(chunk(large, wide), (Dims{4, 9000})) << "14 rows would do, but 4 divide the block";
  const Dims other{300, 203};
  EXPECT_EQ(chunk({box(other, {0, 0}, {300, 67}), box(other, {0, 67}, {300, 136})}, other, 100 << 10).rank(), 0);
}

TEST_F(Blocks, GiveNoneWhereTheyDoNot) {
  const Dims shape{200, 300};
  EXPECT_EQ(chunk({box(shape, {0, 0}, {72, 300}), box(shape, {72, 0}, {128, 300})}, shape).rank(), 0);
  const std::vector<penstock::Run> all{{0, 60000}};
  EXPECT_EQ(chunk({Selection::of_runs(shape, all)}, shape).rank(), 0) << "runs are no blocks";
  EXPECT_EQ(chunk({}, shape).rank(), 0) << "nothing was put";
  const Dims small{2000, 10};
  EXPECT_EQ(chunk({box(small, {0, 0}, {1000, 10}), box(small, {1000, 0}, {1000, 5})}, small).rank(), 0);
  std::vector<Selection> tiny;
  for (int64_t i = 0; i < 200; i += 10) tiny.push_back(box(shape, {i, 0}, {10, 300}));
  EXPECT_EQ(chunk(tiny, shape).rank(), 0) << "24 KB would be small chunks";
  EXPECT_EQ(chunk(tiny, shape, 32 << 10), (Dims{10, 300})) << "unless small ones are asked for";
}

}  // namespace
}  // namespace penstock
