// XDMF: text of version 3, with references relative to its own folder.
#include "core/mesh/xdmf.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/utf8.hpp"
#include "core/mesh/mesh.hpp"
#include "core/mesh/thinned.hpp"

namespace penstock {
namespace {

constexpr int64_t max_blocks = 100'000;
constexpr char the_file = '\1';

// The names of a type; empty if XDMF does not support it.
struct NumberType {
  std::string_view name;
  int precision = 0;
};

NumberType number_type(const ElementType& type) {
  switch (type.kind) {
    case Kind::i8: return {"Char", 1};
    case Kind::u8: return {"UChar", 1};
    case Kind::i16: return {"Int", 2};
    case Kind::u16: return {"UInt", 2};
    case Kind::i32: return {"Int", 4};
    case Kind::u32: return {"UInt", 4};
    case Kind::i64: return {"Int", 8};
    case Kind::u64: return {"UInt", 8};
    case Kind::f32: return {"Float", 4};
    case Kind::f64: return {"Float", 8};
    default: return {};
  }
}

// Whether NAME is allowed in XML and after the ':' of a reference.
bool is_referable(std::string_view name) {
  while (!name.empty()) {
    const auto c = static_cast<unsigned char>(name[0]);
    const size_t length = utf8_length(name);
    if (length == 0 || c < 0x20 || c == ':' || name.starts_with("\xEF\xBF\xBE") || name.starts_with("\xEF\xBF\xBF"))
      return false;
    name.remove_prefix(length);
  }
  return true;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  return out;
}

bool is_shown(const Dataset& dataset) {
  return elements(dataset.shape) > 0 && number_type(dataset.type).precision > 0 && is_referable(dataset.name) &&
         !dataset.name.starts_with("_penstock/");
}

// All of DATASET, with an additional first dimension of 1 in a SHEET.
std::string item(const Dataset& dataset, bool sheet = false) {
  const NumberType type = number_type(dataset.type);
  return fmt::format(
      "<DataItem Dimensions=\"{}{}\" NumberType=\"{}\" Precision=\"{}\" Format=\"HDF\">{}:/{}</DataItem>",
      sheet ? "1 " : "", fmt::join(dataset.shape.begin(), dataset.shape.end(), " "), type.name, type.precision,
      the_file, escaped(dataset.name));
}

// COUNT elements along each dimension from START on; their new shape is SHAPE.
std::string part_item(const Dataset& dataset, std::span<const int64_t> start, std::span<const int64_t> count,
                      std::span<const int64_t> shape) {
  return fmt::format(
      "<DataItem ItemType=\"HyperSlab\" Dimensions=\"{}\"><DataItem Dimensions=\"3 {}\" Format=\"XML\">{} {} "
      "{}</DataItem>{}</DataItem>",
      fmt::join(shape, " "), start.size(), fmt::join(start, " "), fmt::join(std::vector<int64_t>(start.size(), 1), " "),
      fmt::join(count, " "), item(dataset));
}

// VALUES as three numbers: if there are only two, FIRST goes before them.
std::vector<double> with_sheet(std::span<const double> values, double first) {
  std::vector<double> three(values.begin(), values.end());
  if (three.size() == 2) three.insert(three.begin(), first);
  return three;
}

std::string list_item(std::span<const double> values) {
  return fmt::format("<DataItem Dimensions=\"{}\" NumberType=\"Float\" Precision=\"8\" Format=\"XML\">{}</DataItem>",
                     values.size(), fmt::join(values, " "));
}

std::string one_attribute(std::string_view name, std::string_view kind, bool at_cells, const std::string& item) {
  return fmt::format("     <Attribute Name=\"{}\" AttributeType=\"{}\" Center=\"{}\">{}</Attribute>\n", escaped(name),
                     kind, at_cells ? "Cell" : "Node", item);
}

// The values of a dataset, or its part at BLOCK of the first dimension. In a SHEET they have an additional dimension.
// Vectors that XDMF cannot represent are shown by component.
std::string attribute(const Values& values, const std::string& name, bool sheet, int64_t block = -1) {
  const Dataset& dataset = *values.dataset;
  if (!is_shown(dataset)) return {};
  std::vector<int64_t> start(static_cast<size_t>(dataset.shape.rank())),
      count(dataset.shape.begin(), dataset.shape.end());
  if (block >= 0) {
    start[0] = block;
    count[0] = 1;
  }
  const bool vector = dataset.shape.rank() > 0 && values.components != 1;
  const auto shape_of = [&](bool with_components) {
    std::vector<int64_t> shape(count.begin() + (block >= 0 ? 1 : 0), count.end() - (with_components ? 0 : 1));
    if (sheet) shape.insert(shape.begin(), 1);
    return shape;
  };
  const std::map<int64_t, std::string_view> words{{1, "Scalar"}, {3, "Vector"}, {6, "Tensor6"}, {9, "Tensor"}};
  if (const auto word = words.find(vector ? values.components : 1); word != words.end())
    return one_attribute(name, word->second, values.at_cells,
                         block >= 0 ? part_item(dataset, start, count, shape_of(true)) : item(dataset, sheet));
  std::string all;
  for (int64_t i = 0; i < values.components; ++i) {
    start.back() = i;
    count.back() = 1;
    all += one_attribute(fmt::format("{}_{}", name, i), "Scalar", values.at_cells,
                         part_item(dataset, start, count, shape_of(false)));
  }
  return all;
}

// A topology of NODES, and where they are; a SHEET has an additional first dimension of 1.
std::string structured(std::string_view topology, std::span<const int64_t> nodes, bool sheet, std::string_view geometry,
                       std::string_view items) {
  return fmt::format(
      "     <Topology TopologyType=\"{}\" Dimensions=\"{}{}\"/>\n     <Geometry GeometryType=\"{}\">{}</Geometry>\n",
      topology, sheet ? "1 " : "", fmt::join(nodes, " "), geometry, items);
}

// The nodes of one axis.
std::string axis_item(double origin, double spacing, int64_t nodes) {
  std::vector<double> places(static_cast<size_t>(nodes));
  for (size_t i = 0; i < places.size(); ++i) places[i] = origin + spacing * static_cast<double>(i);
  return list_item(places);
}

// Two dimensions are a 3-D sheet, which VTK puts in the x-y plane; it shows "2DCoRectMesh" upright. A sheet has no
// cells: for cell values the nodes along each axis are listed.
std::string uniform_grid(std::span<const int64_t> nodes, std::span<const double> origin,
                         std::span<const double> spacing, bool has_cells) {
  if (nodes.size() == 2 && has_cells)
    return structured("2DRectMesh", nodes, false, "VXVY",
                      axis_item(origin[1], spacing[1], nodes[1]) + axis_item(origin[0], spacing[0], nodes[0]));
  return structured("3DCoRectMesh", nodes, nodes.size() == 2, "ORIGIN_DXDYDZ",
                    list_item(with_sheet(origin, 0)) + list_item(with_sheet(spacing, 1)));
}

class MeshGrid {
 public:
  MeshGrid(const Catalogue& catalogue, const MeshWithValues& all)
      : catalogue_(catalogue), mesh_(all.mesh), values_(all.values) {}

