/* checkpoint.h: a plate to one file and back; the file does not remember how many ranks wrote it. */
#ifndef JACOBI_CHECKPOINT_H
#define JACOBI_CHECKPOINT_H

#include "plate.h"

/* Three files implement this: checkpoint.c with penstock, and by hand checkpoint_mpiio.c and checkpoint_hdf5.c. All
 * functions are collective and return 0, or the same other number on all ranks; then checkpoint_message() on rank 0
 * says why. */

/* PLAN, of penstock, may be NULL; the others know none. */
int checkpoint_write(const char *path, const char *plan, const Plate *plate);
/* The size of the plate in the file at PATH. */
int checkpoint_size(MPI_Comm comm, const char *path, int64_t *n);
/* Fills a PLATE of that size. */
int checkpoint_read(const char *path, const char *plan, Plate *plate);

const char *checkpoint_message(void);

#endif
