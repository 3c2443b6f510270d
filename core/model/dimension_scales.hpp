// Dimension scales: named dimensions that datasets share, each with one length.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/model/catalogue.hpp"

namespace penstock {

struct DimensionScale {
  struct User {
    std::string dataset;
    int dimension = 0;
  };
  std::string name;    // "y", or "group/y"
  std::string first;   // the first dataset with it
  int64_t length = 0;  // the longest, if it grows
  bool unlimited = false;
  bool is_dataset = false;  // in the catalogue: a 1-D dataset with the coordinates
  std::vector<User> users;  // except that dataset
};

struct DimensionScales {
  std::vector<DimensionScale> list;                // by name
  std::map<std::string, std::vector<int>> of;      // indices into it, for each dataset that has them and is not one
  bool concern(const std::string& dataset) const;  // whether it has them, or is one
};

// The scales for the attributes "dimensions" of CATALOGUE. A dataset whose names do not fit, or conflict with those of
// earlier datasets, has none.
DimensionScales scales_of(const Catalogue& catalogue);
// Code::invalid, with the reason, if one of the datasets NAMED has none.
Status check_dimensions(const Catalogue& catalogue, const std::set<std::string>& named);
// CATALOGUE without the attributes that SCALES already express.
Catalogue without_names(const Catalogue& catalogue, const DimensionScales& scales);

}  // namespace penstock
