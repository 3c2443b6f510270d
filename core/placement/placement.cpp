// Placement: the files of one rank.
#include "core/placement/placement.hpp"

#include <algorithm>
#include <map>

namespace penstock {
namespace {

const Descriptor single{"single", "one file", {}, ""};
const Descriptor per_rank{"per_rank",
                          "each rank's blocks in files of its own, and an index",
                          {{"split", Parameter::Type::choice, "none|group", "none",
                            "one file for each rank, or for each rank and top group"}},
                          ""};

std::string top_group(const std::string& name) {
  const size_t slash = name.find('/');
  return slash == std::string::npos ? std::string() : name.substr(0, slash);
}

// Start and shape of the claim in the whole dataset, for people and other tools that look at a part alone.
std::map<std::string, Attribute> place_attributes(const Dataset& dataset, const Selection& selection) {
  std::map<std::string, Attribute> attributes;
  const auto add = [&](std::string name, const Dims& dims) {
    attributes[name] = make_attribute(name, ElementType{Kind::i64}, dims.begin(), dims.rank());
  };
  if (dataset.shape.rank() == 0) return attributes;
  add("penstock_shape", dataset.shape);
  if (selection.is_box()) add("penstock_start", selection.box().start);
  return attributes;
}

}  // namespace

std::span<const Descriptor* const> placements() {
  static const Descriptor* const table[] = {&single, &per_rank};
  return table;
}

std::vector<OwnPart> own_parts(const Catalogue& catalogue, std::span<const Claim> claims, bool by_group) {
  struct Named {
    std::string name;
    int claim;
  };
  std::map<std::string, std::vector<Named>> groups;
  std::map<int, int64_t> blocks;  // of each dataset so far
  for (size_t i = 0; i < claims.size(); ++i) {
    if (claims[i].selection.count() == 0) continue;
    const std::string& name = catalogue.datasets[static_cast<size_t>(claims[i].dataset)].name;
    groups[by_group ? top_group(name) : ""].push_back(
        {part_dataset_name(name, blocks[claims[i].dataset]++), static_cast<int>(i)});
  }
  std::vector<OwnPart> parts;
  for (auto& [label, list] : groups) {
    std::sort(list.begin(), list.end(), [](const Named& a, const Named& b) { return a.name < b.name; });
    OwnPart part;
    part.label = label;
    for (const auto& [object, attributes] : catalogue.attributes)
      if (catalogue.find(object) == nullptr && (!by_group || object.empty() || top_group(object + "/") == label))
        part.catalogue.attributes[object] = attributes;
    for (const Named& named : list) {
      const Claim& claim = claims[static_cast<size_t>(named.claim)];
      const Dataset& whole = catalogue.datasets[static_cast<size_t>(claim.dataset)];
      part.catalogue.datasets.push_back({named.name, whole.type, packed_shape(claim.selection), false});
      auto& attributes = part.catalogue.attributes[named.name];
      attributes = place_attributes(whole, claim.selection);
      const auto found = catalogue.attributes.find(whole.name);
      if (found != catalogue.attributes.end()) attributes.insert(found->second.begin(), found->second.end());
      part.claims.push_back(named.claim);
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace penstock
