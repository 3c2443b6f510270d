// NewContents: all ranks' puts, the published datasets that stay, and what conventions and checksums add.
#include "core/commit/contents.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <penstock/config.h>

#include "core/base/guarded.hpp"
#include "core/base/nearest.hpp"
#include "core/commit/agreement.hpp"
#include "core/commit/keep.hpp"
#include "core/commit/method.hpp"
#include "core/commit/proof.hpp"
#include "core/commit/ways.hpp"
#include "core/model/dimension_names.hpp"
#include "core/model/dimension_scales.hpp"
#include "core/publication/output.hpp"

namespace penstock {
namespace {

// Whether NAME is a dataset of CATALOGUE or a group: one of GROUPS, or one with contents.
bool exists(const Catalogue& catalogue, const std::set<std::string>& groups, const std::string& name) {
  const std::string below = name + "/";
  const auto at = std::ranges::lower_bound(catalogue.datasets, below, {}, &Dataset::name);
  const auto group = groups.lower_bound(below);
  return name.empty() || catalogue.find(name) != nullptr || groups.contains(name) ||
         (at != catalogue.datasets.end() && at->name.starts_with(below)) ||
         (group != groups.end() && group->starts_with(below));
}

// Checks that each of OBJECTS, whose attributes were set, is a dataset or a group of CATALOGUE. GROUPS were created
// explicitly, now or before. The description of a mesh makes it a group.
Status check_objects(const Catalogue& catalogue, const std::set<std::string>& groups,
                     const std::vector<std::string>& objects) {
  for (const std::string& object : objects) {
    const auto& attributes = catalogue.attributes.at(object);
    if (attributes.empty() || attributes.contains("mesh") || exists(catalogue, groups, object)) continue;
    Catalogue there{catalogue.datasets, {}};
    for (const std::string& group : groups) there.attributes.try_emplace(group);
    const std::vector<std::string> names = object_names(there);
    if (attributes.begin()->first == naming_attribute)
      return {Code::not_found, fmt::format("the dimensions of '{}' have names, but there is no such dataset{}", object,
                                           did_you_mean(object, names))};
    return {Code::not_found,
            fmt::format("attribute '{}' of '{}': there is no dataset or group of that name, neither put nor in the "
                        "file{} (penstock_group, make_group or create_group makes an empty group)",
                        attributes.begin()->first, object, did_you_mean(object, names))};
  }
  return {};
}

// Forgets what was said about objects that the output profile leaves out.
void forget_left_out(const Opened& file, const std::set<std::string>& groups, Catalogue& catalogue,
                     Definitions& agreed) {
  if (!file.profile) return;
  const auto is_out = [&](const std::string& object) {
    return file.leaves_out(object) && !exists(catalogue, groups, object);
  };
  std::erase_if(catalogue.attributes, [&](const auto& one) { return is_out(one.first); });
  for (auto* names : {&agreed.unlimited, &agreed.named}) std::erase_if(*names, is_out);
}

// Says in attributes which part of the data is there.
Status describe_subsets(const Opened& file, const Definitions& agreed, Catalogue& catalogue) {
  const auto set = [&](const std::string& object, Attribute attribute) {
    const std::string key = attribute.name;
    catalogue.attributes[object].insert_or_assign(key, std::move(attribute));
  };
  for (const auto& [name, definition] : agreed.datasets) {
    if (!definition.subset) continue;
    const Subset& subset = *definition.subset;
    if (subset.mean && subset.step[0] > 1 && (definition.unlimited || agreed.unlimited.contains(name)))
      return {Code::invalid, fmt::format("'{}' is unlimited: means of blocks of its first dimension would change when "
                                         "it grows: mean = [1, ...] in the output profile",
                                         name)};
    for (Attribute& attribute : attributes_of(subset)) set(name, std::move(attribute));
    const auto names = dimension_names(catalogue, name);
    if (subset.mean && names && std::ssize(*names) == subset.step.rank())
      catalogue.attributes[name].try_emplace("cell_methods",
                                             text_attribute("cell_methods", cell_methods(subset, *names)));
  }
  if (file.profile && !file.profile->rules.empty())
    set("", text_attribute("penstock_profile", file.profile->signature()));
  if (!agreed.left_out.empty()) {
    const std::vector<std::string> names(agreed.left_out.begin(), agreed.left_out.end());
    set("", text_attribute("penstock_left_out", names));
  }
  return {};
}

// The datasets and attributes that AGREED and FILE come to.
Status join(const Opened& opened, Definitions& agreed, NewContents& contents) {
  const Published* file = opened.published();
  Catalogue& catalogue = contents.catalogue;
  catalogue.attributes = agreed.attributes;
  std::set<std::string> groups = agreed.groups;
  contents.kept.assign(catalogue.datasets.size(), 0);
  if (file != nullptr) {
    PENSTOCK_TRY(add_old(without(file->contents.catalogue, agreed.removed), contents));
    for (const auto& [object, attributes] : file->contents.catalogue.attributes) groups.insert(object);
  }
  forget_left_out(opened, groups, catalogue, agreed);
  std::vector<std::string> objects;
  for (const auto& [object, attributes] : agreed.attributes)
    if (catalogue.attributes.contains(object)) objects.push_back(object);
  for (const std::string& name : agreed.unlimited) {
    const int index = catalogue.index_of(name);
    if (index < 0) return {Code::invalid, fmt::format("'{}' was declared unlimited, but is not in the file", name)};
    Dataset& dataset = catalogue.datasets[static_cast<size_t>(index)];
    if (dataset.shape.rank() == 0)
      return {Code::invalid, fmt::format("'{}' is a scalar, which cannot be unlimited", name)};
    dataset.unlimited = true;
  }
  PENSTOCK_TRY(check_objects(catalogue, groups, objects));
  for (const std::string& group : agreed.groups) {
    if (catalogue.find(group) != nullptr)
      return {Code::invalid, fmt::format("'{}' is a dataset, so it cannot be made a group", group)};
    catalogue.attributes.try_emplace(group);
  }
  PENSTOCK_TRY(describe_subsets(opened, agreed, catalogue));
  return check_dimensions(catalogue, agreed.named);
}

// Local. Warns of the profile's rules that match nothing that was put into the file so far.
void warn_of_rules(const Definitions& agreed, const Catalogue& catalogue, Opened& file) {
  if (!file.profile) return;
  std::set<std::string> names = agreed.left_out;
  for (const Dataset& dataset : catalogue.datasets) names.insert(dataset.name);
  for (std::string& warning : file.profile->without_use(names)) file.report.warnings.push_back(std::move(warning));
}

Status check_convention(const Target& target, Convention convention) {
  const MethodFacts& method = target.method;
  const bool cf = convention == Convention::cf;
  if (cf && method.convention != "CF")
    return {Code::unsupported,
            fmt::format("CF needs the names of dimensions that format netcdf and engine pnetcdf write, but "
                        "'{}' is written by '{}'",
                        target.path, method.writer)};
  if (!cf && method.convention != "openPMD")
    return {Code::unsupported,
            fmt::format("openPMD is written as HDF5, but '{}' is written by '{}'", target.path, method.writer)};
  if (target.set)
    return {Code::unsupported,
            fmt::format("readers of {} open one file, but '{}' would be a set of files: write it with "
                        "placement=single",
                        cf ? "CF" : "openPMD", target.path)};
  return {};
}

Status follow_convention(const Target& target, NewContents& contents) {
  const Convention convention = contents.options.convention;
  if (convention == Convention::none) return {};
  PENSTOCK_TRY(check_convention(target, convention));
  if (convention == Convention::openpmd) return follow_openpmd(contents.catalogue, "penstock " PENSTOCK_VERSION);
  PENSTOCK_ASSIGN(contents.added, follow_cf(contents.catalogue));
  for (const Added& one : contents.added) insert_dataset(contents, one.dataset);
  return {};
}

std::vector<Converted> converted_of(const Definitions& agreed, std::span<const Pending> puts) {
  std::vector<Converted> list;
  for (const auto& [name, definition] : agreed.datasets)
    if (!definition.precision.empty()) list.push_back({name, definition.type, {}});
  for (const Pending& put : puts) {
    const auto at = std::ranges::lower_bound(list, put.name, {}, &Converted::name);
    if (put.loss != nullptr && at != list.end() && at->name == put.name) at->losses.push_back(put.loss);
  }
  return list;
}

// Collective. What PUTS are to be rounded to is left to the encoder if it gets all elements of the dataset. The others
// are copied now.
Status settle_rounding(const Opened& file, std::span<Pending> puts, NewContents& contents) {
  if (contents.converted.empty()) return {};
  std::vector<int64_t> bits(contents.converted.size());
  const Status status = guarded([&]() -> Status {
    for (Pending& put : puts) {
      if (put.rounds_to == 0) continue;
      const auto at = std::ranges::lower_bound(contents.converted, put.name, {}, &Converted::name);
      const auto d = static_cast<size_t>(contents.catalogue.index_of(put.name));
      const bool waits = contents.kept[d] == 0 && is_encoded(file.plan, contents, d);
      if (!waits) PENSTOCK_TRY(round_now(put));
      bits[static_cast<size_t>(at - contents.converted.begin())] = put.rounds_to;
    }
    return {};
  });
  PENSTOCK_TRY(agree(file.target.comm, status));
  PENSTOCK_TRY(file.target.comm->all_reduce_max(bits));
  for (size_t i = 0; i < bits.size(); ++i)
    if (bits[i] > 0) contents.rounded[contents.converted[i].name] = static_cast<int>(bits[i]);
  return {};
}

// Rank 0 writes what was added.
void claim_added(NewContents& contents) {
  const auto claim = [&](const Dataset& dataset, auto& values) {
    contents.claims.push_back({contents.catalogue.index_of(dataset.name), Selection::whole(dataset.shape),
                               reinterpret_cast<std::byte*>(values.data())});
  };
  for (Added& one : contents.added) claim(one.dataset, one.values);
  if (const Dataset* record = contents.catalogue.find(record_name)) claim(*record, contents.sums.words);
}

}  // namespace

size_t insert_dataset(NewContents& contents, Dataset dataset) {
  auto& datasets = contents.catalogue.datasets;
  const auto at = std::ranges::lower_bound(datasets, dataset.name, {}, &Dataset::name) - datasets.begin();
  datasets.insert(datasets.begin() + at, std::move(dataset));
  contents.kept.insert(contents.kept.begin() + at, 0);
  return static_cast<size_t>(at);
}

Result<NewContents> agree_contents(Opened& file, std::span<Pending> puts, Result<Definitions> mine,
                                   const DefinitionBounds& maxima, const Options& options) {
  Target& target = file.target;
  PhaseTimer timer(file.report.phases, Phase::define);
  PENSTOCK_TRY(check_source(target, file.source));
  if (file.file) PENSTOCK_TRY(refresh(target, *file.file));
  PENSTOCK_ASSIGN(Agreement agreement, agree_blocks(target.comm, puts, std::move(mine), maxima, Direction::write));
  NewContents contents{.options = options, .catalogue = {datasets_of(agreement), {}}};
  contents.dataset_options = agreement.definitions.options;
  contents.converted = converted_of(agreement.definitions, puts);
  PENSTOCK_TRY(join(file, agreement.definitions, contents));
  warn_of_rules(agreement.definitions, contents.catalogue, file);
  PENSTOCK_TRY(follow_convention(target, contents));
  PENSTOCK_TRY(check_names(contents.catalogue));
  PENSTOCK_TRY(file.method->check(contents.catalogue));
  if (options.xdmf) {
    PENSTOCK_ASSIGN(contents.xdmf, describe_meshes(target, contents.catalogue));
  }
  PENSTOCK_TRY(settle_rounding(file, puts, contents));
  plan_sums(target, file.plan, contents);
  contents.claims = claims_of(agreement, puts, contents.catalogue, target.comm->rank());
  if (target.comm->rank() == 0) claim_added(contents);
  PENSTOCK_ASSIGN(const Tiling tiling, find_tiling(target.comm, contents.catalogue, contents.claims, contents.kept,
                                                   target.token, sum_at_once(contents)));
  if (!options.partial)
    PENSTOCK_TRY(check_tiling(target.comm, contents.catalogue, contents.claims, contents.kept, target.token, tiling));
  for (size_t d = 0; d < contents.kept.size(); ++d)
    if (tiling.whole[d]) contents.kept[d] = 0;  // nothing of it stays
  PENSTOCK_TRY(find_summed(target, file.published(), tiling, contents));
  return contents;
}

}  // namespace penstock
