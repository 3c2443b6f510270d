// Claims: divides datasets and claims among files.
#include "core/placement/claims.hpp"

#include <algorithm>
#include <map>

#include "core/model/layout.hpp"

namespace penstock {
namespace {

std::string top_group(const std::string& name) {
  const size_t slash = name.find('/');
  return slash == std::string::npos ? std::string() : name.substr(0, slash);
}

// Start and shape of the claim in the whole dataset, for people and tools that read a single part.
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

// A part without datasets, with the attributes of the file, and of all its groups or BY_GROUP those of LABEL.
OwnPart empty_part(const Catalogue& catalogue, const std::string& label, bool by_group) {
  OwnPart part;
  part.label = label;
  for (const auto& [object, attributes] : catalogue.attributes)
    if (catalogue.find(object) == nullptr && (!by_group || object.empty() || top_group(object + "/") == label))
      part.catalogue.attributes[object] = attributes;
  return part;
}

}  // namespace

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
    OwnPart part = empty_part(catalogue, label, by_group);
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

OwnPart one_part(const Catalogue& catalogue, std::span<const Claim> claims) {
  std::vector<OwnPart> parts = own_parts(catalogue, claims, false);
  return parts.empty() ? empty_part(catalogue, "", false) : std::move(parts[0]);
}

namespace {

int cut_dimension(const Dims& shape, int parts) {
  for (int d = 0; d < shape.rank(); ++d)
    if (shape[d] >= parts) return d;
  return static_cast<int>(std::max_element(shape.begin(), shape.end()) - shape.begin());
}

Selection slab(const Dims& shape, int part, int parts) {
  if (shape.rank() == 0) return Selection::of_box(shape, Box{shape, shape});
  const int d = cut_dimension(shape, parts);
  const auto edge = [&](int64_t k) { return shape[d] / parts * k + std::min(shape[d] % parts, k); };
  Box box{Dims::filled(shape.rank(), 0), shape};
  box.start[d] = edge(part);
  box.count[d] = edge(part + 1) - edge(part);
  return Selection::of_box(shape, box);
}

}  // namespace

std::vector<std::vector<Claim>> slabs(const Catalogue& catalogue, int parts) {
  std::vector<std::vector<Claim>> all;
  for (int part = 0; part < parts; ++part) {
    std::vector<Claim> held;
    for (size_t d = 0; d < catalogue.datasets.size(); ++d) {
      const Dims& shape = catalogue.datasets[d].shape;
      if (shape.rank() == 0 && part > 0) continue;
      Selection selection = slab(shape, part, parts);
      if (selection.count() > 0) held.push_back({static_cast<int>(d), std::move(selection)});
    }
    if (!held.empty() || part == 0) all.push_back(std::move(held));
  }
  return all;
}

namespace {

void cut_box(const Dims& shape, const Box& box, const Dims& stride, int64_t memory, int64_t most,
             std::vector<Selection>& pieces) {
  if (elements(box.count) <= most) {
    pieces.push_back(Selection::of_box(shape, box, Memory::strided(stride, memory)));
    return;
  }
  int d = 0;
  while (box.count[d] == 1) ++d;
  Box half = box;
  half.count[d] = box.count[d] / 2;
  cut_box(shape, half, stride, memory, most, pieces);
  memory += half.count[d] * stride[d];
  half.start[d] += half.count[d];
  half.count[d] = box.count[d] - half.count[d];
  cut_box(shape, half, stride, memory, most, pieces);
}

}  // namespace

std::vector<Selection> cut(const Selection& selection, int64_t element_bytes, int64_t bytes) {
  const int64_t most = std::max<int64_t>(1, bytes / element_bytes);
  std::vector<Selection> pieces;
  if (selection.count() <= most) return {selection};
  if (selection.is_box()) {
    cut_box(selection.shape(), selection.box(), selection.stride(), selection.memory_offset(), most, pieces);
    return pieces;
  }
  std::vector<MemoryRun> runs;
  int64_t count = 0;
  const auto flush = [&] {
    if (!runs.empty()) pieces.push_back(Selection::of_memory_runs(selection.shape(), std::move(runs)));
    runs.clear();
    count = 0;
  };
  for (const MemoryRun& run : selection.runs())
    for (int64_t at = 0; at < run.length;) {
      const int64_t length = std::min(run.length - at, most - count);
      runs.push_back({run.offset + at, run.memory + at, length, 0});
      at += length;
      count += length;
      if (count == most) flush();
    }
  flush();
  return pieces;
}

}  // namespace penstock
