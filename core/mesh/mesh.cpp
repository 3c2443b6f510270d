// Mesh: parses descriptions, and compares them with the datasets that they name.
#include "core/mesh/mesh.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/words.hpp"
#include "core/mesh/thinned.hpp"

namespace penstock {
namespace {

constexpr std::pair<std::string_view, MeshKind> kinds[] = {
    {"uniform", MeshKind::uniform},         {"rectilinear", MeshKind::rectilinear},
    {"curvilinear", MeshKind::curvilinear}, {"unstructured", MeshKind::unstructured},
    {"blocks", MeshKind::blocks},           {"particles", MeshKind::particles}};

constexpr std::pair<std::string_view, int> cell_types[] = {{"polyvertex", 1},    {"polyline", 2},    {"triangle", 3},
                                                           {"quadrilateral", 4}, {"tetrahedron", 4}, {"pyramid", 5},
                                                           {"wedge", 6},         {"hexahedron", 8},  {"mixed", 0}};

// The words of a table. Debian 12's clang cannot compile std::views::keys.
template <typename Table>
std::string names(const Table& table) {
  std::string text;
  for (const auto& [name, value] : table) text += fmt::format("{}{}", text.empty() ? "" : ", ", name);
  return text;
}

using Words = std::map<std::string, std::string>;

// The text of attribute NAME of OBJECT, "" if it has none.
std::string word(const Catalogue& catalogue, const std::string& object, const char* name) {
  const Attribute* found = catalogue.attribute(object, name);
  return found == nullptr ? std::string() : text(*found);
}

class Reader {
 public:
  Reader(const Catalogue& catalogue, const std::string& object) : catalogue_(catalogue), object_(object) {
    mesh_.name = object;
  }

  Result<Mesh> read() {
    PENSTOCK_TRY(take_words());
    switch (mesh_.kind) {
      case MeshKind::uniform: PENSTOCK_TRY(read_uniform()); break;
      case MeshKind::rectilinear: PENSTOCK_TRY(read_axes(1)); break;
      case MeshKind::curvilinear: PENSTOCK_TRY(read_axes(0)); break;
      case MeshKind::unstructured: PENSTOCK_TRY(read_unstructured()); break;
      case MeshKind::blocks: PENSTOCK_TRY(read_blocks()); break;
      case MeshKind::particles: PENSTOCK_TRY(read_points()); break;
    }
    for (const auto& [key, value] : words_)
      if (!used_.contains(key)) return wrong(fmt::format("'{}' says nothing of this kind", key));
    return std::move(mesh_);
  }

 private:
  Status wrong(const std::string& what) const {
    return {Code::invalid, fmt::format("mesh '{}' ({}): {}", object_, word(catalogue_, object_, "mesh"), what)};
  }

  Status take_words() {
    const std::string description = word(catalogue_, object_, "mesh");
    const auto parts = split(description, ',');
    const auto* kind = std::ranges::find(kinds, parts[0], [](const auto& one) { return one.first; });
    if (kind == std::end(kinds)) return wrong(fmt::format("'{}' is no kind of mesh: {}", parts[0], names(kinds)));
    mesh_.kind = kind->second;
    for (size_t i = 1; i < parts.size(); ++i) {
      const size_t equals = parts[i].find('=');
      if (equals == std::string::npos) return wrong(fmt::format("'{}' is not NAME=VALUE", parts[i]));
      if (!words_.emplace(parts[i].substr(0, equals), parts[i].substr(equals + 1)).second)
        return wrong(fmt::format("'{}' is there twice", parts[i].substr(0, equals)));
    }
    return {};
  }

  std::string take(const char* key) {
    used_.insert(key);
    const auto found = words_.find(key);
    return found == words_.end() ? std::string() : found->second;
  }

  Result<std::vector<double>> numbers(const char* key) {
    std::vector<double> values;
    const std::string text = take(key);
    if (text.empty()) return values;
    for (const std::string_view part : split(text, ':')) {
      const auto value = parse_number<double>(part);
      if (!value || !std::isfinite(*value))
        return wrong(fmt::format("{}={} are no numbers with colons between them", key, text));
      values.push_back(*value);
    }
    return values;
  }

  // A dataset of numbers with RANK dimensions, or with any number if RANK is 0.
  Result<const Dataset*> dataset(const char* key, const std::string& name, int rank) {
    const auto stored = dataset_name(name);
    const Dataset* found = stored.ok() ? catalogue_.find(*stored) : nullptr;
    if (found == nullptr) return wrong(fmt::format("{}={}: there is no such dataset", key, name));
    if (rank > 0 && found->shape.rank() != rank)
      return wrong(fmt::format("{}: '{}' is {}, it would have {} dimension{}", key, name, penstock::describe(*found),
                               rank, rank == 1 ? "" : "s"));
    return found;
  }

