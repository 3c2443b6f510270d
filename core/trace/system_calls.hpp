// Calls of the file system that libraries make by themselves: MPI-IO, HDF5 and netCDF.
#pragma once

namespace penstock {

class Trace;

// Local. From now on TRACE has the calls on regular files that those libraries make which are loaded; those that are
// loaded later by a plug-in's loader of MPI's too. False where this cannot be done.
bool trace_system_calls(Trace& trace);

}  // namespace penstock
