/* checkpoint.h: a plate to one file and back; the file does not remember how many ranks wrote it. */
#ifndef JACOBI_CHECKPOINT_H
#define JACOBI_CHECKPOINT_H

#include <penstock.h>

#include "plate.h"

/* Collective; the same status on all ranks. PLAN may be NULL. */
penstock_status checkpoint_write(const char *path, const char *plan, const Plate *plate);
/* Collective. The size of the plate in the file at PATH. */
penstock_status checkpoint_size(MPI_Comm comm, const char *path, int64_t *n);
/* Collective. Fills a PLATE of that size. */
penstock_status checkpoint_read(const char *path, const char *plan, Plate *plate);

#endif
