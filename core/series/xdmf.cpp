// XDMF: text of version 3, whose references are relative to its own folder.
#include "core/series/xdmf.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/utf8.hpp"

namespace penstock {
namespace {

// The words for a type; empty for what XDMF has not.
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

// Whether NAME can stand in XML, and behind the ':' of a reference.
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

using Attributes = std::map<std::string, std::map<std::string, Attribute>>;

// COUNT finite numbers of attribute NAME of OBJECT; none where it is something else.
std::vector<double> numbers(const Attributes& all, const std::string& object, const char* name, int count) {
  const auto list = all.find(object);
  if (list == all.end()) return {};
  const auto at = list->second.find(name);
  if (at == list->second.end() || elements(at->second.shape) != count) return {};
  const Attribute& attribute = at->second;
  std::vector<double> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) {
    if (attribute.type.kind == Kind::f64) {
      std::memcpy(&values[i], attribute.value.data() + 8 * i, 8);
    } else if (attribute.type.kind == Kind::f32) {
      float value = 0;
      std::memcpy(&value, attribute.value.data() + 4 * i, 4);
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
    if (auto found = numbers(catalogue.attributes, object, name, rank); !found.empty()) return found;
  return std::vector<double>(static_cast<size_t>(rank), other);
}

using Grid = std::tuple<std::vector<int64_t>, std::vector<double>, std::vector<double>>;  // shape, origin, spacing

Grid grid_of(const Field& field) { return {{field.shape.begin(), field.shape.end()}, field.origin, field.spacing}; }

std::string geometry(const Grid& grid) {
  const auto& [shape, origin, spacing] = grid;
  const bool flat = shape.size() == 2;
  std::string out = fmt::format("     <Topology TopologyType=\"{}\" Dimensions=\"{}\"/>\n",
                                flat ? "2DCoRectMesh" : "3DCoRectMesh", fmt::join(shape, " "));
  out += fmt::format("     <Geometry GeometryType=\"{}\">\n", flat ? "ORIGIN_DXDY" : "ORIGIN_DXDYDZ");
  for (const auto& values : {origin, spacing})
    out += fmt::format(
        "      <DataItem Dimensions=\"{}\" NumberType=\"Float\" Precision=\"8\" Format=\"XML\">{}</DataItem>\n",
        shape.size(), fmt::join(values, " "));
  return out + "     </Geometry>\n";
}

std::string attribute(const Field& field, const std::string& file) {
  const NumberType type = number_type(field.type);
  return fmt::format(
      "     <Attribute Name=\"{}\" AttributeType=\"Scalar\" Center=\"Node\">\n"
      "      <DataItem Dimensions=\"{}\" NumberType=\"{}\" Precision=\"{}\" Format=\"HDF\">{}:/{}</DataItem>\n"
      "     </Attribute>\n",
      escaped(field.name), fmt::join(field.shape.begin(), field.shape.end(), " "), type.name, type.precision,
      escaped(file), escaped(field.name));
}

}  // namespace

std::vector<Field> fields_of(const Catalogue& catalogue) {
  std::vector<Field> fields;
  for (const Dataset& dataset : catalogue.datasets) {
    const int rank = dataset.shape.rank();
    if ((rank != 2 && rank != 3) || elements(dataset.shape) == 0 || number_type(dataset.type).precision == 0 ||
        dataset.name.starts_with("_penstock/") || !is_referable(dataset.name))
      continue;
    fields.push_back({dataset.name, dataset.type, dataset.shape, grid_numbers(catalogue, dataset, "origin", 0),
                      grid_numbers(catalogue, dataset, "spacing", 1)});
  }
  return fields;
}

std::string xdmf(std::span<const Step> steps, std::span<const std::vector<Field>> fields) {
  std::map<Grid, std::string> collections;
  for (size_t i = 0; i < steps.size(); ++i) {
    std::map<Grid, std::string> here;
    if (!is_referable(steps[i].name)) continue;
    for (const Field& field : fields[i]) here[grid_of(field)] += attribute(field, steps[i].name);
    for (const auto& [grid, attributes] : here)
      collections[grid] +=
          fmt::format("    <Grid Name=\"{}\" GridType=\"Uniform\">\n     <Time Value=\"{}\"/>\n{}{}    </Grid>\n",
                      steps[i].iteration, steps[i].time, geometry(grid), attributes);
  }
  std::string out = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<Xdmf Version=\"3.0\">\n <Domain>\n";
  int number = 0;
  for (const auto& [grid, text] : collections)
    out += fmt::format(
        "   <Grid Name=\"grid {} of {}\" GridType=\"Collection\" CollectionType=\"Temporal\">\n{}   </Grid>\n",
        number++, fmt::join(std::get<0>(grid), " x "), text);
  return out + " </Domain>\n</Xdmf>\n";
}

}  // namespace penstock
