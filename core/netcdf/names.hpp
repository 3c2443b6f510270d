// Names: converts penstock's paths to names that every netCDF library accepts, without loss and without collisions.
#pragma once

#include <string>
#include <string_view>

namespace penstock::netcdf {

// docs/formats/netcdf.md defines the rule. NC_MAX_NAME of the libraries: longer names are rejected.
inline constexpr size_t longest_name = 256;
// The only attribute of the file or of a variable that belongs to penstock; see note.hpp.
inline constexpr std::string_view own_attribute = "_penstock";

// The name of a dataset or dimension: "fluid/rho" becomes "fluid__rho".
std::string encode_name(std::string_view path);
// The name of an attribute: "GROUP__ATTRIBUTE" for a group, unchanged for the file (GROUP "") or a variable.
std::string encode_attribute_name(std::string_view group, std::string_view attribute);

// The inverse of encode_name; for other names something similar.
std::string decode_name(std::string_view name);
// The group, "" if there is none, and the attribute.
struct AttributeName {
  std::string group, attribute;
};
AttributeName decode_attribute_name(std::string_view name);

}  // namespace penstock::netcdf
