// Scales: reads the names of dimensions from HDF5 dimension scales, of penstock, netCDF-4 and other tools.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/hdf5/attributes.hpp"
#include "core/model/catalogue.hpp"

namespace penstock::hdf5 {

// Where the header of an object lies, or the one that LINK names.
uint64_t address_of(hid_t object);
uint64_t address_of(const H5L_info_t& link);

class Scales {
 public:
  // A dataset whose scales are neither in our form nor in netCDF-4's.
  struct Odd {
    std::string name, what;
    bool is_read = true;  // nevertheless
  };

  // Adds a group or dataset, with its attributes as stored. HEAP is that of the file.
  void add(hid_t object, const std::string& name, const AttributeMap& attributes, GlobalHeap& heap);
  // Gives every dataset of CATALOGUE with scales the attribute "dimensions": the path of each dimension, "x" or
  // "group/x". In a NETCDF4 file every variable has them. Returns what the attribute cannot express.
  std::vector<Odd> name_dimensions(Catalogue& catalogue, bool netcdf4);

 private:
  // The names for KEYS, up to the first without a name.
  std::vector<std::string> names_of(const std::vector<std::string>& keys) const;

  std::map<std::string, std::string> by_identity_, by_number_;  // names of dimensions; the former by address
  std::map<std::string, std::vector<std::string>>
      variables_;                           // the names of each variable's dimensions, or keys of the two above
  std::set<std::string> unused_;            // dimensions without a variable
  std::map<std::string, std::string> odd_;  // scales in neither our form nor netCDF-4's, by object
};

}  // namespace penstock::hdf5
