// Notes: writes and parses them.
#include "core/engine/adios2/notes.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "core/model/kinds.hpp"

namespace penstock::bp5 {

constexpr int64_t longest_text = 4095;  // readers in the C bindings have buffers of 4096

std::string joined(std::string_view object, std::string_view name) {
  return object.empty() ? std::string(name) : fmt::format("{}/{}", object, name);
}

std::string note_of(const Dataset& dataset) {
  std::string shape;
  for (const int64_t extent : dataset.shape) shape += (shape.empty() ? "" : ",") + std::to_string(extent);
  return fmt::format("{} {}{}", name(dataset.type), shape.empty() ? "-" : shape, dataset.unlimited ? " unlimited" : "");
}

Result<Dataset> parse_note(std::string name, std::string_view note) {
  const Status damaged(Code::damaged, fmt::format("'{}' has the note '{}', which says nothing", name, note));
  std::istringstream words{std::string(note)};
  std::string type, shape, rest;
  words >> type >> shape >> rest;
  const auto element = parse_type(type);
  if (!element.ok() || shape.empty() || (!rest.empty() && rest != "unlimited")) return damaged;
  Dataset dataset{std::move(name), *element, {}, !rest.empty()};
  for (const char *at = shape.data(), *end = at + shape.size(); shape != "-";) {
    int64_t extent = 0;
    const auto [next, error] = std::from_chars(at, end, extent);
    if (error != std::errc() || dataset.shape.rank() == max_rank) return damaged;
    dataset.shape.push_back(extent);
    if (next == end) break;
    if (*next != ',') return damaged;
    at = next + 1;
  }
  PENSTOCK_TRY(check_shape(dataset.type, dataset.shape));
  return dataset;
}

std::vector<std::string> texts_of(const Attribute& attribute) {
  std::vector<std::string> list;
  const auto size = static_cast<size_t>(attribute.type.text_bytes);
  for (size_t at = 0; at + size <= attribute.value.size(); at += size) {
    std::string one(reinterpret_cast<const char*>(attribute.value.data()) + at, size);
    one.resize(one.find_last_not_of('\0') + 1);
    list.push_back(std::move(one));
  }
  return list;
}

// An array of one element may read back as a scalar, and one of several dimensions as a list, so they need a note.
bool is_plain(const Attribute& attribute) {
  const bool scalar = attribute.shape.rank() == 0;
  if (!scalar && (attribute.shape.rank() > 1 || elements(attribute.shape) < 2)) return false;
  if (is_complex(attribute.type)) return false;
  if (attribute.type.kind != Kind::text) return true;
  if (attribute.type.text_bytes > longest_text) return false;
  const auto texts = texts_of(attribute);
  if (std::any_of(texts.begin(), texts.end(), [](const std::string& t) { return t.find('\0') != t.npos; }))
    return false;
  return attribute == (scalar ? text_attribute(attribute.name, texts.front()) : text_attribute(attribute.name, texts));
}

Status check_names_of(const Catalogue& catalogue) {
  for (const auto& [object, attributes] : catalogue.attributes)
    for (const auto& [name, attribute] : attributes)
      if (name.empty() || name.find('/') != name.npos || name == dataset_note || name == attribute_note)
        return {Code::unsupported,
                fmt::format("attribute '{}' of '{}': ADIOS2 parts an object's name from its attribute's by '/', and "
                            "'{}' and '{}' are penstock's: rename it",
                            name, object, dataset_note, attribute_note)};
  return {};
}

}  // namespace penstock::bp5
