// Dimension names: taken from the attribute, and compared with shapes.
#include "core/model/dimension_names.hpp"

#include <algorithm>
#include <map>

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

// What first had a dimension of a name.
struct First {
  const Dataset* dataset;
  int64_t length;
  bool grows;
};

Status check_length(const std::string& name, First& first, const Dataset& dataset, int d) {
  const int64_t length = dataset.shape[d];
  const bool grows = dataset.unlimited && d == 0;
  if (length == first.length || (grows && first.grows)) {
    first.length = std::max(first.length, length);
    return {};
  }
  const size_t slash = dataset.name.rfind('/');
  const std::string other = slash == std::string::npos || name.find('/') != std::string::npos
                                ? std::string()
                                : fmt::format(", such as '{}/{}'", dataset.name.substr(0, slash), name);
  return {Code::invalid, fmt::format("dimension '{}' has length {} in '{}' but {} in '{}': a name stands for one length, "
                                     "use another one{}",
                                     name, first.length, first.dataset->name, length, dataset.name, other)};
}

}  // namespace

std::optional<DimensionNames> dimension_names(const Catalogue& catalogue, std::string_view dataset) {
  const auto list = catalogue.attributes.find(std::string(dataset));
  if (list == catalogue.attributes.end()) return std::nullopt;
  const auto found = list->second.find(std::string(naming_attribute));
  if (found == list->second.end() || found->second.type.kind != Kind::text || found->second.shape.rank() > 1)
    return std::nullopt;
  return words(found->second);
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

Status check_dimensions(const Catalogue& catalogue, const std::set<std::string>& named) {
  if (named.empty()) return {};
  std::map<std::string, First> first;
  for (const Dataset& dataset : catalogue.datasets) {
    const auto names = dimension_names(catalogue, dataset.name);
    const bool meant = named.contains(dataset.name);
    const size_t count = names ? names->size() : 0;
    if (count != static_cast<size_t>(dataset.shape.rank())) {
      if (meant)
        return {Code::invalid, fmt::format("'{}' has {} dimension{} but {} name{} of dimensions", dataset.name,
                                           dataset.shape.rank(), dataset.shape.rank() == 1 ? "" : "s", count,
                                           count == 1 ? "" : "s")};
      continue;
    }
    for (int d = 0; d < dataset.shape.rank(); ++d) {
      const std::string& name = (*names)[static_cast<size_t>(d)];
      const auto [at, is_new] =
          first.try_emplace(name, First{&dataset, dataset.shape[d], dataset.unlimited && d == 0});
      if (is_new) continue;
      const Status fits = check_length(name, at->second, dataset, d);
      if (!fits.ok() && (meant || named.contains(at->second.dataset->name))) return fits;
    }
  }
  return {};
}

}  // namespace penstock
