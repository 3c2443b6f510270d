// Metadata size: sums of what HDF5 1.10 writes with bounds V18, measured rather than derived (image_test.cpp verifies
// them).
#include "core/format/hdf5/metadata_size.hpp"

#include <algorithm>

#include "core/hdf5/definitions.hpp"
#include "core/model/kinds.hpp"

namespace penstock::hdf5 {
namespace {

constexpr int64_t max_managed_bytes =
    3900;  // of an attribute in a heap, before it becomes a "huge object" (4 KiB less its own header)
constexpr int64_t max_header_bytes = 65000;  // of an attribute in an object header (64 KiB less its own header)

int64_t type_bytes(const ElementType& type) { return is_complex(type) ? 100 : type.kind == Kind::text ? 8 : 20; }

int64_t attribute_bytes(const Attribute& attribute) {
  return 24 + static_cast<int64_t>(attribute.name.size()) + type_bytes(attribute.type) +
         int64_t{8} * attribute.shape.rank() + static_cast<int64_t>(attribute.value.size());
}

int64_t attributes_bytes(const std::map<std::string, Attribute>& attributes) {
  int64_t sum = 0;
  for (const auto& [name, attribute] : attributes) sum += attribute_bytes(attribute);
  const bool dense = static_cast<int64_t>(attributes.size()) > max_in_header || largest_outside_header(attributes) > 0;
  // A heap doubles its blocks up to 64 KiB, and the space of attributes that left the header stays.
  return dense ? 1900 + sum + sum / 2 + std::min<int64_t>(sum, 65536) / 2 : sum + sum / 8;
}

int64_t dataset_bytes(const Dataset& dataset, int64_t attributes) {
  // The library creates a header of at least 256 bytes; the first attributes fit into the rest.
  const int64_t header =
      std::max<int64_t>(280, 160 + 16 * dataset.shape.rank() + (is_complex(dataset.type) ? 90 : 0) + attributes);
  // One node of a version-1 B-tree with 64 entries; more chunks than that are hundreds of GiB.
  const int64_t chunk_index = dataset.unlimited ? 24 + 65 * (8 + 8 * (dataset.shape.rank() + 1)) + 64 * 8 : 0;
  return header + chunk_index;
}

// The bytes of one group's links: in its header up to 8, else in a heap and a B-tree.
int64_t links_bytes(int64_t links, int64_t name_bytes) {
  const int64_t sum = 24 * links + name_bytes;
  if (links <= 8) return 150 + 2 * sum;
  return 4000 + sum + sum / 4 + std::min<int64_t>(sum, 65536) + 26 * links;
}

}  // namespace

int64_t largest_outside_header(const std::map<std::string, Attribute>& attributes) {
  const bool many = static_cast<int64_t>(attributes.size()) > max_in_header;
  int64_t largest = 0;
  for (const auto& [name, attribute] : attributes) {
    const int64_t size = attribute_bytes(attribute);
    if (size > (many ? max_managed_bytes : max_header_bytes)) largest = std::max(largest, size);
  }
  // One attribute that leaves the header moves the others of its object too.
  if (largest > 0)
    for (const auto& [name, attribute] : attributes) largest = std::max(largest, attribute_bytes(attribute));
  return largest;
}

int64_t estimate_metadata_bytes(const Catalogue& catalogue) {
  struct Links {
    int64_t count = 0, name_bytes = 0;
  };
  std::map<std::string, Links> groups;
  groups[""];
  // Each name adds one link to its group; a new group adds one to its own parent.
  const auto add = [&](std::string name) {
    for (bool fresh = true; fresh && !name.empty();) {
      std::string group = group_name(name);
      const auto [at, inserted] = groups.try_emplace(group);
      ++at->second.count;
      at->second.name_bytes += std::ssize(last_part(name));
      fresh = inserted;
      name = std::move(group);
    }
  };
  int64_t sum = 1024;
  for (const Dataset& dataset : catalogue.datasets) {
    add(dataset.name);
    const auto* attributes = catalogue.attributes_of(dataset.name);
    sum += dataset_bytes(dataset, attributes == nullptr ? 0 : attributes_bytes(*attributes));
  }
  for (const auto& [object, attributes] : catalogue.attributes) {
    if (catalogue.find(object) != nullptr) continue;
    if (!object.empty() && groups.try_emplace(object).second) add(object);
    sum += attributes_bytes(attributes);
  }
  for (const auto& [name, links] : groups) sum += links_bytes(links.count, links.name_bytes);
  return (sum + 511) / 512 * 512;
}

}  // namespace penstock::hdf5
