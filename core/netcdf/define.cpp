// Define: variables, attributes and notes, then offsets.
#include "core/netcdf/define.hpp"

#include <algorithm>
#include <bit>

#include "core/base/units.hpp"
#include "core/model/kinds.hpp"
#include "core/netcdf/dimensions.hpp"
#include "core/netcdf/names.hpp"
#include "core/netcdf/note.hpp"

namespace penstock::netcdf {
namespace {

constexpr int64_t largest_offset = INT64_MAX - (int64_t{1} << 31);  // room for rounding up to any block
constexpr int64_t largest_attribute = int64_t{1} << 30;
constexpr std::string_view conventions = "Conventions", conventions_value = "CF-1.11";

Status too_long(const std::string& what) {
  return {Code::unsupported, what + " has a name of more than 256 bytes in netCDF, whose names are no longer"};
}

Status add_attribute(const std::string& object, const Attribute& attribute, std::string name,
                     std::vector<Attribute>& list, Note& note) {
  const std::string what = "attribute '" + attribute.name.substr(0, longest_name) + "' of '" + object + "'";
  if (attribute.name.empty()) return {Code::invalid, "an attribute of '" + object + "' has no name"};
  if (name.size() > longest_name) return too_long(what);
  if (static_cast<int64_t>(attribute.value.size()) > largest_attribute)
    return {Code::unsupported, what + " is larger than 1 GiB; make it a dataset"};
  list.push_back(to_plain(attribute, std::move(name), note));
  return {};
}

void add_note(const Note& note, std::vector<Attribute>& list) {
  list.push_back(text_attribute(std::string(own_attribute), print_note(note)));
}

// Units or coordinates are given: the file then follows the common conventions.
bool follows_conventions(const Catalogue& catalogue) {
  return catalogue.attribute("", conventions) == nullptr &&
         std::ranges::any_of(catalogue.datasets, [&](const Dataset& d) {
           return catalogue.attribute(d.name, "units") != nullptr ||
                  catalogue.attribute(d.name, "coordinates") != nullptr;
         });
}

Status add_global_attributes(const Catalogue& catalogue, Header& header) {
  Note note;
  if (follows_conventions(catalogue)) {
    note.conventions = true;
    header.attributes.push_back(text_attribute(std::string(conventions), conventions_value));
  }
  for (const auto& [object, list] : catalogue.attributes) {
    if (catalogue.find(object) != nullptr) continue;
    if (list.empty() && !object.empty()) note.groups.push_back(object);
    for (const auto& [key, attribute] : list)
      PENSTOCK_TRY(add_attribute(object, attribute, encode_attribute_name(object, key), header.attributes, note));
  }
  add_note(note, header.attributes);  // even if empty: it shows that names must be decoded
  return {};
}

// Names that the variable's dimensions already have need not be stored again.
bool is_named(const Dataset& dataset, const Attribute& attribute, const Shapes& shapes,
              const std::vector<int64_t>& of) {
  const auto rank = static_cast<size_t>(dataset.shape.rank());
  return attribute.name == naming_attribute && rank > 0 && of.size() >= rank &&
         attribute == dimension_names(shapes.dimensions, of, rank, true);
}

Status add_variable(const Catalogue& catalogue, size_t index, const Shapes& shapes, Header& header) {
  const Dataset& dataset = catalogue.datasets[index];
  if (dataset.unlimited && dataset.shape.rank() == 0)
    return {Code::invalid, "dataset '" + dataset.name + "' is a scalar and cannot grow"};
  Variable variable;
  variable.name = encode_name(dataset.name);
  if (variable.name.size() > longest_name) return too_long("dataset '" + dataset.name.substr(0, longest_name) + "'");
  variable.type = dataset.type.kind == Kind::text ? ElementType{Kind::text, 1} : part_of(dataset.type);
  variable.dimensions = shapes.of[index];
  variable.record = shapes.record[index];
  Note note;
  if (is_complex(dataset.type)) note.type = dataset.type;
  if (elements(dataset.shape) == 0 && !variable.record) note.shape = dataset.shape;
  if (dataset.unlimited != variable.record) note.unlimited = dataset.unlimited;
  if (const auto* list = catalogue.attributes_of(dataset.name))
    for (const auto& [key, attribute] : *list) {
      note.named = note.named || is_named(dataset, attribute, shapes, variable.dimensions);
      if (note.named && key == naming_attribute) continue;
      PENSTOCK_TRY(add_attribute(dataset.name, attribute, encode_attribute_name("", key), variable.attributes, note));
    }
  if (!note.empty()) add_note(note, variable.attributes);
  header.variables.push_back(std::move(variable));
  return {};
}

Status too_many_bytes(const Dataset& dataset) {
  return {Code::invalid, "up to dataset '" + dataset.name + "' there are more bytes than 63 bits can address"};
}

// Fixed-size variables are in the order of their definition, as the C library requires, followed by records.
Status place_fixed(const Catalogue& catalogue, int64_t block, Defined& out) {
  for (size_t i = 0; i < out.header.variables.size(); ++i) {
    Variable& variable = out.header.variables[i];
    variable.stored_bytes = padded_bytes(out.header, variable);
    if (variable.stored_bytes < 0) return too_many_bytes(catalogue.datasets[i]);
    if (variable.record) continue;
    variable.begin = round_up(out.layout.end, variable.stored_bytes >= block ? std::max<int64_t>(4, block) : 4);
    if (variable.stored_bytes > largest_offset - variable.begin) return too_many_bytes(catalogue.datasets[i]);
    out.layout.end = variable.begin + variable.stored_bytes;
  }
  return {};
}

Status place_records(const Catalogue& catalogue, int64_t block, Defined& out) {
  const int64_t record = record_bytes(out.header);
  int64_t total = 0;
  const bool fits = record >= 0 && !__builtin_mul_overflow(record, out.header.records, &total);
  int64_t begin = round_up(out.layout.end, total >= block ? std::max<int64_t>(4, block) : 4);
  const int64_t first = begin;
  for (size_t i = 0; i < out.header.variables.size(); ++i) {
    Variable& variable = out.header.variables[i];
    if (!variable.record) continue;
    if (!fits || total > largest_offset - first) return too_many_bytes(catalogue.datasets[i]);
    variable.begin = begin;
    begin += variable.stored_bytes;
    out.layout.end = first + round_up(total, 4);
  }
  return {};
}

}  // namespace

Result<Defined> define(const Catalogue& catalogue, int64_t block) {
  PENSTOCK_ASSIGN(Shapes shapes, name_dimensions(catalogue));
  Defined out;
  out.header.version = 5;
  out.header.records = shapes.records;
  PENSTOCK_TRY(add_global_attributes(catalogue, out.header));
  out.header.dimensions = shapes.dimensions;
  for (size_t i = 0; i < catalogue.datasets.size(); ++i) PENSTOCK_TRY(add_variable(catalogue, i, shapes, out.header));
  out.layout.end = static_cast<int64_t>(encode_header(out.header).size());
  PENSTOCK_TRY(place_fixed(catalogue, block, out));
  PENSTOCK_TRY(place_records(catalogue, block, out));
  const int64_t record = record_bytes(out.header);
  for (size_t i = 0; i < catalogue.datasets.size(); ++i) {
    const Variable& variable = out.header.variables[i];
    const ElementType& type = catalogue.datasets[i].type;
    const int64_t rows = std::max<int64_t>(1, out.header.records);
    const bool apart = variable.record && bytes(catalogue.datasets[i]) / rows != record;
    out.layout.blocks.push_back({0, variable.begin,
                                 scalar_bytes(type) > 1 && std::endian::native == std::endian::little,
                                 Selection::whole(catalogue.datasets[i].shape), apart ? record : 0});
  }
  out.layout.exact = true;
  out.layout.metadata.push_back({0, encode_header(out.header)});
  return out;
}

}  // namespace penstock::netcdf
