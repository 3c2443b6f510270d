/* files.h: a file as the module's calls see it. */
#ifndef PENSTOCK_FORTRAN_FILES_H
#define PENSTOCK_FORTRAN_FILES_H

#include "glue.h"

/* A communicator of Fortran's. */
#if PENSTOCK_HAVE_MPI
typedef MPI_Fint Handle;
#else
typedef int Handle;
#endif

/* Of HANDLE, NULL being this process alone; an error where MPI does not run. */
penstock_status communicator_of(const Handle *handle, penstock_comm *comm);
/* What DOING fails with where its file is not open. */
penstock_status refuse_closed(const char *doing);
/* The texts of A get blanks at their ends when the commit has filled them. */
penstock_status pad_when_filled(File *file, const Array *a);

#endif
