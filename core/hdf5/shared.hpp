// Shared: types, dataspaces and property lists that many objects of a file are made with, each made once.
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

// The library copies what an object is made with, so that one identifier serves any number of them; making one costs
// about as much as a small attribute does. What a function returns is valid until it is called again.
class Shared {
 public:
  // As library_type().
  Result<hid_t> type(const ElementType& type, bool utf8 = false);
  // Of SHAPE, which cannot grow.
  Result<hid_t> space(const Dims& shape);
  // The creation properties of a link to NAME, and of an attribute of this NAME.
  Result<hid_t> link_creation(std::string_view name);
  Result<hid_t> attribute_creation(std::string_view name);

 private:
  std::map<std::tuple<Kind, int64_t, bool>, Type> types_;
  std::map<std::vector<int64_t>, Space> spaces_;
  Properties utf8_link_, utf8_attribute_;
};

}  // namespace penstock::hdf5
