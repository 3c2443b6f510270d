// Traced I/O: records calls of MPI-IO, by penstock and by the libraries it uses.
#pragma once

namespace penstock {

class Trace;

// Local, after MPI_Init; one call is enough. Records this process's identity, and from now on its MPI-IO calls and the
// resulting file-system calls.
void trace_mpi(Trace& trace);

}  // namespace penstock
