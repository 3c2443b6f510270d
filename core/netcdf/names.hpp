// Names: penstock's paths as names that every netCDF library accepts, without loss and without collisions.
#pragma once

#include <string>
#include <string_view>

namespace penstock::netcdf {

// docs/formats/netcdf.md has the rule. NC_MAX_NAME of the libraries: longer names are refused.
inline constexpr size_t longest_name = 256;
// The one attribute, of the file or of a variable, that is penstock's own; see note.hpp.
inline constexpr std::string_view own_attribute = "_penstock";

// The name of a dataset or dimension: "fluid/rho" becomes "fluid__rho".
std::string encode_name(std::string_view path);
// The name of an attribute; of a group it is "GROUP__ATTRIBUTE", of the file (GROUP "") or of a variable its own.
std::string encode_attribute_name(std::string_view group, std::string_view attribute);

// What encode_name made NAME of; of a name that it never gives, something near.
std::string decode_name(std::string_view name);
// The group, "" where there is none, and the attribute.
struct AttributeName {
  std::string group, attribute;
};
AttributeName decode_attribute_name(std::string_view name);

}  // namespace penstock::netcdf
