// Scales: what the dimensions of somebody's netCDF-4 variables are called, which its library says by HDF5's dimension scales.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/hdf5/attributes.hpp"
#include "core/model/catalogue.hpp"

namespace penstock::hdf5 {

// What tells one object of a file from another.
std::string identity(hid_t object);

class Scales {
 public:
  // A group or dataset, with its attributes as they are in the file.
  void add(hid_t object, const std::string& name, const AttributeMap& attributes);
  // Gives every variable of CATALOGUE the attribute "dimensions": the path of each dimension, "x" or "group/x". Returns what cannot be
  // said so, with the reason.
  std::vector<std::pair<std::string, std::string>> name_dimensions(Catalogue& catalogue);

 private:
  std::map<std::string, std::string> by_identity_, by_number_;  // names of dimensions
  std::map<std::string, std::vector<std::string>>
      variables_;                 // the names of each one's dimensions, or keys of the two above
  std::set<std::string> unused_;  // dimensions without a variable
};

}  // namespace penstock::hdf5