  Result<Grid> make() {
    Grid grid{mesh_.name.empty() ? "mesh" : mesh_.name, mesh_.name.empty() ? "mesh" : mesh_.name, true, false, {}};
    if (mesh_.kind == MeshKind::blocks) {
      if (mesh_.count > max_blocks)
        return Status(
            Code::unsupported,
            fmt::format("mesh '{}' has {} blocks, and XDMF lists each: 'penstock convert --to vtkhdf' instead",
                        mesh_.name, mesh_.count));
      grid.is_set = true;
      for (int64_t block = 0; block < mesh_.count; ++block) grid.body += block_grid(block);
      return grid;
    }
    grid.body = where();
    if (grid.body.empty()) return grid;
    const bool sheet = mesh_.kind == MeshKind::uniform && mesh_.dimensions == 2 && !has_cells();
    for (const Values& values : values_) grid.body += attribute(values, shown_name(values), sheet);
    // ParaView first asks VTK's reader for the extents and gets those of a plane in y and z. It does not ask if the
    // grids form a set.
    if (mesh_.dimensions == 2 && (mesh_.kind == MeshKind::rectilinear || (mesh_.kind == MeshKind::uniform && !sheet))) {
      grid.is_set = true;
      grid.body =
          fmt::format("    <Grid Name=\"{}\" GridType=\"Uniform\">\n{}    </Grid>\n", escaped(grid.title), grid.body);
    }
    return grid;
  }

 private:
  // The name without that of the mesh, so that "u" on all refinement levels is one variable.
  std::string shown_name(const Values& values) const {
    const std::string &name = values.dataset->name, group = mesh_.name + "/";
    if (!name.starts_with(group)) return name;
    std::string rest = name.substr(group.size());
    const auto same = [&](const Values& other) { return other.dataset->name == rest; };
    return std::ranges::any_of(values_, same) ? name : rest;
  }

  bool has_cells() const { return std::ranges::any_of(values_, &Values::at_cells); }
  const Dataset& dataset(const std::string& name) const { return *catalogue_.find(name); }

  bool refers_well() const {
    std::vector<std::string> names = mesh_.axes;
    for (const std::string& name : {mesh_.points, mesh_.cells, mesh_.corners})
      if (!name.empty()) names.push_back(name);
    return std::ranges::all_of(names, [&](const std::string& name) { return is_shown(dataset(name)); });
  }

