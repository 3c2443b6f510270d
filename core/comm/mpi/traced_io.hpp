// Calls of MPI-IO, of ours and of the libraries that we use, for the trace.
#pragma once

namespace penstock {

class Trace;

// Local, after MPI_Init; once is enough. Who this process is, and from now on its calls of MPI-IO and what they make of
// the file system.
void trace_mpi(Trace& trace);

}  // namespace penstock
