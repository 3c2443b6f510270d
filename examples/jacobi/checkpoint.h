/* checkpoint.h: writes a plate to one file and reads it; the file is independent of the number of ranks. */
#ifndef JACOBI_CHECKPOINT_H
#define JACOBI_CHECKPOINT_H

#include "plate.h"

/* Three files implement this: checkpoint.c with penstock, and checkpoint_mpiio.c and checkpoint_hdf5.c by hand. All
 * functions are collective and return 0, or the same nonzero number on all ranks; checkpoint_message() on rank 0 then
 * returns the reason. */

/* PLAN is for penstock and may be NULL; the other implementations ignore it. */
int checkpoint_write(const char *path, const char *plan, const Plate *plate);
/* Reads the size of the plate in the file at PATH. */
int checkpoint_size(MPI_Comm comm, const char *path, int64_t *n);
/* Fills a PLATE of that size. */
int checkpoint_read(const char *path, const char *plan, Plate *plate);

const char *checkpoint_message(void);

#endif
