// Tests of subsets and block means: random boxes and runs, compared with loops over all points.
#include "core/model/subset.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <cstring>
#include <map>
#include <random>

#include "core/model/block_means.hpp"

namespace penstock {
namespace {

using Random = std::mt19937;

int64_t pick(Random& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

Dims pick_dims(Random& random, int rank, int64_t low, int64_t high) {
  Dims dims;
  for (int d = 0; d < rank; ++d) dims.push_back(pick(random, low, high));
  return dims;
}

Box pick_box(Random& random, const Dims& shape, int64_t least) {
  Box box{shape, shape};
  for (int d = 0; d < shape.rank(); ++d) {
    box.count[d] = pick(random, std::min(least, shape[d]), shape[d]);
    box.start[d] = pick(random, 0, shape[d] - box.count[d]);
  }
  return box;
}

Subset pick_subset(Random& random, bool mean) {
  const int rank = static_cast<int>(pick(random, 1, 3));
  const Dims shape = pick_dims(random, rank, 1, 9);
  const Box box = pick_box(random, shape, 1);
  return {shape, box.start, box.count, pick_dims(random, rank, 1, 4), mean, false};
}

int64_t linear(const Dims& shape, const Dims& at) {
  int64_t offset = 0;
  for (int d = 0; d < shape.rank(); ++d) offset = offset * shape[d] + at[d];
  return offset;
}

// Where the point of linear index POINT is stored; -1 if it is not.
int64_t stored_at(const Subset& subset, int64_t point) {
  Dims at = coordinates(subset.shape, point);
  for (int d = 0; d < at.rank(); ++d) {
    at[d] -= subset.start[d];
    if (at[d] < 0 || at[d] >= subset.count[d] || (!subset.mean && at[d] % subset.step[d] != 0)) return -1;
    at[d] /= subset.step[d];
  }
  return linear(subset.stored(), at);
}

// All points of BOX in row-major order.
std::vector<int64_t> points_of(const Dims& shape, const Box& box) {
  std::vector<int64_t> points;
  for (int64_t i = 0; i < elements(box.count); ++i) {
    Dims at = coordinates(box.count, i);
    for (int d = 0; d < at.rank(); ++d) at[d] += box.start[d];
    points.push_back(linear(shape, at));
  }
  return points;
}

// Runs of SHAPE in any order, without overlap.
std::vector<Run> pick_runs(Random& random, const Dims& shape) {
  std::vector<Run> runs;
  for (int64_t at = pick(random, 0, 3); at < elements(shape);) {
    const int64_t length = std::min(pick(random, 1, 15), elements(shape) - at);
    runs.push_back({at, length});
    at += length + pick(random, 0, 5);
  }
  std::ranges::shuffle(runs, random);
  return runs;
}

std::vector<int64_t> points_of(const Decomposition& part) {
  std::vector<int64_t> points;
  if (part.form() == Decomposition::Form::boxes)
    for (const Box& box : part.box_list()) std::ranges::copy(points_of(part.shape(), box), std::back_inserter(points));
  else
    for (const Run& run : part.run_list())
      for (int64_t i = 0; i < run.length; ++i) points.push_back(run.offset + i);
  return points;
}

TEST(Subset, ABoxKeepsThePointsOfTheSubset) {
  Random random(1);
  for (int n = 0; n < 500; ++n) {
    const Subset subset = pick_subset(random, false);
    const Box box = pick_box(random, subset.shape, 0);
    Memory memory;
    const Box stored = thin(subset, box, memory);
    const auto points = points_of(subset.shape, box);
    std::map<int64_t, int64_t> expected;  // by place in what is stored: the place in memory
    for (size_t i = 0; i < points.size(); ++i)
      if (const int64_t to = stored_at(subset, points[i]); to >= 0) expected[to] = static_cast<int64_t>(i);
    const auto places = points_of(subset.stored(), stored);
    ASSERT_EQ(places.size(), expected.size());
    for (size_t i = 0; i < places.size(); ++i) {
      const Dims at = coordinates(stored.count, static_cast<int64_t>(i));
      int64_t from = memory.offset;
      for (int d = 0; d < at.rank(); ++d) from += at[d] * memory.stride[d];
      ASSERT_EQ(expected.at(places[i]), from);
    }
    ASSERT_TRUE(Decomposition::block(subset.stored(), stored.start, stored.count).ok());
  }
}

TEST(Subset, BoxesAndRunsKeepTheSame) {
  Random random(2);
  for (int n = 0; n < 500; ++n) {
    const Subset subset = pick_subset(random, false);
    const auto runs = pick_runs(random, subset.shape);
    const std::vector<Box> boxes{pick_box(random, subset.shape, 0), pick_box(random, subset.shape, 0)};
    for (const auto& part : {*Decomposition::runs(subset.shape, runs), *Decomposition::boxes(subset.shape, boxes)}) {
      const auto thinned = thin(subset, part);
      ASSERT_TRUE(thinned.ok()) << thinned.status().message();
      const auto before = points_of(part), after = points_of(thinned->part);
      size_t count = 0;
      for (const int64_t point : before) count += stored_at(subset, point) >= 0 ? 1 : 0;
      ASSERT_EQ(after.size(), count);
      int64_t next = 0;
      for (const Kept& kept : thinned->kept) {
        ASSERT_EQ(kept.first, next);
        next += kept.count;
        for (int64_t i = 0; i < kept.count; ++i)
          ASSERT_EQ(stored_at(subset, before.at(static_cast<size_t>(kept.source + i * kept.stride))),
                    after.at(static_cast<size_t>(kept.first + i)));
      }
      ASSERT_EQ(next, std::ssize(after));
    }
  }
}

TEST(Subset, AttributesSayWhatIsThere) {
  const Subset box{{20, 30}, {2, 0}, {10, 30}, {2, 3}, false, false};
  EXPECT_EQ(describe(box), "every (2, 3) of the box (10, 30) from (2, 0) of (20, 30)");
  const Subset means{{20, 30}, {0, 0}, {20, 30}, {2, 1}, true, false};
  EXPECT_EQ(describe(means), "means of (2, 1) from (0, 0) of (20, 30)");
  const std::vector<std::string> names{"y", "x"};
  EXPECT_EQ(cell_methods(means, names), "y: mean");
  const Subset rows{{0, 3}, {0, 0}, {0, 3}, {10, 1}, false, true};
  EXPECT_EQ(describe(rows), "every (10, 1) of each rank's rows");
  for (const Subset& subset : {box, means, rows}) {
    Catalogue catalogue;
    for (Attribute& one : attributes_of(subset)) catalogue.attributes["a"][one.name] = one;
    const auto found = subset_of(catalogue, "a");
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->step, subset.step);
    EXPECT_EQ(found->start, subset.start);
    EXPECT_EQ(found->mean, subset.mean);
    EXPECT_EQ(found->rows, subset.rows);
    EXPECT_FALSE(subset_of(catalogue, "b").has_value());
  }
}

TEST(Subset, TravelsBetweenRanks) {
  const std::optional<Subset> subset = Subset{{20, 30}, {2, 0}, {10, 30}, {2, 3}, true, false};
  Encoder out;
  encode(out, subset);
  encode(out, std::nullopt);
  const auto bytes = out.take();
  Decoder in(bytes);
  EXPECT_EQ(decode_subset(in), subset);
  EXPECT_EQ(decode_subset(in), std::nullopt);
  EXPECT_TRUE(in.ok() && in.done());
}

// The values of a dataset: of a point, by its linear index.
double value_of(int64_t point) { return static_cast<double>(point * point % 97) - 40; }

std::map<int64_t, double> means_of(const Subset& subset) {
  std::map<int64_t, double> sums;
  std::map<int64_t, int> counts;
  for (int64_t i = 0; i < elements(subset.shape); ++i)
    if (const int64_t block = stored_at(subset, i); block >= 0) {
      sums[block] += value_of(i);
      ++counts[block];
    }
  for (auto& [block, sum] : sums) sum /= counts[block];
  return sums;
}

// Boxes that divide SHAPE, by one cut of each dimension.
std::vector<Box> divide(Random& random, const Dims& shape) {
  std::vector<Box> boxes{{Dims::filled(shape.rank(), 0), shape}};
  for (int d = 0; d < shape.rank(); ++d) {
    const int64_t cut = pick(random, 0, shape[d]);
    const size_t before = boxes.size();
    for (size_t i = 0; i < before; ++i) {
      Box rest = boxes[i];
      rest.start[d] = cut;
      rest.count[d] = shape[d] - cut;
      boxes[i].count[d] = cut;
      boxes.push_back(rest);
    }
  }
  return boxes;
}

template <typename T>
void check_means(Random& random) {
  const ElementType type = type_of<T>();
  const Subset subset = pick_subset(random, true);
  const auto expected = means_of(subset);
  std::map<int64_t, double> found;
  const auto take = [&](int64_t block, const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    ASSERT_TRUE(found.emplace(block, std::real(value)).second);
  };
  BlockSums rest;
  for (const Box& box : divide(random, subset.shape)) {
    std::vector<T> data;
    for (const int64_t point : points_of(subset.shape, box)) data.push_back(static_cast<T>(value_of(point)));
    const auto means = sum_box(subset, type, box, reinterpret_cast<const std::byte*>(data.data()), {}, rest);
    const auto blocks = points_of(subset.stored(), means.box);
    ASSERT_EQ(means.values.size(), blocks.size() * sizeof(T));
    for (size_t i = 0; i < blocks.size(); ++i) take(blocks[i], means.values.data() + i * sizeof(T));
  }
  for (const auto& [block, sum] : rest) {
    ASSERT_TRUE(is_whole(subset, block, sum));
    std::vector<std::byte> value;
    add_mean(sum, type, value);
    take(block, value.data());
  }
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [block, mean] : expected) ASSERT_NEAR(found.at(block), mean, 1e-5);
}

TEST(BlockMeans, OfBoxesAreThoseOfTheWhole) {
  Random random(3);
  for (int n = 0; n < 300; ++n) {
    check_means<double>(random);
    check_means<float>(random);
    check_means<std::complex<float>>(random);
  }
}

TEST(BlockMeans, OfManyBlocksAreMadeInParts) {
  const Subset subset{{150, 301}, {1, 0}, {149, 300}, {1, 2}, true, false};
  const auto expected = means_of(subset);
  std::vector<double> data;
  for (int64_t i = 0; i < elements(subset.shape); ++i) data.push_back(value_of(i));
  BlockSums rest;
  const auto means =
      sum_box(subset, {Kind::f64}, {{0, 0}, subset.shape}, reinterpret_cast<const std::byte*>(data.data()), {}, rest);
  EXPECT_TRUE(rest.empty());
  ASSERT_EQ(means.values.size(), expected.size() * sizeof(double));
  for (const auto& [block, mean] : expected) {
    double value = 0;
    std::memcpy(&value, means.values.data() + static_cast<size_t>(block) * sizeof value, sizeof value);
    ASSERT_EQ(value, mean);
  }
}

TEST(BlockMeans, OfRunsNeedEachPointOnce) {
  Random random(4);
  for (int n = 0; n < 300; ++n) {
    const Subset subset = pick_subset(random, true);
    const auto expected = means_of(subset);
    const auto runs = pick_runs(random, subset.shape);
    BlockSums sums;
    std::vector<double> data;
    std::map<int64_t, int64_t> counts;
    for (const int64_t point : points_of(*Decomposition::runs(subset.shape, runs))) {
      data.push_back(value_of(point));
      if (const int64_t block = stored_at(subset, point); block >= 0) ++counts[block];
    }
    sum_runs(subset, {Kind::f64}, runs, reinterpret_cast<const std::byte*>(data.data()), sums);
    ASSERT_EQ(sums.size(), counts.size());
    for (const auto& [block, sum] : sums) {
      ASSERT_EQ(sum.count, counts.at(block));
      ASSERT_EQ(is_whole(subset, block, sum), sum.count == points_of(subset, block));
      if (is_whole(subset, block, sum)) {
        ASSERT_NEAR(sum.sum[0] / static_cast<double>(sum.count), expected.at(block), 1e-9);
      }
    }
  }
}

TEST(BlockMeans, APointTwiceInsteadOfAnotherIsNoticed) {
  const Subset subset{{4}, {0}, {4}, {4}, true, false};
  const double data[4] = {1, 2, 3, 4};
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  BlockSums sums;
  const penstock::Run first[] = {{0, 3}}, again{2, 1}, last{3, 1};
  sum_runs(subset, {Kind::f64}, first, bytes, sums);
  BlockSums twice = sums;
  sum_runs(subset, {Kind::f64}, std::span(&again, 1), bytes + 16, twice);
  sum_runs(subset, {Kind::f64}, std::span(&last, 1), bytes + 24, sums);
  EXPECT_FALSE(is_whole(subset, 0, twice.at(0)));
  EXPECT_TRUE(is_whole(subset, 0, sums.at(0)));
}

}  // namespace
}  // namespace penstock
