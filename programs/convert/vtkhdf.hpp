// VTKHDF: fields on one uniform grid as the HDF5 file that ParaView and VTK read by themselves.
#pragma once

#include <span>
#include <string>

#include <penstock/communicator.hpp>
#include <penstock/status.hpp>

namespace penstock {

// Collective. A new file TO with the 2-D and 3-D fields of the file FROM, or those that ONLY names, as ImageData of
// VTKHDF 2.0: PointData, or CellData where the dataset's attribute "center" is "cell". The attributes "origin" and
// "spacing" of the dataset, or of the file, place the grid; both are in the order of the dataset's dimensions. Fields
// on different grids are Code::unsupported. Returns what was left out, for a person; "" where nothing was.
Result<std::string> write_vtkhdf(const Communicator& comm, const std::string& from, const std::string& to,
                                 const std::string& plan, std::span<const std::string> only);

}  // namespace penstock
