// Scales: what the dimensions of datasets are called, as HDF5's dimension scales say, ours and those of netCDF-4 and
// other tools.
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
  // Gives every dataset of CATALOGUE that has scales the attribute "dimensions": the path of each dimension, "x" or
  // "group/x". Of a NETCDF4 file every variable has them. Returns what cannot be said so, with the reason.
  std::vector<std::pair<std::string, std::string>> name_dimensions(Catalogue& catalogue, bool netcdf4);

 private:
  // The names that KEYS stand for, up to the first that stands for none.
  std::vector<std::string> names_of(const std::vector<std::string>& keys) const;

  std::map<std::string, std::string> by_identity_, by_number_;  // names of dimensions
  std::map<std::string, std::vector<std::string>>
      variables_;                           // the names of each one's dimensions, or keys of the two above
  std::set<std::string> unused_;            // dimensions without a variable
  std::map<std::string, std::string> odd_;  // what is not as ours or netCDF-4's, by object
};

}  // namespace penstock::hdf5