  std::string axis_items() const {
    std::string items;
    for (const std::string& axis : mesh_.axes) items += item(dataset(axis));
    return items;
  }

  // Topology and geometry; "" if there is nothing to show.
  std::string where() const {
    if (!refers_well()) return {};
    const bool flat = mesh_.dimensions == 2;
    switch (mesh_.kind) {
      case MeshKind::uniform: {
        if (values_.empty()) return {};
        const Values& first = values_[0];
        std::vector<int64_t> nodes(first.dataset->shape.begin(), first.dataset->shape.begin() + mesh_.dimensions);
        for (int64_t& extent : nodes) extent += first.at_cells ? 1 : 0;
        return uniform_grid(nodes, mesh_.origin, mesh_.spacing, has_cells());
      }
      case MeshKind::rectilinear:
        return structured(flat ? "2DRectMesh" : "3DRectMesh", nodes_of(catalogue_, mesh_), false,
                          flat ? "VXVY" : "VXVYVZ", axis_items());
      case MeshKind::curvilinear:
        return structured(flat ? "2DSMesh" : "3DSMesh", nodes_of(catalogue_, mesh_), false, flat ? "X_Y" : "X_Y_Z",
                          axis_items());
      case MeshKind::unstructured: return cells() + points();
      case MeshKind::particles:
        return fmt::format("     <Topology TopologyType=\"Polyvertex\" NumberOfElements=\"{}\"/>\n",
                           nodes_of(catalogue_, mesh_)[0]) +
               points();
      case MeshKind::blocks: break;
    }
    return {};
  }

  std::string points() const {
    const bool flat = mesh_.dimensions == 2;
    if (mesh_.points.empty())
      return fmt::format("     <Geometry GeometryType=\"{}\">{}</Geometry>\n", flat ? "X_Y" : "X_Y_Z", axis_items());
    return fmt::format("     <Geometry GeometryType=\"{}\">{}</Geometry>\n", flat ? "XY" : "XYZ",
                       item(dataset(mesh_.points)));
  }

  std::string cells() const {
    std::string type = mesh_.type;
    type[0] = static_cast<char>(type[0] - 'a' + 'A');
    return fmt::format("     <Topology TopologyType=\"{}\" NumberOfElements=\"{}\">{}</Topology>\n", type, mesh_.count,
                       item(dataset(mesh_.cells)));
  }

  // A block in the x-y plane is one layer of cells, as thick as they are long, or a sheet of nodes.
  std::string block_grid(int64_t block) const {
    std::vector<int64_t> nodes;
    std::string attributes;
    if (mesh_.lies) nodes.push_back(has_cells() ? 2 : 1);
    for (const Values& values : values_) {
      if (mesh_.lies && has_cells() && !values.at_cells) continue;
      if (std::ssize(nodes) < mesh_.dimensions + (mesh_.lies ? 1 : 0))
        for (int i = 1; i <= mesh_.dimensions; ++i)
          nodes.push_back(values.dataset->shape[i] + (values.at_cells ? 1 : 0));
      attributes += attribute(values, shown_name(values), mesh_.lies, block);
    }
    if (attributes.empty() || !refers_well()) return {};
    const int64_t places = mesh_.lies ? 3 : mesh_.dimensions;
    const int64_t start[] = {block, 0}, count[] = {1, places}, shape[] = {places};
    const std::vector<double> spacing = mesh_.lies ? with_sheet(mesh_.spacing, mesh_.spacing[1]) : mesh_.spacing;
    const bool flat = places == 2;
    const std::string place =
        structured(flat ? "2DCoRectMesh" : "3DCoRectMesh", nodes, false, flat ? "ORIGIN_DXDY" : "ORIGIN_DXDYDZ",
                   part_item(dataset(mesh_.corners), start, count, shape) + list_item(spacing));
    return fmt::format("    <Grid Name=\"{} {}\" GridType=\"Uniform\">\n{}{}    </Grid>\n", escaped(mesh_.name), block,
                       place, attributes);
  }

