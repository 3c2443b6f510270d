// Define: a catalogue as a CDF-5 header, with the place of every variable.
#pragma once

#include "core/model/catalogue.hpp"
#include "core/model/layout.hpp"
#include "core/netcdf/header.hpp"

namespace penstock::netcdf {

struct Defined {
  Header header;  // with begins
  Layout layout;
};

// Fixed-size variables in the order of names, those of at least a block on blocks; then the records. Code::invalid or
// Code::unsupported, naming the dataset or attribute, where classic netCDF cannot hold CATALOGUE.
Result<Defined> define(const Catalogue& catalogue, const Alignment& alignment);

}  // namespace penstock::netcdf
