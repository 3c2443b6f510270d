// Tests of the division of claims: the files of one rank contain exactly its claims, with unique names.
#include "core/placement/claims.hpp"

#include <gtest/gtest.h>

#include <map>

#include "core/model/layout.hpp"

namespace penstock {
namespace {

Catalogue three_datasets() {
  Catalogue c;
  c.datasets = {{"fluid/p", {Kind::f64}, Dims{4, 4}, false},
                {"fluid/rho", {Kind::f64}, Dims{4, 4}, false},
                {"time", {Kind::f64}, Dims{}, false}};
  c.attributes[""]["title"] = text_attribute("title", "run");
  c.attributes["fluid"]["kind"] = text_attribute("kind", "gas");
  c.attributes["fluid/rho"]["units"] = text_attribute("units", "kg");
  return c;
}

Selection rows(int64_t start, int64_t count) {
  return Selection::of_box(Dims{4, 4}, Box{Dims{start, 0}, Dims{count, 4}});
}

TEST(OwnParts, EveryClaimIsADatasetOfItsPackedShape) {
  const Catalogue all = three_datasets();
  const std::vector<Claim> claims{
      {1, rows(2, 1)}, {0, rows(0, 2)}, {1, rows(0, 1)}, {2, Selection::whole(Dims{})}, {0, rows(3, 0)}};
  const auto parts = own_parts(all, claims, false);
  ASSERT_EQ(parts.size(), 1u);
  const Catalogue& c = parts[0].catalogue;
  ASSERT_EQ(c.datasets.size(), 4u);  // the empty claim is omitted
  EXPECT_EQ(c.datasets[0].name, "fluid/p");
  EXPECT_EQ(c.datasets[0].shape, (Dims{2, 4}));
  EXPECT_EQ(c.datasets[1].name, "fluid/rho");
  EXPECT_EQ(c.datasets[2].name, "fluid/rho#000001");
  EXPECT_EQ(c.datasets[3].name, "time");
  EXPECT_EQ(parts[0].claims, (std::vector<int>{1, 0, 2, 3}));
  EXPECT_TRUE(c.attributes.at("fluid/rho#000001").contains("units"));
  EXPECT_TRUE(c.attributes.at("").contains("title"));
  const Attribute& start = c.attributes.at("fluid/rho").at("penstock_start");
  ASSERT_EQ(start.value.size(), 16u);
  EXPECT_EQ(reinterpret_cast<const int64_t*>(start.value.data())[0], 2);
}

TEST(OwnParts, ByGroupEachTopGroupIsAFile) {
  const Catalogue all = three_datasets();
  const std::vector<Claim> claims{{0, rows(0, 1)}, {1, rows(0, 1)}, {2, Selection::whole(Dims{})}};
  const auto parts = own_parts(all, claims, true);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].label, "");
  EXPECT_EQ(parts[0].catalogue.datasets.size(), 1u);
  EXPECT_FALSE(parts[0].catalogue.attributes.contains("fluid"));
  EXPECT_EQ(parts[1].label, "fluid");
  EXPECT_EQ(parts[1].catalogue.datasets.size(), 2u);
  EXPECT_TRUE(parts[1].catalogue.attributes.contains("fluid"));
}

TEST(OwnParts, NamesWithNumberSignsDoNotMeetBlockNumbers) {
  EXPECT_NE(part_dataset_name("a#000001", 0), part_dataset_name("a", 1));
  EXPECT_EQ(part_dataset_name("a", 0), "a");
}

TEST(OwnParts, ARankWithNothingHasNoFile) { EXPECT_TRUE(own_parts(three_datasets(), {}, false).empty()); }

TEST(Slabs, TileEveryDataset) {
  Catalogue all = three_datasets();
  all.datasets.push_back({"wide", {Kind::f32}, Dims{2, 9, 3}, false});
  all.datasets.push_back({"zero", {Kind::f32}, Dims{0, 9}, false});
  for (const int parts : {1, 2, 3, 4, 5, 9, 40}) {
    std::vector<int64_t> held(all.datasets.size());
    const auto files = slabs(all, parts);
    EXPECT_LE(files.size(), static_cast<size_t>(parts));
    for (const auto& file : files)
      for (const Claim& claim : file) {
        EXPECT_GT(claim.selection.count(), 0);
        held[static_cast<size_t>(claim.dataset)] += claim.selection.count();
      }
    for (size_t d = 0; d < held.size(); ++d) EXPECT_EQ(held[d], elements(all.datasets[d].shape)) << parts;
  }
  EXPECT_EQ(slabs(all, 3)[1][0].selection.box().start, (Dims{2, 0}));  // 4 rows: 2, 1, 1
  EXPECT_EQ(slabs(all, 9)[8].back().selection.box().start, (Dims{0, 8, 0}));
}

TEST(Cut, PiecesHoldTheSameElementsWithTheirMemory) {
  const Selection box = Selection::of_box(Dims{6, 10}, Box{Dims{1, 2}, Dims{5, 7}}, Memory::strided(Dims{20, 2}, 3));
  const std::vector<MemoryRun> list{{0, 5, 3, 0}, {7, 20, 11, 0}, {30, 0, 4, 0}};
  const Selection runs = Selection::of_memory_runs(Dims{6, 10}, list);
  for (const Selection& whole : {box, runs})
    for (const int64_t bytes : {1, 8, 24, 100, 1000}) {
      std::map<int64_t, int64_t> memory;
      for (const Selection& piece : cut(whole, 8, bytes)) {
        EXPECT_LE(piece.count() * 8, std::max<int64_t>(8, bytes));
        Cursor cursor(piece);
        for (Segment s; cursor.next(s);)
          for (int64_t i = 0; i < s.length; ++i)
            EXPECT_TRUE(memory.emplace(s.offset + i, s.memory + i * s.stride).second);
      }
      std::map<int64_t, int64_t> expected;
      Cursor cursor(whole);
      for (Segment s; cursor.next(s);)
        for (int64_t i = 0; i < s.length; ++i) expected.emplace(s.offset + i, s.memory + i * s.stride);
      EXPECT_EQ(memory, expected) << bytes;
    }
}

}  // namespace
}  // namespace penstock
