// Property tests of selections: thousands of random cases against a reference that expands everything.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>

#include "core/model/catalogue.hpp"
#include "core/model/selection.hpp"
#include "core/model/tiling.hpp"

namespace penstock {
namespace {

using Random = std::mt19937_64;
int64_t draw(Random& random, int64_t below) { return static_cast<int64_t>(random() % static_cast<uint64_t>(below)); }

// Every selected element: its offset in the dataset and its place in memory. Sorted, since offsets are unique.
using Expanded = std::map<int64_t, int64_t>;

struct Case {
  Selection selection;
  Expanded expanded;
  std::vector<int64_t> packed;  // the offsets in packing order
};

Dims random_shape(Random& random, int rank) {
  Dims shape;
  const int64_t most = rank <= 2 ? 9 : rank <= 4 ? 5 : 3;
  for (int d = 0; d < rank; ++d) shape.push_back(1 + draw(random, most));
  return shape;
}

Case random_box(Random& random, const Dims& shape) {
  const int rank = shape.rank();
  Box box;
  for (int d = 0; d < rank; ++d) {
    const bool whole = draw(random, 3) == 0;  // often, so that dimensions are joined
    box.start.push_back(whole ? 0 : draw(random, shape[d]));
    box.count.push_back(whole ? shape[d] : draw(random, shape[d] - box.start[d] + 1));
    if (box.count[d] == 0 && draw(random, 4) != 0) box.count[d] = 1;  // empty boxes only rarely
  }
  // Memory: contiguous, or any order of dimensions with gaps between them, as from ghost cells and transposes.
  const bool contiguous = draw(random, 3) == 0;
  Memory memory;
  if (!contiguous) {
    std::vector<int> order(static_cast<size_t>(rank));
    for (int d = 0; d < rank; ++d) order[static_cast<size_t>(d)] = d;
    if (draw(random, 2) == 0) std::reverse(order.begin(), order.end());
    if (draw(random, 3) == 0) std::shuffle(order.begin(), order.end(), random);
    memory.offset = draw(random, 5);
    memory.stride = Dims::filled(rank, 1);
    int64_t next = 1 + (draw(random, 3) == 0 ? draw(random, 3) : 0);
    for (int d : order) {
      memory.stride[d] = next;
      next *= std::max<int64_t>(1, box.count[d] + (draw(random, 2) == 0 ? draw(random, 3) : 0));
    }
  }
  Case c{contiguous ? Selection::of_box(shape, box) : Selection::of_box(shape, box, memory), {}, {}};
  Dims index = Dims::filled(rank, 0);
  const int64_t n = elements(box.count);
  for (int64_t i = 0; i < n; ++i) {
    int64_t offset = 0, place = memory.offset;
    for (int d = 0; d < rank; ++d) {
      offset = offset * shape[d] + box.start[d] + index[d];
      if (!contiguous) place += index[d] * memory.stride[d];
    }
    // A scalar's memory has no strides, only an offset.
    c.expanded[offset] = contiguous ? i : place;
    c.packed.push_back(offset);
    for (int d = rank - 1; d >= 0 && ++index[d] == box.count[d]; --d) index[d] = 0;
  }
  return c;
}

Case random_runs(Random& random, const Dims& shape) {
  const int64_t n = elements(shape);
  std::vector<Run> runs;
  for (int64_t at = 0; at < n;) {
    const int64_t length = 1 + draw(random, 1 + draw(random, 8));
    if (draw(random, 2) == 0) runs.push_back({at, std::min(length, n - at)});
    if (draw(random, 10) == 0) runs.push_back({at, 0});
    at += length;
  }
  if (draw(random, 3) != 0) std::shuffle(runs.begin(), runs.end(), random);
  Case c{Selection::of_runs(shape, runs), {}, {}};
  int64_t memory = 0;
  for (const Run& run : runs)
    for (int64_t i = 0; i < run.length; ++i) c.expanded[run.offset + i] = memory++;
  for (const auto& [offset, place] : c.expanded) c.packed.push_back(offset);
  return c;
}

Case random_case(Random& random, const Dims& shape) {
  return draw(random, 3) == 0 ? random_runs(random, shape) : random_box(random, shape);
}

// The result of a cursor over [BEGIN, END) of SELECTION; segments ascend and are not empty.
Expanded walk(const Selection& selection, int64_t begin, int64_t end) {
  Expanded seen;
  Cursor cursor(selection, begin, end);
  int64_t last = begin;
  for (Segment s; cursor.next(s); last = s.offset + s.length) {
    EXPECT_GE(s.offset, last);
    EXPECT_GT(s.length, 0);
    EXPECT_LE(s.offset + s.length, end);
    for (int64_t i = 0; i < s.length; ++i) EXPECT_TRUE(seen.emplace(s.offset + i, s.memory + i * s.stride).second);
  }
  Segment after;
  EXPECT_FALSE(cursor.next(after));
  return seen;
}

Expanded walk(const Selection& selection) { return walk(selection, 0, INT64_MAX); }

Expanded window(const Expanded& all, int64_t begin, int64_t end) {
  return Expanded(all.lower_bound(begin), begin < end ? all.lower_bound(end) : all.lower_bound(begin));
}

// Runs F(random, case number) for COUNT cases, each with its own seed; prints the seed of a failure.
template <typename F>
void property(uint64_t seed, int count, F f) {
  for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed + static_cast<uint64_t>(i)));
    Random random(seed + static_cast<uint64_t>(i));
    f(random, i);
  }
}

