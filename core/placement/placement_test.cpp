// Placement: the files of one rank hold exactly its claims, under names that do not meet.
#include "core/placement/placement.hpp"

#include <gtest/gtest.h>

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
  ASSERT_EQ(c.datasets.size(), 4u);  // the empty claim is left out
  EXPECT_EQ(c.datasets[0].name, "fluid/p");
  EXPECT_EQ(c.datasets[0].shape, (Dims{2, 4}));
  EXPECT_EQ(c.datasets[1].name, "fluid/rho");
  EXPECT_EQ(c.datasets[2].name, "fluid/rho#1");
  EXPECT_EQ(c.datasets[3].name, "time");
  EXPECT_EQ(parts[0].claims, (std::vector<int>{1, 0, 2, 3}));
  EXPECT_TRUE(c.attributes.at("fluid/rho#1").contains("units"));
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
  EXPECT_NE(part_dataset_name("a#1", 0), part_dataset_name("a", 1));
  EXPECT_EQ(part_dataset_name("a", 0), "a");
}

TEST(OwnParts, ARankWithNothingHasNoFile) { EXPECT_TRUE(own_parts(three_datasets(), {}, false).empty()); }

}  // namespace
}  // namespace penstock