  const Catalogue& catalogue_;
  const Mesh& mesh_;
  const std::vector<Values>& values_;
};

// COUNT finite numbers of attribute NAME of OBJECT; empty if it is something else.
std::vector<double> numbers(const Catalogue& catalogue, const std::string& object, const char* name, int count) {
  const Attribute* attribute = catalogue.attribute(object, name);
  if (attribute == nullptr || elements(attribute->shape) != count) return {};
  std::vector<double> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) {
    if (attribute->type.kind == Kind::f64) {
      std::memcpy(&values[i], attribute->value.data() + 8 * i, 8);
    } else if (attribute->type.kind == Kind::f32) {
      float value = 0;
      std::memcpy(&value, attribute->value.data() + 4 * i, 4);
      values[i] = value;
    } else {
      return {};
    }
    if (!std::isfinite(values[i])) return {};
  }
  return values;
}

std::vector<double> grid_numbers(const Catalogue& catalogue, const Dataset& dataset, const char* name, double other) {
  const int rank = dataset.shape.rank();
  for (const std::string& object : {dataset.name, std::string()})
    if (auto found = numbers(catalogue, object, name, rank); !found.empty()) return found;
  return std::vector<double>(static_cast<size_t>(rank), other);
}

// Without meshes, each combination of shape, origin and spacing is a uniform grid.
void add_plain_grids(const Catalogue& catalogue, std::vector<Grid>& grids) {
  using Place = std::tuple<std::vector<int64_t>, std::vector<double>, std::vector<double>>;
  std::map<Place, std::string> found;
  for (const Dataset& dataset : catalogue.datasets) {
    const int rank = dataset.shape.rank();
    if ((rank != 2 && rank != 3) || !is_shown(dataset)) continue;
    std::vector<double> origin = grid_numbers(catalogue, dataset, "origin", 0),
                        spacing = grid_numbers(catalogue, dataset, "spacing", 1);
    place_stored(catalogue, dataset.name, false, origin, spacing);
    const Place place{{dataset.shape.begin(), dataset.shape.end()}, std::move(origin), std::move(spacing)};
    found[place] += attribute({&dataset, false, 1}, dataset.name, rank == 2);
  }
  for (const auto& [place, attributes] : found) {
    const auto& [shape, origin, spacing] = place;
    grids.push_back(
        {fmt::format("\n{} from {} by {}", fmt::join(shape, " "), fmt::join(origin, " "), fmt::join(spacing, " ")),
         fmt::format("{}", fmt::join(shape, " x ")), false, false,
         uniform_grid(shape, origin, spacing, false) + attributes});
  }
}

std::string with_file(const std::string& body, std::string_view file) {
  std::string out;
  const std::string name = escaped(file);
  for (const char c : body)
    if (c == the_file)
      out += name;
    else
      out += c;
  return out;
}

std::string grid_text(const Grid& grid, const std::string& name, const std::string& time, std::string_view file) {
  const std::string kind = grid.is_set ? "GridType=\"Collection\" CollectionType=\"Spatial\"" : "GridType=\"Uniform\"";
  return fmt::format("    <Grid Name=\"{}\" {}>\n{}{}    </Grid>\n", name, kind, time, with_file(grid.body, file));
}

std::string document(const std::string& grids) {
  return "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<Xdmf Version=\"3.0\">\n <Domain>\n" + grids +
         " </Domain>\n</Xdmf>\n";
}

}  // namespace

Result<std::vector<Grid>> grids_of(const Catalogue& catalogue) {
  PENSTOCK_ASSIGN(const auto meshes, meshes_of(catalogue));
  std::vector<Grid> grids;
  for (const MeshWithValues& one : meshes) {
    if (!is_referable(one.mesh.name)) continue;
    PENSTOCK_ASSIGN(Grid grid, MeshGrid(catalogue, one).make());
    if (!grid.body.empty()) grids.push_back(std::move(grid));
  }
  if (meshes.empty()) add_plain_grids(catalogue, grids);
  return grids;
}

std::string xdmf(std::span<const FileAtTime> moments, std::span<const std::vector<Grid>> grids) {
  struct Collection {
    const Grid* first = nullptr;
    std::string text;
  };
  std::map<std::string, Collection> collections;
  for (size_t i = 0; i < moments.size(); ++i) {
    if (!is_referable(moments[i].file)) continue;
    for (const Grid& grid : grids[i]) {
      Collection& collection = collections[grid.key];
      if (collection.first == nullptr) collection.first = &grid;
      collection.text += grid_text(grid, fmt::format("{}", moments[i].iteration),
                                   fmt::format("     <Time Value=\"{}\"/>\n", moments[i].time), moments[i].file);
    }
  }
  std::string out;
  int number = 0;
  for (const auto& [key, collection] : collections) {
    const std::string name = collection.first->named ? escaped(collection.first->title)
                                                     : fmt::format("grid {} of {}", number++, collection.first->title);
    out += fmt::format("   <Grid Name=\"{}\" GridType=\"Collection\" CollectionType=\"Temporal\">\n{}   </Grid>\n",
                       name, collection.text);
  }
  return document(out);
}

std::string xdmf(std::string_view file, std::span<const Grid> grids) {
  std::string out;
  int number = 0;
  if (is_referable(file))
    for (const Grid& grid : grids)
      out += grid_text(grid, grid.named ? escaped(grid.title) : fmt::format("grid {} of {}", number++, grid.title), "",
                       file);
  return document(out);
}

}  // namespace penstock