TEST(Selection, CursorYieldsExactlyTheElementsOfAnyWindow) {
  property(1000000, 6000, [](Random& random, int i) {
    const Dims shape = random_shape(random, i % (max_rank + 1));
    const Case c = random_case(random, shape);
    EXPECT_EQ(c.selection.count(), static_cast<int64_t>(c.expanded.size()));
    EXPECT_EQ(walk(c.selection), c.expanded);
    for (int k = 0; k < 4; ++k) {
      const int64_t begin = draw(random, elements(shape) + 1), end = draw(random, elements(shape) + 2);
      EXPECT_EQ(walk(c.selection, begin, std::max(begin, end)), window(c.expanded, begin, end))
          << begin << " to " << end;
    }
  });
}

TEST(Selection, SegmentsAreAsLongAsTheyCanBe) {
  const auto segments = [](const Selection& selection) {
    Cursor cursor(selection);
    int64_t n = 0;
    for (Segment s; cursor.next(s);) ++n;
    return n;
  };
  EXPECT_EQ(segments(Selection::whole({4, 5, 6})), 1);
  EXPECT_EQ(segments(Selection::whole({})), 1);
  EXPECT_EQ(segments(Selection::of_box({4, 5, 6}, {{1, 0, 0}, {2, 5, 6}})), 1);
  EXPECT_EQ(segments(Selection::of_box({4, 5, 6}, {{1, 1, 0}, {2, 3, 6}})), 2);
  EXPECT_EQ(segments(Selection::of_box({4, 5, 6}, {{0, 0, 2}, {1, 1, 3}})), 1);
  EXPECT_EQ(segments(Selection::of_box({4, 1, 6}, {{0, 0, 0}, {4, 1, 6}})), 1);
  EXPECT_EQ(segments(Selection::of_box({4, 5}, {{0, 0}, {4, 5}}, Memory::inside({6, 7}, {1, 1}))), 4);
  const penstock::Run touching[] = {{0, 3}, {3, 4}, {10, 2}};
  EXPECT_EQ(segments(Selection::of_runs({20}, touching)), 2);
}

TEST(Selection, RankFirstLastAndContains) {
  property(2000000, 4000, [](Random& random, int i) {
    const Dims shape = random_shape(random, i % (max_rank + 1));
    const Case c = random_case(random, shape);
    EXPECT_EQ(c.selection.first(), c.expanded.empty() ? 0 : c.expanded.begin()->first);
    EXPECT_EQ(c.selection.last(), c.expanded.empty() ? 0 : c.expanded.rbegin()->first + 1);
    int64_t below = 0;
    for (int64_t offset = 0; offset < elements(shape); ++offset) {
      EXPECT_EQ(c.selection.count_below(offset), below) << offset;
      EXPECT_EQ(c.selection.contains(offset), c.expanded.contains(offset)) << offset;
      below += c.expanded.contains(offset);
    }
    for (int64_t limit : {elements(shape), elements(shape) + 7, INT64_MAX})
      EXPECT_EQ(c.selection.count_below(limit), below) << limit;
    EXPECT_EQ(c.selection.count_below(-5), 0);
  });
}

