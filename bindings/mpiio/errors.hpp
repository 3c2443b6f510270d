// Errors: a status as an error code of MPI, given to the file's error handler.
#pragma once

#include <mpi.h>

#include <penstock/status.hpp>

#include "bindings/mpiio/file.hpp"

namespace penstock::mpiio {

// MPI's class of errors.
int class_of(Code code);
// Local. A code of ERROR_CLASS, or of STATUS's own class, with STATUS's message as its text where MPI takes one.
// MPI_SUCCESS if STATUS is ok.
int error_code(const Status& status, int error_class = MPI_SUCCESS);
// Local, inside one of our functions. Same; an error is told to the error handler of FILE behind that function, and
// noted for the report.
int raise(File& file, const char* call, const Status& status, int error_class = MPI_SUCCESS);

}  // namespace penstock::mpiio
