// Inquiry: what the file contains, and the error for an object that it does not have.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/nearest.hpp"
#include "core/model/dimension_names.hpp"
#include "core/session/state.hpp"

namespace penstock {
namespace {

// Code::unsupported if the file has OBJECT, or attribute "OBJECT@NAME", in a form that is not read.
Status unread_in(const File::State& state, std::string_view object) {
  const std::string why = state.file ? state.file->contents.why_unread(object) : "";
  return why.empty() ? Status()
                     : Status(Code::unsupported,
                              fmt::format("'{}' in '{}' cannot be read: it {}", object, state.target.path, why));
}

}  // namespace

Status no_dataset(const File::State& state, const std::string& name) {
  PENSTOCK_TRY(unread_in(state, name));
  std::vector<std::string> names;
  if (state.file)
    for (const Dataset& dataset : state.file->contents.catalogue.datasets) names.push_back(dataset.name);
  std::string said = did_you_mean(name, names);
  if (said.empty() && !names.empty()) {
    const size_t few = std::min<size_t>(names.size(), 5);
    said = fmt::format("; there {} {}{}", names.size() == 1 ? "is" : "are",
                       fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(few), ", "),
                       names.size() > few ? fmt::format(" and {} more", names.size() - few) : "");
  }
  return {Code::not_found, fmt::format("there is no dataset '{}' in '{}'{}", name, state.target.path, said)};
}

std::vector<DatasetInfo> File::datasets() const {
  std::vector<DatasetInfo> list;
  if (state_->file)
    for (const Dataset& d : state_->file->contents.catalogue.datasets)
      list.push_back({d.name, d.type, d.shape, d.unlimited});
  return list;
}

Result<DatasetInfo> File::dataset(std::string_view name) const {
  PENSTOCK_ASSIGN(const std::string stored, dataset_name(name));
  const Dataset* d = state_->file ? state_->file->contents.catalogue.find(stored) : nullptr;
  if (d == nullptr) return no_dataset(*state_, stored);
  return DatasetInfo{d->name, d->type, d->shape, d->unlimited};
}

int64_t File::publications() const { return state_->commits; }

Status File::check_readable(std::string_view object) const {
  const auto stored = object_name(object);
  return stored.ok() ? unread_in(*state_, *stored) : Status();
}

bool File::has(std::string_view object) const {
  const auto stored = object_name(object);
  if (!stored.ok() || !state_->file) return false;
  const Catalogue& there = state_->file->contents.catalogue;
  const std::set<std::string> names{*stored};
  return stored->empty() || there.find(*stored) != nullptr ||
         std::ranges::any_of(there.datasets, [&](const Dataset& one) { return is_among(one.name, names); }) ||
         std::ranges::any_of(there.attributes, [&](const auto& one) { return is_among(one.first, names); });
}

std::vector<Attribute> File::attributes(std::string_view object) const {
  std::vector<Attribute> list;
  const auto stored = object_name(object);
  if (!stored.ok() || !state_->file) return list;
  const auto at = state_->file->contents.catalogue.attributes.find(*stored);
  if (at != state_->file->contents.catalogue.attributes.end())
    for (const auto& [name, attribute] : at->second) list.push_back(attribute);
  return list;
}

Result<Attribute> File::attribute(std::string_view object, std::string_view name) const {
  const auto stored = object_name(object);
  std::vector<std::string> names;
  if (stored.ok() && state_->file) {
    const Catalogue& catalogue = state_->file->contents.catalogue;
    const auto list = catalogue.attributes.find(*stored);
    if (list != catalogue.attributes.end()) {
      if (const auto at = list->second.find(std::string(name)); at != list->second.end()) return at->second;
      for (const auto& [other, attribute] : list->second) names.push_back(other);
    }
    for (const std::string_view one : {name, std::string_view("*")})
      PENSTOCK_TRY(unread_in(*state_, fmt::format("{}@{}", *stored, one)));
    if (list == catalogue.attributes.end() && !has(*stored)) {
      PENSTOCK_TRY(unread_in(*state_, *stored));
      return Status(Code::not_found, fmt::format("there is no dataset or group '{}' in '{}'{}", object,
                                                 state_->target.path, did_you_mean(*stored, object_names(catalogue))));
    }
  }
  return Status(Code::not_found,
                fmt::format("there is no attribute '{}' of '{}' in '{}'{}", name, object.empty() ? "/" : object,
                            state_->target.path, did_you_mean(name, names)));
}

std::vector<std::string> File::dimensions(std::string_view dataset) const {
  const auto stored = dataset_name(dataset);
  const Dataset* there = stored.ok() && state_->file ? state_->file->contents.catalogue.find(*stored) : nullptr;
  if (there == nullptr) return {};
  auto names = dimension_names(state_->file->contents.catalogue, *stored);
  return names && std::ssize(*names) == there->shape.rank() ? *std::move(names) : DimensionNames();
}

}  // namespace penstock
