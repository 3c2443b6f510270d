// Dimensions: names of dimensions as xarray shows them, and the choice of the record dimension.
#pragma once

#include <vector>

#include <penstock/status.hpp>

#include "core/model/catalogue.hpp"
#include "core/model/dimension_names.hpp"
#include "core/netcdf/header.hpp"

namespace penstock::netcdf {

// The attribute that names dimensions, as a list, of a dataset with the first COUNT of the dimensions OF; DECODED if
// penstock made the names.
Attribute dimension_names(const std::vector<Dimension>& dimensions, const std::vector<int64_t>& of, size_t count,
                          bool decoded);

struct Shapes {
  std::vector<Dimension> dimensions;     // in the order of their first use
  std::vector<std::vector<int64_t>> of;  // of each dataset, including the one for parts of a complex number or a text
  std::vector<bool> record;              // whether each dataset is a record variable
  int64_t records = 0;
};

// Code::invalid if one name of the attributes "dimensions" has two lengths.
Result<Shapes> name_dimensions(const Catalogue& catalogue);

}  // namespace penstock::netcdf
