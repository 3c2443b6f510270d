// CF: dimensions, coordinates and axes for values on meshes, as netCDF users expect them.
#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/conventions/conventions.hpp"
#include "core/mesh/mesh.hpp"
#include "core/netcdf/dimensions.hpp"
#include "core/netcdf/names.hpp"

namespace penstock {
namespace {

constexpr std::array<const char*, 3> axis_names = {"x", "y", "z"};
constexpr std::array<const char*, 3> index_names = {"i", "j", "k"};

class Cf {
 public:
  explicit Cf(Catalogue& catalogue) : catalogue_(catalogue) {}

  Result<std::vector<Added>> follow() {
    PENSTOCK_ASSIGN(const std::vector<MeshWithValues> meshes, meshes_of(catalogue_));
    std::set<std::pair<std::string, bool>> uniform;  // mesh, and whether at its cells
    for (const MeshWithValues& one : meshes)
      for (const Values& values : one.values)
        if (one.mesh.kind == MeshKind::uniform) uniform.emplace(one.mesh.name, values.at_cells);
    plain_ = uniform.size() == 1;
    // By name: changes here move no dataset.
    for (const MeshWithValues& one : meshes) describe(one);
    set_if_absent("", "Conventions", "CF-1.11");
    add_time();
    return std::move(added_);
  }

 private:
  using Names = std::vector<std::string>;

  void set_if_absent(const std::string& object, const std::string& name, const std::string& value) {
    catalogue_.attributes[object].try_emplace(name, text_attribute(name, value));
  }

  void name_dimensions(const std::string& dataset, const Names& names) {
    catalogue_.attributes[dataset].try_emplace(std::string(naming_attribute), naming(names));
  }

  void name_coordinates(const std::string& dataset, const Names& names) {
    Names encoded;
    for (const std::string& name : names) encoded.push_back(netcdf::encode_name(name));
    if (!encoded.empty()) set_if_absent(dataset, "coordinates", fmt::format("{}", fmt::join(encoded, " ")));
  }

  // A name that belongs to MESH: "grid_j", "grid_cell_j".
  static std::string own(const Mesh& mesh, bool at_cells, const std::string& word) {
    return fmt::format("{}_{}{}", mesh.name, at_cells ? "cell_" : "", word);
  }

  void describe(const MeshWithValues& one) {
    const Mesh& mesh = one.mesh;
    if (mesh.kind == MeshKind::rectilinear)
      for (size_t i = 0; i < mesh.axes.size(); ++i) describe_axis(mesh.axes[i], i);
    if (mesh.kind == MeshKind::curvilinear)
      for (const std::string& axis : mesh.axes) name_dimensions(axis, structured(mesh, false));
    if (mesh.kind == MeshKind::particles || mesh.kind == MeshKind::unstructured)
      for (const std::string& axis : mesh.axes) name_dimensions(axis, {own(mesh, false, "point")});
    for (const Values& values : one.values) {
      Names names = dimensions(mesh, values);
      if (values.components > 1 || values.dataset->shape.rank() > static_cast<int>(names.size()))
        names.push_back(fmt::format("component_{}", values.components));
      name_dimensions(values.dataset->name, names);
      const bool at_points =
          mesh.kind == MeshKind::curvilinear || mesh.kind == MeshKind::particles || mesh.kind == MeshKind::unstructured;
      if (at_points && !values.at_cells) name_coordinates(values.dataset->name, mesh.axes);
    }
  }

  Names dimensions(const Mesh& mesh, const Values& values) {
    switch (mesh.kind) {
      case MeshKind::uniform: return add_axes(mesh, values);
      case MeshKind::rectilinear: {
        Names names;
        for (auto axis = mesh.axes.rbegin(); axis != mesh.axes.rend(); ++axis)
          names.push_back(values.at_cells ? *axis + "_cell" : *axis);
        return names;
      }
      case MeshKind::curvilinear: return structured(mesh, values.at_cells);
      case MeshKind::blocks: {
        Names names = structured(mesh, values.at_cells);
        names.insert(names.begin(), own(mesh, false, "block"));
        return names;
      }
      default: return {own(mesh, false, values.at_cells ? "cell" : "point")};
    }
  }

  static Names structured(const Mesh& mesh, bool at_cells) {
    Names names;
    for (int d = mesh.dimensions; d-- > 0;) names.push_back(own(mesh, at_cells, index_names[static_cast<size_t>(d)]));
    return names;
  }

  // A coordinate variable is a 1-D dataset with the name of its dimension.
  void describe_axis(const std::string& dataset, size_t axis) {
    name_dimensions(dataset, {dataset});
    set_if_absent(dataset, "axis", std::string(1, static_cast<char>('X' + axis)));
  }

  // The coordinates of a uniform mesh: of its nodes or of its cell centres.
  Names add_axes(const Mesh& mesh, const Values& values) {
    Names names;
    for (int d = 0; d < mesh.dimensions; ++d) {
      const auto axis = static_cast<size_t>(mesh.dimensions - 1 - d);
      std::string name = plain_ ? axis_names[axis] : own(mesh, values.at_cells, axis_names[axis]);
      names.push_back(name);
      const auto there = [&](const Added& one) { return one.dataset.name == name; };
      if (catalogue_.find(name) != nullptr || std::ranges::any_of(added_, there)) continue;
      const auto at = static_cast<size_t>(d);
      std::vector<double> places;
      for (int64_t i = 0; i < values.dataset->shape[d]; ++i)
        places.push_back(mesh.origin[at] + (static_cast<double>(i) + (values.at_cells ? 0.5 : 0.0)) * mesh.spacing[at]);
      added_.push_back({{name, {Kind::f64}, Dims{values.dataset->shape[d]}}, std::move(places)});
      describe_axis(name, axis);
      if (const Attribute* units = catalogue_.attribute(mesh.name, "units"))
        catalogue_.attributes[name].try_emplace("units", *units);
    }
    return names;
  }

  // Attributes "time" and "time_units" of the file become a scalar coordinate of all values on meshes.
  void add_time() {
    const Attribute *time = catalogue_.attribute("", "time"), *units = catalogue_.attribute("", "time_units");
    if (time == nullptr || units == nullptr || time->type.kind != Kind::f64 || time->shape.rank() > 0 ||
        catalogue_.find("time") != nullptr)
      return;
    double value = 0;
    std::memcpy(&value, time->value.data(), sizeof value);
    added_.push_back({{"time", {Kind::f64}, Dims{}}, {value}});
    set_if_absent("time", "units", text(*units));
    set_if_absent("time", "standard_name", "time");
    set_if_absent("time", "axis", "T");
    for (const Dataset& dataset : catalogue_.datasets) {
      if (catalogue_.attribute(dataset.name, "on") == nullptr) continue;
      const Attribute* before = catalogue_.attribute(dataset.name, "coordinates");
      const std::string all = before == nullptr ? "time" : "time " + text(*before);
      catalogue_.attributes[dataset.name]["coordinates"] = text_attribute("coordinates", all);
    }
  }

  Catalogue& catalogue_;
  std::vector<Added> added_;
  bool plain_ = false;
};

}  // namespace

Result<std::vector<Added>> follow_cf(Catalogue& catalogue) { return Cf(catalogue).follow(); }

}  // namespace penstock
