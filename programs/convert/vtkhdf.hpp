// VTKHDF: writes fields on one uniform grid to an HDF5 file that ParaView and VTK read directly.
#pragma once

#include <span>
#include <string>

#include <penstock/communicator.hpp>
#include <penstock/status.hpp>

namespace penstock {

// Collective. Creates a file TO with the 2-D and 3-D fields of the file FROM, or those in ONLY, as ImageData of VTKHDF
// 2.0: PointData, or CellData if the dataset's attribute "center" is "cell". The attributes "origin" and "spacing" of
// the dataset or the file place the grid, in the order of the dataset's dimensions. Fields on different grids are
// Code::unsupported. Returns a message about skipped datasets; "" if there are none.
Result<std::string> write_vtkhdf(const Communicator& comm, const std::string& from, const std::string& to,
                                 const std::string& plan, std::span<const std::string> only);

}  // namespace penstock
