// Note: prints and parses notes, and converts attributes that need one.
#include "core/netcdf/note.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "core/model/catalogue.hpp"
#include "core/model/kinds.hpp"

namespace penstock::netcdf {
namespace {

using nlohmann::json;

json to_json(const Dims& dims) { return std::vector<int64_t>(dims.begin(), dims.end()); }

std::optional<Dims> dims_of(const json& list) {
  if (!list.is_array() || list.size() > max_rank) return std::nullopt;
  Dims dims;
  for (const json& extent : list) {
    if (!extent.is_number_unsigned() || extent.get<uint64_t>() > uint64_t{INT64_MAX}) return std::nullopt;
    dims.push_back(extent.get<int64_t>());
  }
  return dims;
}

std::optional<ElementType> type_of_word(const json& object) {
  const auto at = object.find("type");
  if (at == object.end() || !at->is_string()) return std::nullopt;
  const auto type = parse_type(at->get<std::string>());
  return type.ok() ? std::optional(*type) : std::nullopt;
}

bool flag(const json& object, const char* name) {
  const auto at = object.find(name);
  return at != object.end() && at->is_boolean() && at->get<bool>();
}

std::optional<AttributeNote> attribute_note(const json& object) {
  if (!object.is_object()) return std::nullopt;
  const auto type = type_of_word(object);
  const auto at = object.find("shape");
  const auto shape = at == object.end() ? std::nullopt : dims_of(*at);
  if (!type || !shape || !check_shape(*type, *shape).ok()) return std::nullopt;
  return AttributeNote{*type, *shape, flag(object, "joined")};
}

std::string_view raw_text(const Attribute& a) {
  return {reinterpret_cast<const char*>(a.value.data()), a.value.size()};
}

// Texts are joined only if that does not save too much, so that a small file cannot request much memory.
int64_t joined_limit(std::string_view all) { return 1024 + 16 * static_cast<int64_t>(all.size()); }

// The texts of an array, without padding; nothing if newlines cannot separate them.
std::optional<std::string> joined(const Attribute& a) {
  const auto size = static_cast<size_t>(a.type.text_bytes);
  std::string all;
  for (size_t at = 0; at < a.value.size(); at += size) {
    std::string_view one = raw_text(a).substr(at, size);
    one = one.substr(0, one.find_last_not_of('\0') + 1);
    if (one.find('\n') != std::string_view::npos || one.find('\0') != std::string_view::npos) return std::nullopt;
    if (at > 0) all += '\n';
    all += one;
  }
  if (static_cast<int64_t>(a.value.size()) > joined_limit(all)) return std::nullopt;
  return all;
}

// False if ALL does not have the COUNT texts of at most SIZE bytes that the note describes.
bool split(std::string_view all, size_t count, size_t size, std::vector<std::byte>& out) {
  out.assign(count * size, std::byte{0});
  for (size_t i = 0; i < count; ++i) {
    const size_t end = i + 1 < count ? all.find('\n') : all.size();
    if (end == std::string_view::npos || end > size || (i + 1 == count && all.find('\n') != std::string_view::npos))
      return false;
    std::copy_n(reinterpret_cast<const std::byte*>(all.data()), end,
                out.begin() + static_cast<std::ptrdiff_t>(i * size));
    all.remove_prefix(std::min(all.size(), end + 1));
  }
  return true;
}

}  // namespace

std::string print_note(const Note& note) {
  json object = json::object();
  if (note.conventions) object["conventions"] = true;
  if (note.named) object["named"] = true;
  if (note.type) object["type"] = name(*note.type);
  if (note.shape) object["shape"] = to_json(*note.shape);
  if (note.unlimited) object["unlimited"] = *note.unlimited;
  if (!note.groups.empty()) object["groups"] = note.groups;
  for (const auto& [key, attribute] : note.attributes) {
    json& entry = object["attributes"][key];
    entry = {{"type", name(attribute.type)}, {"shape", to_json(attribute.shape)}};
    if (attribute.joined) entry["joined"] = true;
  }
  return object.dump();
}

Note parse_note(std::string_view text) {
  Note note;
  const json object = json::parse(text.begin(), text.end(), nullptr, false);
  if (!object.is_object()) return note;
  note.conventions = flag(object, "conventions");
  note.named = flag(object, "named");
  note.type = type_of_word(object);
  if (const auto at = object.find("shape"); at != object.end()) note.shape = dims_of(*at);
  if (const auto at = object.find("unlimited"); at != object.end() && at->is_boolean())
    note.unlimited = at->get<bool>();
  if (const auto at = object.find("groups"); at != object.end() && at->is_array())
    for (const json& group : *at)
      if (group.is_string()) note.groups.push_back(group.get<std::string>());
  if (const auto at = object.find("attributes"); at != object.end() && at->is_object())
    for (const auto& [key, value] : at->items())
      if (const auto attribute = attribute_note(value)) note.attributes[key] = *attribute;
  return note;
}

Attribute to_plain(const Attribute& attribute, std::string name, Note& note) {
  Attribute plain = attribute;
  plain.name = name;
  AttributeNote kept{attribute.type, attribute.shape, false};
  const int64_t count = elements(attribute.shape);
  if (attribute.type.kind == Kind::text) {
    const bool array = attribute.shape.rank() > 0;
    const auto text = array && count > 0 ? joined(attribute) : std::nullopt;
    kept.joined = text.has_value();
    if (text) plain = text_attribute(name, *text);
    if (array && count == 0) plain = text_attribute(name, std::string_view());
    plain.shape = {};
    plain.type.text_bytes = static_cast<int64_t>(plain.value.size());
    if (array) note.attributes[std::move(name)] = kept;
    return plain;
  }
  plain.type = part_of(attribute.type);
  const auto parts = static_cast<int64_t>(plain.value.size()) / bytes(plain.type);
  const bool list = attribute.shape.rank() == 1 && count != 1;
  plain.shape = parts == 1 ? Dims{} : Dims{parts};
  if (is_complex(attribute.type) || (attribute.shape.rank() > 0 && !list)) note.attributes[std::move(name)] = kept;
  return plain;
}

Attribute from_plain(const Attribute& plain, std::string name, const Note& note) {
  Attribute out = plain;
  out.name = std::move(name);
  const auto found = note.attributes.find(plain.name);
  if (found == note.attributes.end() || part_of(found->second.type).kind != plain.type.kind) return out;
  const AttributeNote& kept = found->second;
  const int64_t count = elements(kept.shape), size = count * bytes(kept.type);
  std::vector<std::byte> value;
  if (kept.joined) {
    const std::string all = text(plain);
    if (size > joined_limit(all) ||
        !split(all, static_cast<size_t>(count), static_cast<size_t>(kept.type.text_bytes), value))
      return out;
  } else if (count > 0 || !text(plain).empty()) {
    value = plain.value;
    if (size != static_cast<int64_t>(value.size())) return out;
  }
  out.value = std::move(value);
  out.type = kept.type;
  out.shape = kept.shape;
  return out;
}

}  // namespace penstock::netcdf