  Status read_uniform() {
    PENSTOCK_ASSIGN(mesh_.origin, numbers("origin"));
    PENSTOCK_ASSIGN(mesh_.spacing, numbers("spacing"));
    if (mesh_.spacing.size() != 2 && mesh_.spacing.size() != 3)
      return wrong("spacing= needs 2 or 3 numbers, slowest dimension first");
    if (mesh_.origin.empty()) mesh_.origin.assign(mesh_.spacing.size(), 0);
    if (mesh_.origin.size() != mesh_.spacing.size()) return wrong("origin= and spacing= have not as many numbers");
    mesh_.dimensions = static_cast<int>(mesh_.spacing.size());
    return {};
  }

  // Datasets x, y and optionally z, of RANK dimensions each, or of as many dimensions as there are datasets.
  Status read_axes(int rank) {
    std::vector<const Dataset*> axes;
    for (const char* key : {"x", "y", "z"}) {
      const std::string name = take(key);
      if (name.empty()) break;
      PENSTOCK_ASSIGN(const Dataset* found, dataset(key, name, rank));
      axes.push_back(found);
      mesh_.axes.push_back(found->name);
    }
    mesh_.dimensions = static_cast<int>(axes.size());
    if (axes.size() < 2) return wrong("it needs x= and y=, and z= in three dimensions");
    if (rank != 0) return {};
    for (const Dataset* axis : axes)
      if (axis->shape.rank() != mesh_.dimensions || !(axis->shape == axes[0]->shape))
        return wrong(fmt::format("'{}' is {}: each of {} coordinates would have {} dimensions and the shape of '{}'",
                                 axis->name, penstock::describe(*axis), axes.size(), axes.size(), axes[0]->name));
    return {};
  }

  Status read_points() {
    if (words_.contains("points")) {
      PENSTOCK_ASSIGN(const Dataset* points, dataset("points", take("points"), 2));
      if (points->shape[1] != 2 && points->shape[1] != 3)
        return wrong(fmt::format("points: '{}' is {}, it would be (points, 2) or (points, 3)", points->name,
                                 penstock::describe(*points)));
      mesh_.points = points->name;
      mesh_.dimensions = static_cast<int>(points->shape[1]);
      return {};
    }
    PENSTOCK_TRY(read_axes(1));
    for (const std::string& axis : mesh_.axes)
      if (!(catalogue_.find(axis)->shape == catalogue_.find(mesh_.axes[0])->shape))
        return wrong(fmt::format("'{}' and '{}' have not as many points", axis, mesh_.axes[0]));
    return {};
  }

  Status read_unstructured() {
    PENSTOCK_TRY(read_points());
    mesh_.type = take("type");
    const int nodes = nodes_of_cell(mesh_.type);
    if (nodes < 0) return wrong(fmt::format("type={} is no type of cells: {}", mesh_.type, names(cell_types)));
    PENSTOCK_ASSIGN(const Dataset* cells, dataset("cells", take("cells"), nodes == 0 ? 1 : 2));
    mesh_.cells = cells->name;
    const auto count = parse_number<int64_t>(take("count"));
    if (nodes == 0) {
      if (!count || *count < 0) return wrong("mixed cells need count=, how many there are");
      mesh_.count = *count;
      return {};
    }
    if (cells->shape[1] != nodes)
      return wrong(fmt::format("cells: '{}' is {}: a {} has {} nodes", cells->name, penstock::describe(*cells),
                               mesh_.type, nodes));
    mesh_.count = cells->shape[0];
    return {};
  }

  Status read_blocks() {
    PENSTOCK_ASSIGN(const Dataset* corners, dataset("corners", take("corners"), 2));
    PENSTOCK_ASSIGN(mesh_.spacing, numbers("spacing"));
    mesh_.corners = corners->name;
    mesh_.count = corners->shape[0];
    mesh_.dimensions = static_cast<int>(mesh_.spacing.size());
    if (mesh_.dimensions != 2 && mesh_.dimensions != 3)
      return wrong("spacing= needs 2 or 3 numbers, slowest dimension first");
    mesh_.lies = mesh_.dimensions == 2 && corners->shape[1] == 3;
    if (corners->shape[1] != mesh_.dimensions && !mesh_.lies)
      return wrong(fmt::format("corners: '{}' is {}, it would be (blocks, {}){}", corners->name,
                               penstock::describe(*corners), mesh_.dimensions,
                               mesh_.dimensions == 2 ? ", or (blocks, 3) with z before y and x" : ""));
    return {};
  }

