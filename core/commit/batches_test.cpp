// Tests of batches: odd numbers of chunks, one chunk, none, and slices of what ranks have of chunks.
#include <gtest/gtest.h>

#include "core/commit/batches.hpp"

namespace penstock {
namespace {

// Ten chunks of ten f64.
class Batching : public testing::Test {
 protected:
  Batching() {
    contents_.catalogue.datasets = {{"a", {Kind::f64}, Dims{100}}};
    store_.emplace(contents_, nullptr, nullptr, 1);
    store_->cut(0, Tiles(contents_.catalogue.datasets[0], Dims{10}, 0));
  }
  static Claim claim(int64_t begin, int64_t end) {
    return {0, Selection::of_box(Dims{100}, Box{Dims{begin}, Dims{end - begin}}), nullptr, nullptr};
  }

  NewContents contents_;
  std::optional<ChunkStore> store_;
};

TEST_F(Batching, OwnChunksAreThoseOfWhichARankHasAllElements) {
  const std::vector<Claim> claims{claim(5, 75), claim(80, 90)};
  const OwnChunks own = own_chunks(1, *store_, claims);
  std::vector<int64_t> numbers;
  for (const OwnChunk& chunk : own.chunks) numbers.push_back(chunk.number);
  EXPECT_EQ(numbers, (std::vector<int64_t>{1, 2, 3, 4, 5, 6, 8}));
  EXPECT_EQ(own.chunks.back().claim, 1U);
  ASSERT_EQ(own.left.size(), 2U);
  EXPECT_EQ(own.left[0].selection.box().start[0], 5);
  EXPECT_EQ(own.left[1].selection.box().count[0], 5);
  EXPECT_TRUE(own.in_parts);
}

TEST_F(Batching, ListsOfRunsAreNotCut) {
  const penstock::Run run{3, 20};
  const std::vector<Claim> claims{{0, Selection::of_runs(Dims{100}, std::span(&run, 1)), nullptr, nullptr}};
  const OwnChunks own = own_chunks(1, *store_, claims);
  EXPECT_TRUE(own.chunks.empty());
  EXPECT_FALSE(own.in_parts);
}

TEST_F(Batching, ABatchHasChunksUpToItsBytesButOneAtLeast) {
  const std::vector<Claim> claims{claim(0, 70)};
  const std::vector<OwnChunk> own = own_chunks(1, *store_, claims).chunks;
  const auto ends = [&](int64_t bytes) { return batches_of(*store_, own, claims, bytes); };
  EXPECT_EQ(ends(200), (std::vector<size_t>{2, 4, 6, 7}));
  EXPECT_EQ(largest_batch(*store_, own, claims, ends(200)), 160);
  EXPECT_EQ(ends(10), (std::vector<size_t>{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(ends(1000), (std::vector<size_t>{7}));
  EXPECT_TRUE(batches_of(*store_, {}, claims, 200).empty());
  EXPECT_EQ(largest_batch(*store_, {}, claims, {}), 0);
}

TEST_F(Batching, SlicesDivideAllChunks) {
  std::vector<Claim> left;
  for (int64_t at = 0; at < 100; at += 10) left.push_back(claim(at + 2, at + 4));
  const std::vector<int64_t> bytes{160};
  const auto slices = slices_of(*store_, left, bytes, 3);
  ASSERT_EQ(slices.size(), 3U);
  EXPECT_EQ(slices[0].size(), 4U);
  EXPECT_EQ(slices[1].size(), 3U);
  EXPECT_EQ(slices[2].size(), 3U);
  EXPECT_EQ(slices[2].front().selection.box().start[0], 72);
}

TEST(Slices, DivideWhatIsLeftNotWhatIsThere) {
  NewContents contents;
  contents.catalogue.datasets = {{"a", {Kind::f64}, Dims{900}}, {"b", {Kind::f64}, Dims{100}}};
  ChunkStore store(contents, nullptr, nullptr, 1);
  for (size_t d = 0; d < 2; ++d) store.cut(d, Tiles(contents.catalogue.datasets[d], Dims{10}, 0));
  std::vector<Claim> left;
  for (int64_t at = 0; at < 100; at += 10)
    left.push_back({1, Selection::of_box(Dims{100}, Box{Dims{at}, Dims{5}}), nullptr, nullptr});
  const std::vector<int64_t> bytes{0, 400};
  const auto slices = slices_of(store, left, bytes, 5);
  ASSERT_EQ(slices.size(), 5U);
  for (const std::vector<Claim>& slice : slices) EXPECT_EQ(slice.size(), 2U);
}

}  // namespace
}  // namespace penstock
