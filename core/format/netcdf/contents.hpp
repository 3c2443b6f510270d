// Contents: what is in a classic netCDF file, whoever wrote it.
#pragma once

#include <string>

#include <penstock/status.hpp>

#include "core/model/layout.hpp"

namespace penstock::netcdf {

// Code::damaged where the header is wrong, or the file is shorter than its variables.
Result<Contents> read_contents(const std::string& path);

}  // namespace penstock::netcdf
