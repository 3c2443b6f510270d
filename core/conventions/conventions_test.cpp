// Tests of conventions: CF and openPMD metadata of meshes and names. tests/python/test_conventions.py reads whole files
// with other libraries.
#include "core/conventions/conventions.hpp"

#include <gtest/gtest.h>

namespace penstock {
namespace {

void set(Catalogue& catalogue, const std::string& object, const std::string& name, const std::string& value) {
  catalogue.attributes[object][name] = text_attribute(name, value);
}

std::string word(const Catalogue& catalogue, const std::string& object, const std::string& name) {
  const auto list = catalogue.attributes.find(object);
  if (list == catalogue.attributes.end() || !list->second.contains(name)) return "none";
  return text(list->second.at(name));
}

Catalogue with(std::vector<Dataset> datasets) {
  Catalogue catalogue;
  catalogue.datasets = std::move(datasets);
  return catalogue;
}

TEST(Conventions, AreNamed) {
  EXPECT_EQ(*parse_convention("cf"), Convention::cf);
  EXPECT_EQ(*parse_convention("openPMD-1.1.0"), Convention::openpmd);
  EXPECT_EQ(*parse_convention(""), Convention::none);
  EXPECT_EQ(parse_convention("COARDS").status().code(), Code::invalid);
}

TEST(Cf, UniformMeshesGetCoordinates) {
  Catalogue catalogue = with({{"rho", {Kind::f64}, {2, 3}}, {"v", {Kind::f32}, {2, 3, 2}}});
  set(catalogue, "grid", "mesh", "uniform,origin=1:10,spacing=0.5:2");
  set(catalogue, "grid", "units", "m");
  for (const char* name : {"rho", "v"}) set(catalogue, name, "on", "grid"), set(catalogue, name, "center", "cell");
  const auto added = follow_cf(catalogue);
  ASSERT_TRUE(added.ok()) << added.status().message();
  ASSERT_EQ(added->size(), 2u);
  EXPECT_EQ((*added)[0].dataset.name, "y");
  EXPECT_EQ((*added)[0].values, (std::vector<double>{1.25, 1.75}));
  EXPECT_EQ((*added)[1].dataset.name, "x");
  EXPECT_EQ((*added)[1].values, (std::vector<double>{11, 13, 15}));
  EXPECT_EQ(word(catalogue, "x", "axis"), "X");
  EXPECT_EQ(word(catalogue, "x", "units"), "m");
  EXPECT_EQ(word(catalogue, "", "Conventions"), "CF-1.11");
  EXPECT_EQ(catalogue.attributes["v"]["dimensions"].shape, (Dims{3}));
}

TEST(Cf, NodesAndCellsHaveTheirOwnCoordinates) {
  Catalogue catalogue = with({{"a", {Kind::f64}, {3, 3}}, {"b", {Kind::f64}, {2, 2}}});
  set(catalogue, "grid", "mesh", "uniform,spacing=1:1");
  set(catalogue, "a", "on", "grid");
  set(catalogue, "b", "on", "grid");
  set(catalogue, "b", "center", "cell");
  const auto added = follow_cf(catalogue);
  ASSERT_TRUE(added.ok());
  ASSERT_EQ(added->size(), 4u);
  EXPECT_EQ((*added)[1].dataset.name, "grid_x");
  EXPECT_EQ((*added)[3].dataset.name, "grid_cell_x");
}

TEST(Cf, WhatTheProgramSaidStays) {
  Catalogue catalogue = with({{"rho", {Kind::f64}, {2, 3}}, {"x", {Kind::f64}, {3}}, {"y", {Kind::f64}, {2}}});
  set(catalogue, "grid", "mesh", "rectilinear,x=x,y=y");
  set(catalogue, "rho", "on", "grid");
  set(catalogue, "x", "axis", "Y");
  set(catalogue, "", "Conventions", "CF-1.6");
  ASSERT_TRUE(follow_cf(catalogue).ok());
  EXPECT_EQ(word(catalogue, "x", "axis"), "Y");
  EXPECT_EQ(word(catalogue, "y", "axis"), "Y");
  EXPECT_EQ(word(catalogue, "", "Conventions"), "CF-1.6");
}

TEST(Cf, ScatteredValuesNameTheirCoordinates) {
  Catalogue catalogue = with({{"p/m", {Kind::f64}, {5}}, {"p/x", {Kind::f64}, {5}}, {"p/y", {Kind::f64}, {5}}});
  set(catalogue, "p", "mesh", "particles,x=p/x,y=p/y");
  set(catalogue, "p/m", "on", "p");
  ASSERT_TRUE(follow_cf(catalogue).ok());
  EXPECT_EQ(word(catalogue, "p/m", "coordinates"), "p__x p__y");
}

TEST(OpenPmd, CompletesWhatIsRequired) {
  Catalogue catalogue = with({{"data/100/fields/B/x", {Kind::f64}, {2, 3}},
                              {"data/100/fields/B/y", {Kind::f64}, {2, 3}},
                              {"data/100/fields/rho", {Kind::f32}, {2, 3}},
                              {"data/100/particles/e/position/x", {Kind::f64}, {7}},
                              {"other", {Kind::i32}, {1}}});
  set(catalogue, "grid", "mesh", "uniform,origin=1:2,spacing=3:4");
  set(catalogue, "data/100/fields/rho", "on", "grid");
  set(catalogue, "data/100/fields/rho", "geometry", "thetaMode");
  ASSERT_TRUE(follow_openpmd(catalogue, "penstock 1.2").ok());
  EXPECT_EQ(word(catalogue, "", "openPMD"), "1.1.0");
  EXPECT_EQ(word(catalogue, "", "softwareVersion"), "1.2");
  EXPECT_EQ(word(catalogue, "data/100/fields/rho", "geometry"), "thetaMode");
  EXPECT_EQ(word(catalogue, "data/100/fields/B", "geometry"), "cartesian");
  EXPECT_TRUE(catalogue.attributes["data/100/fields/B/y"].contains("unitSI"));
  EXPECT_TRUE(catalogue.attributes["data/100/particles/e/positionOffset/x"].contains("value"));
  EXPECT_FALSE(catalogue.attributes.contains("other"));
}

TEST(OpenPmd, SaysWhatIsMissing) {
  Catalogue none = with({{"rho", {Kind::f64}, {2}}});
  EXPECT_NE(follow_openpmd(none, "p").message().find("data/ITERATION/fields/NAME"), std::string::npos);
  Catalogue nowhere = with({{"data/1/particles/e/mass", {Kind::f64}, {2}}});
  EXPECT_NE(follow_openpmd(nowhere, "p").message().find("position"), std::string::npos);
  Catalogue uneven = with({{"data/1/fields/E/x", {Kind::f64}, {2}}, {"data/1/fields/E/y", {Kind::f64}, {3}}});
  EXPECT_NE(follow_openpmd(uneven, "p").message().find("one shape"), std::string::npos);
  Catalogue ragged =
      with({{"data/1/particles/e/mass", {Kind::f64}, {2}}, {"data/1/particles/e/position/x", {Kind::f64}, {3}}});
  EXPECT_NE(follow_openpmd(ragged, "p").message().find("one value for each particle"), std::string::npos);
}

}  // namespace
}  // namespace penstock
