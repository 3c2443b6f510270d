// Dimension scales: found by visiting datasets in the order of their names.
#include "core/model/dimension_scales.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/nearest.hpp"
#include "core/model/dimension_names.hpp"

namespace penstock {
namespace {

std::string_view group_of(std::string_view name) {
  const size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : name.substr(0, slash);
}

std::set<std::string> groups_of(const Catalogue& catalogue) {
  std::set<std::string> groups;
  const auto add = [&](std::string_view name) {
    while (!name.empty() && groups.emplace(name).second) name = group_of(name);
  };
  for (const Dataset& dataset : catalogue.datasets) add(group_of(dataset.name));
  for (const auto& [object, attributes] : catalogue.attributes)
    if (catalogue.find(object) == nullptr) add(object);
  return groups;
}

class Finder {
 public:
  explicit Finder(const Catalogue& catalogue) : catalogue_(catalogue), groups_(groups_of(catalogue)) {
    for (const Dataset& dataset : catalogue_.datasets) add(dataset);
  }

  DimensionScales take() {
    DimensionScales scales;
    std::map<std::string, int> index;
    for (auto& [name, scale] : found_) {
      index.emplace(name, static_cast<int>(scales.list.size()));
      scales.list.push_back(std::move(scale));
    }
    for (const auto& [dataset, names] : names_) {
      std::vector<int> of;
      for (const std::string& name : names) {
        of.push_back(index.at(name));
        // A scale has no scale itself.
        if (name != dataset)
          scales.list[static_cast<size_t>(of.back())].users.push_back({dataset, static_cast<int>(of.size()) - 1});
      }
      if (names != DimensionNames{dataset}) scales.of.emplace(dataset, std::move(of));
    }
    return scales;
  }

  Status check(const Dataset& dataset) const {
    const auto names = dimension_names(catalogue_, dataset.name);
    const int64_t count = names ? std::ssize(*names) : 0;
    if (count != dataset.shape.rank())
      return {Code::invalid, fmt::format("'{}' has {} dimension{}, but names of {}", dataset.name, dataset.shape.rank(),
                                         dataset.shape.rank() == 1 ? "" : "s", count)};
    if (names_.contains(dataset.name)) return {};
    for (int d = 0; d < count; ++d) {
      const std::string& name = (*names)[static_cast<size_t>(d)];
      if (const std::string why = trouble(dataset, d, name); !why.empty())
        return {Code::invalid, fmt::format("dimension '{}' of '{}': {}; call it otherwise{}", name, dataset.name, why,
                                           suggestion(dataset, name))};
    }
    return count == 0 ? Status()
                      : Status(Code::invalid,
                               fmt::format("'{}' has one name for dimensions of different lengths", dataset.name));
  }

 private:
  // For a dataset in a group: the dimension may belong to the group.
  std::string suggestion(const Dataset& dataset, const std::string& name) const {
    if (name.find('/') != std::string::npos) return {};
    const auto found = found_.find(name);
    for (const std::string& one : {dataset.name, found == found_.end() ? std::string() : found->second.first})
      if (const std::string_view group = group_of(one); !group.empty())
        return fmt::format(", such as '{}/{}' for '{}', which is of group '{}' alone", group, name, one, group);
    return {};
  }

  // Why DATASET cannot have NAME for dimension D; "" if it can.
  std::string trouble(const Dataset& dataset, int d, const std::string& name) const {
    const auto legal = dataset_name(name);
    if (!legal.ok() || *legal != name) return "that is no name";
    const std::string_view group = group_of(name);
    if (!group.empty() && !dataset.name.starts_with(std::string(group) + "/"))
      return fmt::format("the dataset is not in group '{}', whose dimension that is", group);
    if (groups_.contains(name)) return "there is a group of that name";
    if (const Dataset* there = catalogue_.find(name)) {
      const auto own = dimension_names(catalogue_, name);
      if (there->shape.rank() != 1 || (own && *own != DimensionNames{name}))
        return fmt::format("dataset '{}' of that name, {}, is not a list of its coordinates", name, describe(*there));
      if (!fits(there->shape[0], there->unlimited, dataset, d))
        return fmt::format("it has length {}, dataset '{}' of that name is {}", dataset.shape[d], name,
                           describe(*there));
    }
    const auto found = found_.find(name);
    if (found != found_.end() && !fits(found->second.length, found->second.unlimited, dataset, d))
      return fmt::format("it has length {}, but {} in '{}'", dataset.shape[d], found->second.length,
                         found->second.first);
    return {};
  }

