// Property tests of the proof of exact tiling: it accepts every tiling, and nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/model/catalogue.hpp"
#include "core/model/testing.hpp"
#include "core/model/tiling.hpp"

namespace penstock {
namespace {

using testing::draw;
using testing::Random;
using testing::random_boxes;
uint64_t random_base(Random& random) { return 2 + random() % (tiling_modulus - 3); }

uint64_t multiply(uint64_t a, uint64_t b) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(a) * b % tiling_modulus);
}

// The sum by its definition.
uint64_t brute(const Selection& selection, uint64_t base, int64_t limit) {
  uint64_t sum = 0;
  Cursor cursor(selection);
  for (Segment s; cursor.next(s);)
    for (int64_t i = 0; i < s.length; ++i) {
      if (s.offset + i >= limit) return sum;
      uint64_t power = 1, square = base;
      for (auto e = static_cast<uint64_t>(s.offset + i); e != 0; e >>= 1, square = multiply(square, square))
        if (e & 1) power = multiply(power, square);
      sum = (sum + power) % tiling_modulus;
    }
  return sum;
}

Dims random_shape(Random& random) {
  Dims shape;
  for (int64_t rank = draw(random, max_rank + 1); shape.rank() < rank;)
    shape.push_back(1 + draw(random, rank <= 3 ? 8 : 3));
  return shape;
}

std::vector<Selection> random_tiling(Random& random, const Dims& shape) {
  std::vector<Selection> parts;
  const int64_t n = elements(shape);
  if (draw(random, 2) == 0 && shape.rank() > 0) {  // boxes, split repeatedly
    for (const Box& box : random_boxes(random, shape)) parts.push_back(Selection::of_box(shape, box));
  } else {  // runs, distributed to a few holders in any order
    std::vector<std::vector<Run>> held(static_cast<size_t>(1 + draw(random, 5)));
    for (int64_t at = 0; at < n;) {
      const int64_t length = std::min(n - at, 1 + draw(random, 6));
      held[static_cast<size_t>(draw(random, static_cast<int64_t>(held.size())))].push_back({at, length});
      at += length;
    }
    for (auto& runs : held) {
      std::shuffle(runs.begin(), runs.end(), random);
      parts.push_back(Selection::of_runs(shape, runs));
    }
  }
  return parts;
}

uint64_t total(const std::vector<Selection>& parts, uint64_t base, int64_t limit = INT64_MAX) {
  uint64_t sum = 0;
  for (const Selection& part : parts) sum = tiling_add(sum, tiling_sum(part, base, limit));
  return sum;
}

template <typename F>
void property(uint64_t seed, int count, F f) {
  for (int i = 0; i < count && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed + static_cast<uint64_t>(i)));
    Random random(seed + static_cast<uint64_t>(i));
    f(random);
  }
}

TEST(Tiling, SumsAreTheirDefinition) {
  property(6000000, 3000, [](Random& random) {
    const Dims shape = random_shape(random);
    const uint64_t base = random_base(random);
    for (const Selection& part : random_tiling(random, shape)) {
      EXPECT_EQ(tiling_sum(part, base), brute(part, base, INT64_MAX));
      const int64_t limit = draw(random, elements(shape) + 2);
      EXPECT_EQ(tiling_sum(part, base, limit), brute(part, base, limit)) << "limit " << limit;
    }
  });
}

TEST(Tiling, EveryExactTilingAddsUpToTheWhole) {
  property(7000000, 3000, [](Random& random) {
    const Dims shape = random_shape(random);
    const uint64_t base = random_base(random);
    const auto parts = random_tiling(random, shape);
    EXPECT_EQ(total(parts, base), tiling_sum(elements(shape), base));
    const int64_t limit = draw(random, elements(shape) + 2);
    EXPECT_EQ(total(parts, base, limit), tiling_sum(elements(shape), base, limit)) << "limit " << limit;
  });
}

TEST(Tiling, AHoleAnOverlapOrBothShow) {
  property(8000000, 3000, [](Random& random) {
    const Dims shape = random_shape(random);
    const int64_t n = elements(shape);
    const uint64_t base = random_base(random), whole = tiling_sum(n, base);
    auto parts = random_tiling(random, shape);
    const penstock::Run hole{draw(random, n), 1}, twice{draw(random, n), 1};
    // A hole: one element less.
    std::vector<penstock::Run> rest;
    if (hole.offset > 0) rest.push_back({0, hole.offset});
    if (hole.offset + 1 < n) rest.push_back({hole.offset + 1, n - hole.offset - 1});
    std::vector<Selection> holed{Selection::of_runs(shape, rest)};
    EXPECT_NE(total(holed, base), whole);
    // An overlap: one more.
    parts.push_back(Selection::of_runs(shape, std::span(&twice, 1)));
    EXPECT_NE(total(parts, base), whole);
    // Both: the count is correct, the elements are not. A plain sum of offsets could be deceived.
    if (hole.offset == twice.offset) return;
    holed.push_back(Selection::of_runs(shape, std::span(&twice, 1)));
    EXPECT_NE(total(holed, base), whole);
  });
}

TEST(Tiling, TheFirstWrongElementIsFoundByHalving) {
  property(9000000, 500, [](Random& random) {
    const Dims shape{40, 25};
    const uint64_t base = random_base(random);
    const int64_t missing = draw(random, 1000);
    const penstock::Run rest[] = {{0, missing}, {missing + 1, 999 - missing}};
    const std::vector<Selection> parts{Selection::of_runs(shape, rest)};
    int64_t low = 0, high = 1000;  // total(low) is correct, total(high) is wrong
    while (high - low > 1) {
      const int64_t middle = (low + high) / 2;
      (total(parts, base, middle) == tiling_sum(1000, base, middle) ? low : high) = middle;
    }
    EXPECT_EQ(low, missing);
  });
}

TEST(Tiling, AwkwardBases) {
  const Selection whole = Selection::whole({6, 7});
  for (uint64_t base : {uint64_t{1}, uint64_t{0}, tiling_modulus - 1, tiling_modulus - 2}) {
    EXPECT_EQ(tiling_sum(whole, base), tiling_sum(42, base)) << base;
    EXPECT_EQ(tiling_sum(whole, base), brute(whole, base, INT64_MAX)) << base;
  }
  EXPECT_EQ(tiling_sum(0, 12345), 0u);
  EXPECT_EQ(tiling_add(tiling_modulus - 1, 1), 0u);
}

TEST(Tiling, BillionsOfElementsCostMicroseconds) {
  const int64_t n = int64_t{1} << 20;
  const Dims shape{n, n, n};
  std::vector<Selection> parts;
  for (int64_t k = 0; k < 8; ++k)
    parts.push_back(
        Selection::of_box(shape, {{k / 4 * n / 2, k / 2 % 2 * n / 2, k % 2 * n / 2}, {n / 2, n / 2, n / 2}}));
  EXPECT_EQ(total(parts, 987654321987), tiling_sum(n * n * n, 987654321987));
}

}  // namespace
}  // namespace penstock