  const Catalogue& catalogue_;
  const std::string& object_;
  Mesh mesh_;
  Words words_;
  std::set<std::string> used_;
};

Result<Values> values_on(const Catalogue& catalogue, const Mesh& mesh, const Dataset& dataset,
                         std::vector<int64_t>& uniform) {
  const std::string center = word(catalogue, dataset.name, "center");
  const auto wrong = [&](const std::string& what) {
    return Status(Code::invalid,
                  fmt::format("{} is on mesh '{}': {}",
                              penstock::describe(dataset).insert(0, "'" + dataset.name + "' "), mesh.name, what));
  };
  if (!center.empty() && center != "node" && center != "cell")
    return wrong(fmt::format("attribute center is '{}', not node or cell", center));
  Values values{&dataset, center == "cell" || (center.empty() && mesh.kind == MeshKind::blocks), 1};
  if (mesh.kind == MeshKind::particles && values.at_cells) return wrong("particles have nodes only");
  std::vector<int64_t> expected;
  const bool blocks = mesh.kind == MeshKind::blocks,
             flat = mesh.kind == MeshKind::unstructured || mesh.kind == MeshKind::particles;
  const int rank = flat ? 1 : mesh.dimensions + (blocks ? 1 : 0);
  const std::vector<int64_t> shape(dataset.shape.begin(), dataset.shape.end());
  if (std::ssize(shape) != rank && std::ssize(shape) != rank + 1)
    return wrong(fmt::format("it would have {} dimension{}, or one more for the components of a vector", rank,
                             rank == 1 ? "" : "s"));
  if (std::ssize(shape) == rank + 1) values.components = shape.back();
  const std::vector<int64_t> own(shape.begin(), shape.begin() + rank);
  if (blocks) {
    expected.assign(own.begin(), own.end());
    expected[0] = mesh.count;
  } else if (mesh.kind == MeshKind::uniform) {
    std::vector<int64_t> nodes = own;
    for (int64_t& extent : nodes) extent += values.at_cells ? 1 : 0;
    if (uniform.empty()) uniform = nodes;
    expected = uniform;
    for (int64_t& extent : expected) extent -= values.at_cells ? 1 : 0;
  } else if (mesh.kind == MeshKind::unstructured && values.at_cells) {
    expected = {mesh.count};
  } else {
    expected = nodes_of(catalogue, mesh);
    for (int64_t& extent : expected) extent -= values.at_cells ? 1 : 0;
  }
  if (own == expected) return values;
  return wrong(
      fmt::format("at its {}s there are ({}) values", values.at_cells ? "cell" : "node", fmt::join(expected, ", ")));
}

}  // namespace

std::vector<int64_t> nodes_of(const Catalogue& catalogue, const Mesh& mesh) {
  std::vector<int64_t> nodes;
  const auto shape = [&](const std::string& name) -> const Dims& { return catalogue.find(name)->shape; };
  switch (mesh.kind) {
    case MeshKind::rectilinear:
      for (auto axis = mesh.axes.rbegin(); axis != mesh.axes.rend(); ++axis) nodes.push_back(shape(*axis)[0]);
      break;
    case MeshKind::curvilinear: nodes.assign(shape(mesh.axes[0]).begin(), shape(mesh.axes[0]).end()); break;
    case MeshKind::unstructured:
    case MeshKind::particles: nodes.push_back(shape(mesh.points.empty() ? mesh.axes[0] : mesh.points)[0]); break;
    default: break;
  }
  return nodes;
}

int nodes_of_cell(std::string_view type) {
  const auto* found = std::ranges::find(cell_types, type, [](const auto& one) { return one.first; });
  return found == std::end(cell_types) ? -1 : found->second;
}

Result<std::vector<MeshWithValues>> meshes_of(const Catalogue& catalogue) {
  std::vector<MeshWithValues> meshes;
  for (const auto& [object, attributes] : catalogue.attributes) {
    if (!attributes.contains("mesh")) continue;
    PENSTOCK_ASSIGN(Mesh mesh, Reader(catalogue, object).read());
    meshes.push_back({std::move(mesh), {}});
  }
  std::vector<std::vector<int64_t>> uniform(meshes.size());
  for (const Dataset& dataset : catalogue.datasets) {
    const std::string on = word(catalogue, dataset.name, "on");
    if (on.empty()) continue;
    const auto name = object_name(on);
    const auto at = std::ranges::find(meshes, name.ok() ? *name : on, [](const auto& one) { return one.mesh.name; });
    if (at == meshes.end())
      return Status(Code::invalid, fmt::format("'{}' is on mesh '{}', but no object of that name has an attribute mesh",
                                               dataset.name, on));
    PENSTOCK_ASSIGN(const Values values,
                    values_on(catalogue, at->mesh, dataset, uniform[static_cast<size_t>(at - meshes.begin())]));
    at->values.push_back(values);
  }
  for (MeshWithValues& one : meshes) PENSTOCK_TRY(place_stored(catalogue, one));
  return meshes;
}

}  // namespace penstock
