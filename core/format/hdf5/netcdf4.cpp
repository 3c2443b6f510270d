// netCDF-4: recognises its attributes.
#include "core/format/hdf5/netcdf4.hpp"

#include "core/hdf5/dimension_scales.hpp"
#include "core/netcdf/names.hpp"

namespace penstock::hdf5 {
namespace {

const std::string own(netcdf::own_attribute);

}  // namespace

std::string text_of(const AttributeMap& attributes, const std::string& name) {
  const auto found = attributes.find(name);
  return found == attributes.end() ? std::string() : text(found->second);
}

bool is_noted(const AttributeMap& root) { return root.contains(own); }
bool is_netcdf4(const AttributeMap& root) { return root.contains("_NCProperties") || is_noted(root); }

bool is_dimension_only(const AttributeMap& attributes) {
  return text_of(attributes, "NAME").starts_with(dimension_only_name);
}

bool is_scale_attribute(const std::string& name) { return name == "DIMENSION_LIST" || name == "REFERENCE_LIST"; }

std::optional<ElementType> folded_type(const Dataset& dataset) {
  const int rank = dataset.shape.rank();
  if (rank == 0 || dataset.type != ElementType{Kind::text, 1} || dataset.shape[rank - 1] < 1) return std::nullopt;
  if (rank == 1 && dataset.unlimited) return std::nullopt;  // a 1-D dataset that grows, as in classic netCDF
  const ElementType type{Kind::text, dataset.shape[rank - 1]};
  if (!check_shape(type, Dims{}).ok()) return std::nullopt;
  return type;
}

void take_scale(AttributeMap& attributes) {
  if (text_of(attributes, "CLASS") == "DIMENSION_SCALE") {
    attributes.erase("CLASS");
    attributes.erase("NAME");
  }
}

netcdf::Note take_note(AttributeMap& attributes, bool noted) {
  const netcdf::Note note = netcdf::parse_note(text_of(attributes, own));
  take_scale(attributes);
  for (const char* name :
       {"DIMENSION_LIST", "REFERENCE_LIST", "_Netcdf4Dimid", "_Netcdf4Coordinates", "_NCProperties", "_nc3_strict"})
    attributes.erase(name);
  attributes.erase(own);
  for (auto& [name, attribute] : attributes) {
    if (attribute.shape == Dims{1}) attribute.shape = {};  // netCDF does not distinguish them
    if (noted) attribute = netcdf::from_plain(attribute, name, note);
  }
  return note;
}

void apply_note(const netcdf::Note& note, Dataset& dataset) {
  if (note.unlimited) dataset.unlimited = *note.unlimited;
  const int rank = dataset.shape.rank();
  if (note.shape && note.shape->rank() == rank && elements(*note.shape) == 0 && elements(dataset.shape) == 0)
    dataset.shape = *note.shape;
  if (!note.type || note.type->kind != Kind::text || rank == 0 || dataset.type != ElementType{Kind::text, 1} ||
      dataset.shape[rank - 1] != note.type->text_bytes)
    return;
  dataset.type = *note.type;
  dataset.shape = Dims(std::span(dataset.shape.begin(), static_cast<size_t>(rank - 1)));
}

bool is_folded(const Dataset& dataset, const ElementType& stored, int rank) {
  return dataset.type.kind == Kind::text && stored == ElementType{Kind::text, 1} && rank == dataset.shape.rank() + 1;
}

}  // namespace penstock::hdf5
