// Attributes: converts definitions to ADIOS2's, with notes for what ADIOS2 cannot express.
#include "core/engine/adios2/attributes.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>

#include "core/engine/adios2/notes.hpp"
#include "core/model/kinds.hpp"

namespace penstock::bp5 {
namespace {

Status define(adios2_io* io, const std::string& name, adios2_type type, const void* data, int64_t count) {
  const auto* made = count < 0
                         ? adios2_define_attribute(io, name.c_str(), type, data)
                         : adios2_define_attribute_array(io, name.c_str(), type, data, static_cast<size_t>(count));
  return made != nullptr ? Status() : Status(Code::io, "attribute '" + name + "': ADIOS2 does not take it");
}

Status define_text(adios2_io* io, const std::string& name, const Attribute& attribute) {
  const auto texts = texts_of(attribute);
  if (attribute.shape.rank() == 0) return define(io, name, adios2_type_string, texts.front().c_str(), -1);
  std::vector<const char*> list;
  for (const std::string& text : texts) list.push_back(text.c_str());
  return define(io, name, adios2_type_string, list.data(), static_cast<int64_t>(list.size()));
}

// Writes bytes, or numbers made from them, and a note with their meaning.
Status define_noted(adios2_io* io, const std::string& name, const Attribute& attribute) {
  const ElementType part = attribute.type.kind == Kind::text ? ElementType{Kind::u8} : part_of(attribute.type);
  std::vector<std::byte> value = attribute.value;
  if (value.empty()) value.resize(static_cast<size_t>(bytes(part)));  // ADIOS2 has no empty arrays
  const auto count = static_cast<int64_t>(value.size()) / bytes(part);
  PENSTOCK_TRY(define(io, name, stored_type(part), value.data(), count));
  const std::string note = note_of({"", attribute.type, attribute.shape});
  return define(io, joined(name, attribute_note), adios2_type_string, note.c_str(), -1);
}

Status define_attribute(adios2_io* io, const std::string& name, const Attribute& attribute) {
  if (!is_plain(attribute)) return define_noted(io, name, attribute);
  if (attribute.type.kind == Kind::text) return define_text(io, name, attribute);
  return define(io, name, stored_type(attribute.type), attribute.value.data(),
                attribute.shape.rank() == 0 ? -1 : elements(attribute.shape));
}

bool needs_note(const Dataset& dataset) {
  return dataset.unlimited || dataset.type.kind == Kind::text || elements(dataset.shape) == 0;
}

std::string ends_with_note(const std::string& name, std::string_view note) {
  const std::string end = "/" + std::string(note);
  return name.ends_with(end) ? name.substr(0, name.size() - end.size()) : std::string();
}

// NAME(null, &size) returns the size, then NAME(text, &size) the text.
template <typename Call, typename Object>
Result<std::string> name_of(Call call, const Object* object) {
  size_t size = 0;
  PENSTOCK_TRY(check(call(nullptr, &size, object), "asking for a name"));
  std::string name(size, '\0');
  PENSTOCK_TRY(check(call(name.data(), &size, object), "asking for a name"));
  return name;
}

void leave(std::string& left_out, const std::string& what) {
  if (left_out.empty()) left_out = what;
}

Status find_dataset(const adios2_variable* variable, Catalogue& catalogue, std::string& left_out) {
  PENSTOCK_ASSIGN(const std::string there, name_of(adios2_variable_name, variable));
  const auto name = dataset_name(there);
  if (!name.ok()) return leave(left_out, name.status().message()), Status();
  adios2_type type = adios2_type_unknown;
  adios2_shapeid id = adios2_shapeid_unknown;
  size_t rank = 0, steps = 0;
  PENSTOCK_TRY(check(adios2_variable_type(&type, variable), "asking for a type"));
  PENSTOCK_TRY(check(adios2_variable_shapeid(&id, variable), "asking for the kind of shape"));
  PENSTOCK_TRY(check(adios2_variable_ndims(&rank, variable), "asking for dimensions"));
  PENSTOCK_TRY(check(adios2_variable_steps(&steps, variable), "asking for steps"));
  const auto element = element_type(type);
  if (!element) return leave(left_out, "variable '" + there + "' is of a type that no dataset has"), Status();
  if ((id != adios2_shapeid_global_value && id != adios2_shapeid_global_array) || rank > max_rank + 1)
    return leave(left_out, "variable '" + there + "' is no global array or value"), Status();
  if (steps > 1) leave(left_out, "variable '" + there + "' has several steps; the first is read");
  std::vector<size_t> shape(rank);
  if (rank > 0) PENSTOCK_TRY(check(adios2_variable_shape(shape.data(), variable), "asking for a shape"));
  Dataset dataset{*name, *element, {}};
  if (rank > max_rank) rank = max_rank;  // a text, as its note says
  for (size_t i = 0; i < rank; ++i) dataset.shape.push_back(static_cast<int64_t>(shape[i]));
  catalogue.datasets.push_back(std::move(dataset));
  return {};
}

// Notes of datasets, and attributes of attributes, by full name.
struct Notes {
  std::map<std::string, std::string> datasets, attributes;
};

Result<Attribute> value_of(const adios2_attribute* attribute, const std::string& name, adios2_type type,
                           size_t max_text) {
  adios2_bool single = adios2_false;
  size_t count = 0;
  PENSTOCK_TRY(check(adios2_attribute_is_value(&single, attribute), "asking for the kind of an attribute"));
  PENSTOCK_TRY(check(adios2_attribute_size(&count, attribute), "asking for the size of an attribute"));
  if (type == adios2_type_string) {  // the library reports only how many texts; unused pages need no memory
    const std::unique_ptr<char[]> space(new char[count * max_text]);
    std::vector<char*> texts;
    for (size_t i = 0; i < count; ++i) texts.push_back(space.get() + i * max_text);
    void* data = single == adios2_true ? static_cast<void*>(space.get()) : static_cast<void*>(texts.data());
    PENSTOCK_TRY(check(adios2_attribute_data(data, &count, attribute), "reading attribute '" + name + "'"));
    if (single == adios2_true) return text_attribute(name, std::string_view(space.get()));
    return text_attribute(name, std::vector<std::string>(texts.begin(), texts.end()));
  }
  const auto element = element_type(type);
  if (!element || is_complex(*element))
    return Status(Code::unsupported, "attribute '" + name + "' is of a type that no attribute has");
  std::vector<std::byte> value(count * static_cast<size_t>(bytes(*element)));
  PENSTOCK_TRY(check(adios2_attribute_data(value.data(), &count, attribute), "reading attribute '" + name + "'"));
  return make_attribute(name, *element, value.data(), single == adios2_true ? -1 : static_cast<int64_t>(count));
}

// The attribute whose bytes ATTRIBUTE holds, according to NOTE.
Result<Attribute> as_noted(Attribute attribute, const std::string& note) {
  PENSTOCK_ASSIGN(const Dataset meant, parse_note(attribute.name, note));
  const auto size = static_cast<size_t>(bytes(meant));
  if (size > attribute.value.size())
    return Status(Code::damaged, "attribute '" + attribute.name + "' is smaller than its note says");
  attribute.type = meant.type;
  attribute.shape = meant.shape;
  attribute.value.resize(size);
  return attribute;
}

Status apply_notes(const std::map<std::string, std::string>& notes, Catalogue& catalogue) {
  for (const auto& [name, note] : notes) {
    PENSTOCK_ASSIGN(Dataset dataset, parse_note(name, note));
    const int at = catalogue.index_of(name);
    if (at >= 0)
      catalogue.datasets[static_cast<size_t>(at)] = std::move(dataset);
    else
      catalogue.datasets.insert(std::ranges::lower_bound(catalogue.datasets, name, {}, &Dataset::name),
                                std::move(dataset));
  }
  return check_names(catalogue);
}

}  // namespace

Status define_attributes(adios2_io* io, const Catalogue& catalogue, bool notes) {
  for (const auto& [object, attributes] : catalogue.attributes)
    for (const auto& [name, attribute] : attributes)
      PENSTOCK_TRY(define_attribute(io, joined(object, name), attribute));
  for (const Dataset& dataset : catalogue.datasets)
    if (notes || needs_note(dataset))
      PENSTOCK_TRY(define(io, joined(dataset.name, dataset_note), adios2_type_string, note_of(dataset).c_str(), -1));
  return {};
}

adios2_variable* find_variable(adios2_io* io, const std::string& name) {
  adios2_variable* variable = adios2_inquire_variable(io, name.c_str());
  return variable != nullptr ? variable : adios2_inquire_variable(io, ("/" + name).c_str());
}

Status find_datasets(const Folder& folder, Catalogue& catalogue, std::string& left_out) {
  adios2_variable** list = nullptr;
  size_t count = 0;
  PENSTOCK_TRY(check(adios2_inquire_all_variables(&list, &count, folder.io()), "asking for variables"));
  const std::unique_ptr<adios2_variable*, void (*)(void*)> owner(list, std::free);
  for (size_t i = 0; i < count; ++i) {
    if (list[i] == nullptr)
      leave(left_out, "a variable of structs");
    else
      PENSTOCK_TRY(find_dataset(list[i], catalogue, left_out));
  }
  std::ranges::sort(catalogue.datasets, {}, &Dataset::name);
  const auto twice = std::ranges::unique(catalogue.datasets, {}, &Dataset::name);
  if (!twice.empty()) leave(left_out, "variables whose names differ by a slash only");
  catalogue.datasets.erase(twice.begin(), twice.end());
  return {};
}

Status find_attributes(const Folder& folder, size_t max_text, Catalogue& catalogue, std::string& left_out) {
  adios2_attribute** list = nullptr;
  size_t count = 0;
  PENSTOCK_TRY(check(adios2_inquire_all_attributes(&list, &count, folder.io()), "asking for attributes"));
  const std::unique_ptr<adios2_attribute*, void (*)(void*)> owner(list, std::free);
  Notes notes;
  std::map<std::string, Attribute> found;
  for (size_t i = 0; i < count; ++i) {
    if (list[i] == nullptr) continue;
    PENSTOCK_ASSIGN(const std::string full, name_of(adios2_attribute_name, list[i]));
    adios2_type type = adios2_type_unknown;
    PENSTOCK_TRY(check(adios2_attribute_type(&type, list[i]), "asking for a type"));
    const auto slash = full.rfind('/');
    auto value = value_of(list[i], slash == full.npos ? full : full.substr(slash + 1), type, max_text);
    if (!value.ok()) {
      leave(left_out, value.status().message());
      continue;
    }
    if (std::string of = ends_with_note(full, dataset_note); !of.empty())
      notes.datasets[of] = text(*value);
    else if (of = ends_with_note(full, attribute_note); !of.empty())
      notes.attributes[of] = text(*value);
    else
      found.emplace(full, *std::move(value));
  }
  for (auto& [full, attribute] : found) {
    const auto slash = full.rfind('/');
    const auto object = object_name(slash == full.npos ? "" : full.substr(0, slash));
    if (!object.ok() || attribute.name.empty()) {
      leave(left_out, "attribute '" + full + "' has a name that no attribute has");
      continue;
    }
    if (const auto note = notes.attributes.find(full); note != notes.attributes.end()) {
      PENSTOCK_ASSIGN(attribute, as_noted(std::move(attribute), note->second));
    }
    const std::string name = attribute.name;
    catalogue.attributes[*object].emplace(name, std::move(attribute));
  }
  return apply_notes(notes.datasets, catalogue);
}

}  // namespace penstock::bp5
