// Shared: types, dataspaces and property lists for many objects of a file, each created once.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include <penstock/dims.hpp>
#include <penstock/type.hpp>

#include "core/hdf5/handles.hpp"

namespace penstock::hdf5 {

// Whether TEXT is the same in ASCII and UTF-8.
bool is_ascii(std::string_view text);

// The library copies these when it creates an object, so one identifier serves any number of objects. Creating one
// costs about as much as a small attribute. Results are valid until the same function is called again.
class Shared {
 public:
  // Same as library_type().
  Result<hid_t> type(const ElementType& type, bool utf8 = false);
  // A space of SHAPE that cannot grow.
  Result<hid_t> space(const Dims& shape);
  // The creation properties of a link to NAME, and of an attribute with this name.
  Result<hid_t> link_creation(std::string_view name);
  Result<hid_t> attribute_creation(std::string_view name);

 private:
  std::map<std::tuple<Kind, int64_t, bool>, Type> types_;
  std::map<std::vector<int64_t>, Space> spaces_;
  Properties utf8_link_, utf8_attribute_;
};

}  // namespace penstock::hdf5
