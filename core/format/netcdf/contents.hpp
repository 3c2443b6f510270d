// Contents: the contents of a classic netCDF file of any origin.
#pragma once

#include <string>

#include <penstock/status.hpp>

#include "core/model/layout.hpp"

namespace penstock::netcdf {

// Code::damaged if the header is invalid, or the file is shorter than its variables.
Result<Contents> read_contents(const std::string& path);

}  // namespace penstock::netcdf
