// Catalogue: the definitions of everything in a file, without locations.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/attribute.hpp>
#include <penstock/dims.hpp>
#include <penstock/status.hpp>
#include <penstock/type.hpp>

namespace penstock {

struct Dataset {
  std::string name;  // "fluid/rho": groups separated by slashes, none at either end
  ElementType type;
  Dims shape;
  bool unlimited = false;

  friend bool operator==(const Dataset&, const Dataset&) = default;
};

struct Catalogue {
  std::vector<Dataset> datasets;  // sorted by name, which is file order
  // By object: "" is the file, otherwise a dataset or a group. A group exists if it is named here or in a dataset's
  // name.
  std::map<std::string, std::map<std::string, Attribute>> attributes;

  const Dataset* find(std::string_view name) const;
  int index_of(std::string_view name) const;  // -1 if absent
  // Null if OBJECT has none, or none called NAME.
  const std::map<std::string, Attribute>* attributes_of(const std::string& object) const;
  const Attribute* attribute(const std::string& object, std::string_view name) const;
};

int64_t elements(const Dims& shape);
int64_t bytes(const Dataset& dataset);
// The distance between neighbours of each dimension in row-major order. It wraps only if an extent is 0.
Dims row_major(const Dims& shape);
// The index of linear element OFFSET in each dimension.
Dims coordinates(const Dims& shape, int64_t offset);
std::string describe(const Dataset& dataset);  // "f64 (100, 200)"
std::string describe(const Dims& dims);        // "(100, 200)", "()" for rank 0

// The name as stored, or why it is not valid: empty parts, ".", "..", NUL, a trailing slash, over 1000 bytes, and
// "_penstock", which belongs to penstock. One leading slash is allowed, as in a path from the root: "/fluid/rho" is
// "fluid/rho".
Result<std::string> dataset_name(std::string_view name);
Result<std::string> object_name(std::string_view name);  // "" and "/" are the file

// Checks SHAPE for TYPE: rank at most 8, no negative extent, size in bytes below 2^63.
Status check_shape(const ElementType& type, const Dims& shape);
// Checks that no name is both a dataset and a group.
Status check_names(const Catalogue& catalogue);

std::vector<std::byte> encode(const Catalogue& catalogue);
Result<Catalogue> decode_catalogue(std::span<const std::byte> bytes);

// The datasets and groups of CATALOGUE, except the file itself.
std::vector<std::string> object_names(const Catalogue& catalogue);
// Whether OBJECT is GROUP, or in it.
bool is_in(std::string_view object, std::string_view group);

}  // namespace penstock