  static bool grows(const Dataset& dataset, int d) { return dataset.unlimited && d == 0; }
  static bool fits(int64_t length, bool unlimited, const Dataset& dataset, int d) {
    return dataset.shape[d] == length || (grows(dataset, d) && unlimited);
  }

  void add(const Dataset& dataset) {
    auto names = dimension_names(catalogue_, dataset.name);
    // Blocks in parts of a set are cut from larger datasets.
    if (!names || catalogue_.attributes.at(dataset.name).contains("penstock_shape") || dataset.shape.rank() == 0 ||
        std::ssize(*names) != dataset.shape.rank())
      return;
    for (int d = 0; d < dataset.shape.rank(); ++d)
      if (!trouble(dataset, d, (*names)[static_cast<size_t>(d)]).empty()) return;
    // One name for two dimensions of different lengths.
    for (int d = 0; d < dataset.shape.rank(); ++d)
      for (int e = 0; e < d; ++e)
        if ((*names)[static_cast<size_t>(d)] == (*names)[static_cast<size_t>(e)] &&
            (dataset.shape[d] != dataset.shape[e] || grows(dataset, e)))
          return;
    for (int d = 0; d < dataset.shape.rank(); ++d) {
      const std::string& name = (*names)[static_cast<size_t>(d)];
      const Dataset* there = catalogue_.find(name);
      DimensionScale& scale = found_[name];
      scale.name = name;
      if (scale.first.empty()) scale.first = dataset.name;
      scale.is_dataset = there != nullptr;
      scale.length = std::max({scale.length, dataset.shape[d], there != nullptr ? there->shape[0] : 0});
      scale.unlimited = scale.unlimited || grows(dataset, d) || (there != nullptr && there->unlimited);
    }
    names_.emplace(dataset.name, *std::move(names));
  }

  const Catalogue& catalogue_;
  std::set<std::string> groups_;
  std::map<std::string, DimensionScale> found_;
  std::map<std::string, DimensionNames> names_;  // of each dataset with scales
};

}  // namespace

bool DimensionScales::concern(const std::string& dataset) const {
  const auto at = std::ranges::lower_bound(list, dataset, {}, &DimensionScale::name);
  return of.contains(dataset) || (at != list.end() && at->name == dataset);
}

DimensionScales scales_of(const Catalogue& catalogue) { return Finder(catalogue).take(); }

Status check_dimensions(const Catalogue& catalogue, const std::set<std::string>& named) {
  if (named.empty()) return {};
  const Finder finder(catalogue);
  for (const std::string& name : named) {
    const Dataset* dataset = catalogue.find(name);
    if (dataset == nullptr) {
      std::vector<std::string> names;
      for (const Dataset& one : catalogue.datasets) names.push_back(one.name);
      return {Code::not_found, fmt::format("the dimensions of '{}' have names, but there is no such dataset{}", name,
                                           did_you_mean(name, names))};
    }
    PENSTOCK_TRY(finder.check(*dataset));
  }
  return {};
}

Catalogue without_names(const Catalogue& catalogue, const DimensionScales& scales) {
  Catalogue rest = catalogue;
  for (const auto& [dataset, of] : scales.of) {
    const auto attributes = rest.attributes.find(dataset);
    DimensionNames names;
    for (const int i : of) names.push_back(scales.list[static_cast<size_t>(i)].name);
    const auto said = attributes->second.find(std::string(naming_attribute));
    if (said->second == naming(names)) attributes->second.erase(said);
  }
  return rest;
}

}  // namespace penstock
