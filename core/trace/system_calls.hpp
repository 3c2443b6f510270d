// System calls: traces file-system calls that MPI-IO, HDF5 and netCDF libraries make themselves.
#pragma once

namespace penstock {

class Trace;

// Local. TRACE records from now on the calls on regular files by loaded libraries of these kinds, and by those that
// MPI's plug-in loader loads later. False if that is impossible.
bool trace_system_calls(Trace& trace);

}  // namespace penstock
