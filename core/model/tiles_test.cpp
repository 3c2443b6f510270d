// Tests of tiles: they cover a dataset once, consist of whole chunks, and are found by what is wanted of them.
#include "core/model/tiles.hpp"

#include <gtest/gtest.h>

#include <random>

namespace penstock {
namespace {

Dataset dataset(Dims shape, ElementType type = {Kind::f64}) { return {"d", type, shape, false}; }

TEST(Tiles, CoverADatasetOnceInWholeChunks) {
  std::mt19937 random(7);
  for (int turn = 0; turn < 200; ++turn) {
    const int rank = static_cast<int>(random() % 4);
    Dims shape = Dims::filled(rank, 0), chunk = shape;
    for (int d = 0; d < rank; ++d) {
      shape[d] = 1 + random() % (rank == 3 ? 300 : 4000);
      chunk[d] = 1 + random() % 100;
    }
    const Tiles tiles(dataset(shape), turn % 2 == 0 ? chunk : Dims::filled(rank, 1), 4 << 20);
    int64_t sum = 0;
    for (int64_t i = 0; i < tiles.count(); ++i) {
      const Box box = tiles.box(i);
      sum += elements(box.count);
      EXPECT_LE(elements(box.count) * 8, tiles.bytes());
      for (int d = 0; d < rank; ++d) {
        EXPECT_LE(box.start[d] + box.count[d], shape[d]);
        if (turn % 2 == 0) EXPECT_TRUE(box.start[d] % std::min(chunk[d], shape[d]) == 0) << turn;
      }
      EXPECT_EQ(tiles.of(Selection::of_box(shape, box)), std::vector{i});
    }
    EXPECT_EQ(sum, elements(shape));
  }
}

TEST(Tiles, AreFoundByBoxesAndByRuns) {
  const Dims shape{1000, 1000}, chunk{100, 1000};
  const Tiles tiles(dataset(shape), chunk, 4 << 20);  // a chunk has 800,000 bytes: five are a tile
  EXPECT_EQ(tiles.count(), 2);
  EXPECT_EQ(tiles.of(Selection::of_box(shape, {{0, 0}, {1000, 1}})), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(tiles.of(Selection::of_box(shape, {{499, 0}, {1, 1}})), std::vector<int64_t>{0});
  EXPECT_TRUE(tiles.of(Selection::of_box(shape, {{3, 3}, {0, 5}})).empty());
  const penstock::Run runs[] = {{500'000, 3}, {999'999, 1}};
  EXPECT_EQ(tiles.of(Selection::of_runs(shape, runs)), std::vector<int64_t>{1});
}

TEST(Tiles, OfNothingAndOfLargeChunks) {
  EXPECT_EQ(Tiles(dataset({0, 5}), {1, 1}, 4 << 20).count(), 0);
  EXPECT_EQ(Tiles(dataset({}), {}, 4 << 20).count(), 1);
  const Dims chunk{1 << 20, 1 << 10};
  const Tiles tiles(dataset({1 << 22, 1 << 11}), chunk, 4 << 20);
  EXPECT_EQ(tiles.count(), 8);  // a chunk is never divided
  EXPECT_EQ(tiles.bytes(), int64_t{8} << 30);
}

}  // namespace
}  // namespace penstock