TEST(Selection, IntersectionAgainstBruteForce) {
  int shared = 0;
  property(3000000, 6000, [&](Random& random, int i) {
    const Dims shape = random_shape(random, i % (max_rank + 1));
    const Case a = random_case(random, shape), b = random_case(random, shape);
    Expanded expected;  // position in b's packed array -> a's memory
    for (size_t k = 0; k < b.packed.size(); ++k)
      if (const auto at = a.expanded.find(b.packed[k]); at != a.expanded.end())
        expected[static_cast<int64_t>(k)] = at->second;
    const auto both = intersect(a.selection, b.selection);
    EXPECT_EQ(both.has_value(), !expected.empty());
    if (!both) return;
    ++shared;
    EXPECT_EQ(both->shape(), packed_shape(b.selection));
    EXPECT_EQ(both->count(), static_cast<int64_t>(expected.size()));
    EXPECT_EQ(walk(*both), expected);
  });
  EXPECT_GT(shared, 1000);
}

TEST(Selection, PackedFormsHoldTheSameElements) {
  property(4000000, 4000, [](Random& random, int i) {
    const Dims shape = random_shape(random, i % (max_rank + 1));
    const Case c = random_case(random, shape);
    EXPECT_EQ(elements(packed_shape(c.selection)), c.selection.count());
    Expanded own;
    for (size_t k = 0; k < c.packed.size(); ++k) own[static_cast<int64_t>(k)] = c.expanded.at(c.packed[k]);
    EXPECT_EQ(walk(in_packed(c.selection)), own);

    const int64_t begin = draw(random, elements(shape) + 1), end = begin + draw(random, elements(shape) + 1);
    const Selection packed = c.selection.packed(begin, end);
    EXPECT_EQ(packed.shape(), shape);
    Expanded kept = c.selection.is_box() ? c.expanded : window(c.expanded, begin, end);
    int64_t place = 0;
    for (auto& [offset, memory] : kept) memory = place++;
    EXPECT_EQ(walk(packed), kept);
  });
}

TEST(Selection, EncodeRoundTrips) {
  property(5000000, 2000, [](Random& random, int i) {
    const Dims shape = random_shape(random, i % (max_rank + 1));
    const Case c = random_case(random, shape);
    Encoder out;
    out.value(int32_t{7});
    c.selection.encode(out);
    out.value(int32_t{8});
    const auto bytes = out.take();
    Decoder in(bytes);
    EXPECT_EQ(in.value<int32_t>(), 7);
    const Selection back = Selection::decode(in);
    EXPECT_EQ(in.value<int32_t>(), 8);
    EXPECT_TRUE(in.ok() && in.done());
    EXPECT_EQ(back.shape(), shape);
    EXPECT_EQ(back.is_box(), c.selection.is_box());
    EXPECT_EQ(back.count(), c.selection.count());
    EXPECT_EQ(walk(back), c.expanded);
    // A truncated text is rejected.
    Decoder cut{std::span(bytes).first(static_cast<size_t>(draw(random, static_cast<int64_t>(bytes.size()) - 4)))};
    (void)cut.value<int32_t>();
    (void)Selection::decode(cut);
    (void)cut.value<int32_t>();
    EXPECT_FALSE(cut.ok());
  });
}

TEST(Selection, HugeShapesCostNothing) {
  const int64_t big = int64_t{1} << 20;
  const Dims shape{big, big, big};  // 2^60 elements
  const Box box{{big - 2, 5, 7}, {2, 3, 4}};
  const Selection s = Selection::of_box(shape, box);
  EXPECT_EQ(s.count(), 24);
  EXPECT_EQ(s.last(), (big - 1) * big * big + 7 * big + 11);
  EXPECT_EQ(s.count_below((big - 1) * big * big), 12);
  EXPECT_EQ(walk(s, (big - 1) * big * big, INT64_MAX).size(), 12u);
  const penstock::Run runs[] = {{(big - 1) * big * big, 3}, {5, 2}};
  EXPECT_EQ(walk(Selection::of_runs(shape, runs)).rbegin()->first, (big - 1) * big * big + 2);
  EXPECT_TRUE(intersect(s, Selection::whole(shape)).has_value());
  EXPECT_FALSE(intersect(s, Selection::of_box(shape, {{0, 0, 0}, {big - 2, big, big}})).has_value());
}

}  // namespace
}  // namespace penstock
