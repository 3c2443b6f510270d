// Catalogue: valid names, shapes and attributes, and their encoding for messages between ranks.
#include "core/model/catalogue.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/encode.hpp"

namespace penstock {

int Catalogue::index_of(std::string_view name) const {
  const auto at = std::ranges::lower_bound(datasets, name, {}, &Dataset::name);
  return at != datasets.end() && at->name == name ? static_cast<int>(at - datasets.begin()) : -1;
}

const Dataset* Catalogue::find(std::string_view name) const {
  const int index = index_of(name);
  return index < 0 ? nullptr : &datasets[static_cast<size_t>(index)];
}

const std::map<std::string, Attribute>* Catalogue::attributes_of(const std::string& object) const {
  const auto found = attributes.find(object);
  return found == attributes.end() ? nullptr : &found->second;
}

const Attribute* Catalogue::attribute(const std::string& object, std::string_view name) const {
  const auto* list = attributes_of(object);
  if (list == nullptr) return nullptr;
  const auto found = list->find(std::string(name));
  return found == list->end() ? nullptr : &found->second;
}

int64_t elements(const Dims& shape) {
  uint64_t n = 1;  // wraps only if some extent is 0
  for (const int64_t extent : shape) n *= static_cast<uint64_t>(extent);
  return std::count(shape.begin(), shape.end(), 0) > 0 ? 0 : static_cast<int64_t>(n);
}

int64_t bytes(const Dataset& dataset) { return elements(dataset.shape) * bytes(dataset.type); }

Dims row_major(const Dims& shape) {
  Dims step = Dims::filled(shape.rank(), 1);
  for (int d = shape.rank() - 2; d >= 0; --d)
    step[d] = static_cast<int64_t>(static_cast<uint64_t>(step[d + 1]) * static_cast<uint64_t>(shape[d + 1]));
  return step;
}

Dims coordinates(const Dims& shape, int64_t offset) {
  Dims at = Dims::filled(shape.rank(), 0);
  for (int d = shape.rank() - 1; d >= 0; --d) {
    at[d] = offset % shape[d];
    offset /= shape[d];
  }
  return at;
}

std::string describe(const Dims& dims) { return fmt::format("({})", fmt::join(dims.begin(), dims.end(), ", ")); }

std::string describe(const Dataset& dataset) {
  return fmt::format("{} {}{}", name(dataset.type), describe(dataset.shape), dataset.unlimited ? " unlimited" : "");
}

bool is_in(std::string_view object, std::string_view group) {
  return object.starts_with(group) && (object.size() == group.size() || object[group.size()] == '/');
}

Result<std::string> object_name(std::string_view name) {
  if (name.empty() || name == "/") return std::string();
  const std::string_view given = name;
  if (name.starts_with('/')) name.remove_prefix(1);
  const auto bad = [&](std::string_view why) {
    return Status(Code::invalid, fmt::format("'{}' cannot be a name: {}", given, why));
  };
  if (name.size() > 1000) return bad("it is over 1000 bytes long");
  if (name.ends_with('/')) return bad("it has a slash at its end");
  if (name.find('\0') != std::string_view::npos) return bad("it holds a NUL byte");
  for (size_t at = 0; at <= name.size();) {
    const size_t slash = std::min(name.find('/', at), name.size());
    const std::string_view part = name.substr(at, slash - at);
    if (part.empty()) return bad("it has an empty part between slashes");
    if (part == "." || part == "..") return bad("'.' and '..' are no parts of names");
    if (at == 0 && part == "_penstock") return bad("'_penstock' belongs to penstock");
    at = slash + 1;
  }
  return std::string(name);
}

Result<std::string> dataset_name(std::string_view name) {
  PENSTOCK_ASSIGN(std::string stored, object_name(name));
  if (stored.empty()) return Status(Code::invalid, "a dataset needs a name");
  return stored;
}

Status check_shape(const ElementType& type, const Dims& shape) {
  if (type.kind == Kind::text && (type.text_bytes < 1 || type.text_bytes > (1 << 24)))
    return {Code::invalid, fmt::format("texts have 1 to 2^24 bytes, not {}", type.text_bytes)};
  if (static_cast<int>(type.kind) >= kind_count) return {Code::invalid, "no such element type"};
  int64_t total = bytes(type);
  for (const int64_t extent : shape) {
    if (extent < 0) return {Code::invalid, fmt::format("shape {} has a negative extent", describe(shape))};
    if (extent > 0 && __builtin_mul_overflow(total, extent, &total))
      return {Code::invalid, fmt::format("shape {} of {} is over 2^63 bytes", describe(shape), name(type))};
  }
  return {};
}

namespace {

// The first group of NAME that is a dataset, "" if none is. Neighbouring names usually share their group: LAST is the
// previous name's group, which was no dataset.
std::string_view dataset_above(const Catalogue& catalogue, std::string_view name, std::string_view& last) {
  const size_t end = name.rfind('/');
  if (end == std::string_view::npos || name.substr(0, end) == last) return {};
  last = name.substr(0, end);
  for (size_t slash = name.find('/'); slash != std::string_view::npos; slash = name.find('/', slash + 1))
    if (catalogue.find(name.substr(0, slash)) != nullptr) return name.substr(0, slash);
  return {};
}

}  // namespace

Status check_names(const Catalogue& catalogue) {
  std::string_view last;
  for (const Dataset& dataset : catalogue.datasets)
    if (const auto above = dataset_above(catalogue, dataset.name, last); !above.empty())
      return {Code::invalid, fmt::format("'{}' is a dataset, so it cannot be the group of '{}'", above, dataset.name)};
  for (const auto& [object, attributes] : catalogue.attributes)
    if (const auto above = dataset_above(catalogue, object, last); !above.empty())
      return {Code::invalid, fmt::format("'{}' is a dataset, so it cannot be the group of '{}', which has an attribute",
                                         above, object)};
  return {};
}

namespace {

void put_type(Encoder& out, const ElementType& type) {
  out.value(type.kind);
  out.value(type.text_bytes);
}

ElementType take_type(Decoder& in) {
  ElementType type;
  type.kind = in.value<Kind>();
  type.text_bytes = in.value<int64_t>();
  if (static_cast<int>(type.kind) >= kind_count) type.kind = Kind::i8;
  return type;
}

}  // namespace

std::vector<std::byte> encode(const Catalogue& catalogue) {
  Encoder out;
  out.value(static_cast<int64_t>(catalogue.datasets.size()));
  for (const Dataset& d : catalogue.datasets) {
    out.text(d.name);
    put_type(out, d.type);
    out.dims(d.shape);
    out.value(d.unlimited);
  }
  out.value(static_cast<int64_t>(catalogue.attributes.size()));
  for (const auto& [object, attributes] : catalogue.attributes) {
    out.text(object);
    out.value(static_cast<int64_t>(attributes.size()));
    for (const auto& [name, a] : attributes) {
      out.text(name);
      put_type(out, a.type);
      out.dims(a.shape);
      out.list(std::span<const std::byte>(a.value));
    }
  }
  return out.take();
}

Result<Catalogue> decode_catalogue(std::span<const std::byte> bytes) {
  Decoder in(bytes);
  Catalogue catalogue;
  for (auto n = in.value<int64_t>(); n > 0 && in.ok(); --n) {
    Dataset d;
    d.name = in.text();
    d.type = take_type(in);
    d.shape = in.dims();
    d.unlimited = in.value<bool>();
    catalogue.datasets.push_back(std::move(d));
  }
  for (auto n = in.value<int64_t>(); n > 0 && in.ok(); --n) {
    auto& attributes = catalogue.attributes[in.text()];
    for (auto m = in.value<int64_t>(); m > 0 && in.ok(); --m) {
      Attribute a;
      a.name = in.text();
      a.type = take_type(in);
      a.shape = in.dims();
      a.value = in.list<std::byte>();
      attributes[a.name] = a;
    }
  }
  if (!in.ok() || !in.done()) return Status(Code::internal, "definitions from another rank cannot be decoded");
  return catalogue;
}

std::vector<std::string> object_names(const Catalogue& catalogue) {
  std::set<std::string> names;
  const auto add = [&](const std::string& name) {
    for (size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1))
      names.insert(name.substr(0, slash));
    if (!name.empty()) names.insert(name);
  };
  for (const Dataset& dataset : catalogue.datasets) add(dataset.name);
  for (const auto& [object, attributes] : catalogue.attributes) add(object);
  return {names.begin(), names.end()};
}

}  // namespace penstock
