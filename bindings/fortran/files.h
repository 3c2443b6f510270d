/* files.h: a file as the module's calls see it. */
#ifndef PENSTOCK_FORTRAN_FILES_H
#define PENSTOCK_FORTRAN_FILES_H

#include "glue.h"

/* Converts a Fortran communicator. */
#if PENSTOCK_HAVE_MPI
typedef MPI_Fint Handle;
#else
typedef int Handle;
#endif

/* Converts HANDLE; NULL means this process alone. An error if MPI is not running. */
penstock_status communicator_of(const Handle *handle, penstock_comm *comm);
/* The error of DOING if its file is not open. */
penstock_status refuse_closed(const char *doing);
/* Pads the texts of A with blanks after the commit has filled them. */
penstock_status pad_when_filled(File *file, const Array *a);

#endif
