// Define: converts a catalogue to a CDF-5 header, with the location of every variable.
#pragma once

#include "core/model/catalogue.hpp"
#include "core/model/layout.hpp"
#include "core/netcdf/header.hpp"

namespace penstock::netcdf {

struct Defined {
  Header header;  // with begins
  Layout layout;
};

// Fixed-size variables in the order of names, large ones aligned to blocks; then the records. Code::invalid or
// Code::unsupported, naming the dataset or attribute, if classic netCDF does not support CATALOGUE.
Result<Defined> define(const Catalogue& catalogue, int64_t block);

}  // namespace penstock::netcdf
