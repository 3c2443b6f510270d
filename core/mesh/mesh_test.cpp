// Tests of meshes: descriptions, and datasets that do not fit them.
#include <gtest/gtest.h>

#include "core/mesh/mesh.hpp"
#include "core/mesh/xdmf.hpp"
#include "core/model/subset.hpp"

namespace penstock {
namespace {

const ElementType f64{Kind::f64}, i32{Kind::i32};

Catalogue catalogue(std::string_view mesh, std::vector<Dataset> datasets, std::string_view center = "") {
  Catalogue all;
  std::ranges::sort(datasets, {}, &Dataset::name);
  all.datasets = std::move(datasets);
  all.attributes["m"].emplace("mesh", text_attribute("mesh", mesh));
  all.attributes["v"].emplace("on", text_attribute("on", "m"));
  if (!center.empty()) all.attributes["v"].emplace("center", text_attribute("center", center));
  return all;
}

std::string said(const Catalogue& all) {
  const auto meshes = meshes_of(all);
  EXPECT_EQ(meshes.status().code(), meshes.ok() ? Code::ok : Code::invalid);
  return meshes.status().message();
}

TEST(Mesh, KindsAreReadWithTheirValues) {
  const std::vector<Dataset> axes{{"x", f64, {5}}, {"y", f64, {4}}, {"z", f64, {3}}};
  const auto with = [](std::vector<Dataset> list, Dataset value) {
    list.push_back(std::move(value));
    return list;
  };
  EXPECT_EQ(said(catalogue("rectilinear,x=x,y=y,z=z", with(axes, {"v", f64, {3, 4, 5}}))), "");
  EXPECT_EQ(said(catalogue("rectilinear,x=x,y=y,z=z", with(axes, {"v", f64, {2, 3, 4}}), "cell")), "");
  EXPECT_EQ(said(catalogue("rectilinear,x=x,y=y", with(axes, {"v", f64, {4, 5, 3}}))), "");
  EXPECT_EQ(said(catalogue("uniform,spacing=1:2", {{"v", f64, {7, 8}}})), "");
  EXPECT_EQ(
      said(catalogue("curvilinear,x=/x,y=y", {{"x", f64, {4, 5}}, {"y", f64, {4, 5}}, {"v", f64, {3, 4}}}, "cell")),
      "");
  EXPECT_EQ(said(catalogue("unstructured,points=p,cells=c,type=hexahedron",
                           {{"p", f64, {20, 3}}, {"c", i32, {6, 8}}, {"v", f64, {20, 3}}})),
            "");
  EXPECT_EQ(said(catalogue("unstructured,points=p,cells=c,type=mixed,count=9",
                           {{"p", f64, {20, 3}}, {"c", i32, {60}}, {"v", f64, {9}}}, "cell")),
            "");
  EXPECT_EQ(said(catalogue("blocks,corners=c,spacing=1:1:1", {{"c", f64, {6, 3}}, {"v", f64, {6, 2, 2, 2}}})), "");
  EXPECT_EQ(said(catalogue("particles,x=x,y=y", {{"x", f64, {9}}, {"y", f64, {9}}, {"v", f64, {9}}})), "");
}

TEST(Mesh, WhatDoesNotFitIsNamed) {
  const std::vector<Dataset> flat{{"x", f64, {5}}, {"y", f64, {4}}, {"v", f64, {5, 4}}};
  EXPECT_EQ(said(catalogue("rectilinear,x=x,y=y", flat)),
            "'v' f64 (5, 4) is on mesh 'm': at its nodes there are (4, 5) values");
  EXPECT_EQ(said(catalogue("rectilinear,x=x,y=y", flat, "face")),
            "'v' f64 (5, 4) is on mesh 'm': attribute center is 'face', not node or cell");
  EXPECT_EQ(said(catalogue("rectilinear,x=x", flat)),
            "mesh 'm' (rectilinear,x=x): it needs x= and y=, and z= in three dimensions");
  EXPECT_EQ(said(catalogue("rectilinear,x=x,y=q", flat)),
            "mesh 'm' (rectilinear,x=x,y=q): y=q: there is no such dataset");
  EXPECT_EQ(said(catalogue("rectilinear,x=x,y=v", flat)),
            "mesh 'm' (rectilinear,x=x,y=v): y: 'v' is f64 (5, 4), it would have 1 dimension");
  EXPECT_EQ(said(catalogue("rectlinear,x=x", flat)),
            "mesh 'm' (rectlinear,x=x): 'rectlinear' is no kind of mesh: uniform, rectilinear, curvilinear, "
            "unstructured, blocks, particles");
  EXPECT_EQ(said(catalogue("uniform,spacing=1:a", flat)),
            "mesh 'm' (uniform,spacing=1:a): spacing=1:a are no numbers with colons between them");
  EXPECT_EQ(said(catalogue("uniform,spacing=1:nan", flat)),
            "mesh 'm' (uniform,spacing=1:nan): spacing=1:nan are no numbers with colons between them");
  EXPECT_EQ(said(catalogue("uniform,spacing=1:1,start=2", flat)),
            "mesh 'm' (uniform,spacing=1:1,start=2): 'start' says nothing of this kind");
  EXPECT_EQ(said(catalogue("uniform,spacing=1:1,spacing=2:2", flat)),
            "mesh 'm' (uniform,spacing=1:1,spacing=2:2): 'spacing' is there twice");
  EXPECT_EQ(said(catalogue("uniform,big", flat)), "mesh 'm' (uniform,big): 'big' is not NAME=VALUE");
  EXPECT_EQ(said(catalogue("particles,x=x,y=y", flat)),
            "mesh 'm' (particles,x=x,y=y): 'y' and 'x' have not as many points");
  EXPECT_EQ(said(catalogue("unstructured,points=v,cells=v,type=triangle", {{"v", i32, {7, 3}}})),
            "");  // its own points and cells may be values too
  EXPECT_EQ(said(catalogue("unstructured,points=v,cells=v,type=wedge", {{"v", i32, {7, 3}}})),
            "mesh 'm' (unstructured,points=v,cells=v,type=wedge): cells: 'v' is i32 (7, 3): a wedge has 6 nodes");
  Catalogue lost = catalogue("uniform,spacing=1:1", flat);
  lost.attributes["v"].insert_or_assign("on", text_attribute("on", "n"));
  EXPECT_EQ(said(lost), "'v' is on mesh 'n', but no object of that name has an attribute mesh");
}

TEST(Mesh, TextsGoIntoXmlAsTheyAre) {
  Catalogue all = catalogue("uniform,spacing=1:1", {{"v", f64, {3, 4}}, {"<&\">", f64, {3, 4}}, {"a:b", f64, {3, 4}}});
  all.attributes.clear();
  const auto grids = grids_of(all);
  ASSERT_TRUE(grids.ok());
  const std::string text = xdmf("a&b.h5", *grids);
  EXPECT_NE(text.find("a&amp;b.h5:/&lt;&amp;&quot;&gt;"), std::string::npos) << text;
  EXPECT_EQ(text.find("a:b"), std::string::npos);
  EXPECT_EQ(text.find('\1'), std::string::npos);
}

TEST(Mesh, CellsOfAPlaneLieBetweenNodesThatAreListed) {
  const auto grids = grids_of(
      catalogue("uniform,origin=10:20,spacing=1:2", {{"v", f64, {2, 3}}}, "cell"));  // y first, as in the array
  ASSERT_TRUE(grids.ok());
  const std::string& body = grids->at(0).body;
  const size_t x = body.find(">20 22 24 26</DataItem>"), y = body.find(">10 11 12</DataItem>");
  EXPECT_NE(x, std::string::npos) << body;
  EXPECT_NE(y, std::string::npos) << body;
  EXPECT_LT(x, y) << body;
  EXPECT_NE(body.find("2DRectMesh\" Dimensions=\"3 4\""), std::string::npos) << body;
}

TEST(Mesh, BlocksAreASetOfGridsWithinLimits) {
  const auto blocks = [](int64_t count) {
    return grids_of(catalogue("blocks,corners=c,spacing=1:1", {{"c", f64, {count, 2}}, {"v", f64, {count, 2, 2}}}));
  };
  const auto three = blocks(3);
  ASSERT_TRUE(three.ok());
  ASSERT_EQ(three->size(), 1u);
  EXPECT_TRUE((*three)[0].is_set);
  const auto lying = grids_of(catalogue("blocks,corners=c,spacing=2:1", {{"c", f64, {3, 3}}, {"v", f64, {3, 4, 5}}}));
  ASSERT_TRUE(lying.ok());
  EXPECT_NE((*lying)[0].body.find("3DCoRectMesh\" Dimensions=\"2 5 6\""), std::string::npos) << (*lying)[0].body;
  EXPECT_EQ(blocks(100'001).status().code(), Code::unsupported);
}

// Says that of DATASET only SUBSET is stored.
void store(Catalogue& all, const std::string& dataset, const Subset& subset) {
  for (Attribute& one : attributes_of(subset)) all.attributes[dataset].insert_or_assign(one.name, one);
}

TEST(Mesh, AUniformMeshLiesWhereItsStoredValuesAre) {
  const auto place = [](const Subset& subset, std::string_view center) {
    Catalogue all = catalogue("uniform,origin=10:20,spacing=1:2", {{"v", f64, subset.stored()}}, center);
    store(all, "v", subset);
    const auto meshes = meshes_of(all);
    EXPECT_TRUE(meshes.ok()) << meshes.status().message();
    return std::pair(meshes->at(0).mesh.origin, meshes->at(0).mesh.spacing);
  };
  using Numbers = std::vector<double>;
  const Subset every{{20, 30}, {4, 0}, {10, 30}, {2, 3}, false, false};
  Subset means = every;
  means.mean = true;
  // Points 4 and 0, and the middles of 4 to 5 and 0 to 2.
  EXPECT_EQ(place(every, "node"), std::pair(Numbers({14, 20}), Numbers({2, 6})));
  EXPECT_EQ(place(means, "node"), std::pair(Numbers({14.5, 22}), Numbers({2, 6})));
  // The middle of cell 4 is 4.5, around which 2 cells begin at 3.5; blocks of cells begin where they begin.
  EXPECT_EQ(place(every, "cell"), std::pair(Numbers({13.5, 18}), Numbers({2, 6})));
  EXPECT_EQ(place(means, "cell"), std::pair(Numbers({14, 20}), Numbers({2, 6})));
}

TEST(Mesh, PlainGridsLieWhereTheirStoredValuesAre) {
  Catalogue all;
  all.datasets = {{"v", f64, {4, 5}}};
  store(all, "v", {{20, 10}, {4, 0}, {16, 10}, {4, 2}, false, false});
  const auto grids = grids_of(all);
  ASSERT_TRUE(grids.ok());
  EXPECT_NE(grids->at(0).body.find("0 4 0<"), std::string::npos) << grids->at(0).body;
  EXPECT_NE(grids->at(0).body.find("1 4 2<"), std::string::npos) << grids->at(0).body;
}

TEST(Mesh, ValuesAndNodesAreStoredAlike) {
  const Subset x{{10}, {0}, {10}, {2}, false, false}, y{{8}, {2}, {6}, {3}, false, false};
  const Subset v{{8, 10}, {2, 0}, {6, 10}, {3, 2}, false, false};
  Catalogue all = catalogue("rectilinear,x=x,y=y", {{"x", f64, {5}}, {"y", f64, {2}}, {"v", f64, {2, 5}}});
  const std::string other = "'v' is on mesh 'm', but the output profile stores other points of it than of ";
  EXPECT_EQ(said(all), "");
  store(all, "v", v);
  EXPECT_TRUE(said(all).starts_with(other + "'y'")) << said(all);
  store(all, "y", y);
  EXPECT_TRUE(said(all).starts_with(other + "'x'")) << said(all);
  store(all, "x", x);
  EXPECT_EQ(said(all), "");
  all.attributes["v"].erase("subset_every");
  Subset means = v;
  means.mean = true;
  store(all, "v", means);  // at the middle of each block, where the nodes are not
  EXPECT_TRUE(said(all).starts_with(other)) << said(all);

  Catalogue grid = catalogue("unstructured,points=p,cells=c,type=triangle",
                             {{"p", f64, {7, 3}}, {"c", i32, {9, 3}}, {"v", f64, {7}}});
  EXPECT_EQ(said(grid), "");
  store(grid, "p", {{14, 3}, {0, 0}, {14, 3}, {2, 1}, false, false});
  EXPECT_EQ(said(grid), "'p' belongs to mesh 'm', which is unstructured: the output profile cannot store a part of it");
  store(grid, "c", {{12, 3}, {0, 0}, {9, 3}, {1, 1}, false, false});  // the first 9
  EXPECT_TRUE(said(grid).starts_with("'c' belongs to mesh 'm'")) << said(grid);

  Catalogue blocks = catalogue("blocks,corners=c,spacing=1:1", {{"c", f64, {6, 2}}, {"v", f64, {6, 2, 2}}});
  store(blocks, "v", {{12, 2, 2}, {0, 0, 0}, {12, 2, 2}, {2, 1, 1}, false, false});
  EXPECT_TRUE(said(blocks).starts_with(other + "'c'")) << said(blocks);
  store(blocks, "c", {{12, 2}, {0, 0}, {12, 2}, {2, 1}, false, false});
  EXPECT_EQ(said(blocks), "");
  store(blocks, "v", {{12, 4, 4}, {0, 0, 0}, {12, 4, 4}, {2, 2, 2}, false, false});
  EXPECT_EQ(said(blocks),
            "'v' belongs to mesh 'm', which is of whole blocks: the output profile cannot store a part of it");

  Catalogue particles = catalogue("particles,x=x,y=y", {{"x", f64, {9}}, {"y", f64, {9}}, {"v", f64, {9}}});
  for (const char* name : {"x", "y", "v"}) store(particles, name, {{0}, {0}, {0}, {10}, false, true});
  EXPECT_EQ(said(particles), "");
  store(particles, "v", {{0}, {0}, {0}, {9}, false, true});
  EXPECT_TRUE(said(particles).starts_with(other + "'x'")) << said(particles);
}

}  // namespace
}  // namespace penstock
