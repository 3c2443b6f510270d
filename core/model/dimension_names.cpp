// Dimension names: converts between an attribute and a list.
#include "core/model/dimension_names.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace penstock {
namespace {

DimensionNames words(const Attribute& attribute) {
  DimensionNames list;
  const auto size = static_cast<size_t>(std::max<int64_t>(1, attribute.type.text_bytes));
  const std::string_view all(reinterpret_cast<const char*>(attribute.value.data()), attribute.value.size());
  for (size_t at = 0; at < all.size(); at += size) {
    std::string_view one = all.substr(at, size);
    one = one.substr(0, one.find_last_not_of('\0') + 1);
    if (attribute.shape.rank() > 0) {
      list.emplace_back(one);
      continue;
    }
    while (!(one = one.substr(std::min(one.find_first_not_of(' '), one.size()))).empty()) {
      const size_t end = std::min(one.find(' '), one.size());
      list.emplace_back(one.substr(0, end));
      one.remove_prefix(end);
    }
  }
  return list;
}

}  // namespace

std::optional<DimensionNames> dimension_names(const Catalogue& catalogue, std::string_view dataset) {
  const Attribute* found = catalogue.attribute(std::string(dataset), naming_attribute);
  if (found == nullptr || found->type.kind != Kind::text || found->shape.rank() > 1) return std::nullopt;
  return words(*found);
}

Attribute naming(const DimensionNames& names) { return text_attribute(std::string(naming_attribute), names); }

Status check_dimension_names(std::string_view dataset, std::span<const std::string> names) {
  if (names.size() > max_rank)
    return {Code::invalid,
            fmt::format("'{}': {} names of dimensions: a dataset has 0 to {}", dataset, names.size(), max_rank)};
  for (const std::string& name : names) {
    const auto stored = dataset_name(name);
    if (stored.ok() && *stored == name && name.find(' ') == std::string::npos) continue;
    return {Code::invalid, fmt::format("'{}': a dimension cannot be called '{}'{}", dataset, name,
                                       stored.ok() ? ": spaces, and slashes at its ends, are not for names"
                                                   : " (" + stored.status().message() + ")")};
  }
  return {};
}

}  // namespace penstock
