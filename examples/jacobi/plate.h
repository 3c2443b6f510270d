/* plate.h: a square plate, one block per rank, whose temperature converges by Jacobi's iteration. */
#ifndef JACOBI_PLATE_H
#define JACOBI_PLATE_H

#include <mpi.h>
#include <stdint.h>

/* This rank's block: ny x nx cells of the n x n, from (y0, x0), inside one ring of ghost cells: an array (ny + 2) x (nx
 * + 2). All distances are in cells; the diffusivity is 1, so that a sweep advances the time by h * h / 4 with h = 1 /
 * (n + 1). */
typedef struct Plate {
  MPI_Comm comm; /* the process grid */
  int64_t n;
  int64_t y0, x0, ny, nx;
  double *now, *next;
  int64_t step;
  double residual; /* the largest change of any cell in the last step */
  double time;
} Plate;

/* Collective. Divides the plate over the ranks of COMM and sets its temperature at step 0. 0 if it is too small. */
int plate_make(MPI_Comm comm, int64_t n, Plate *plate);
/* Collective. One step: exchange ghost cells, sweep, and find the residual. */
void plate_step(Plate *plate);
void plate_free(Plate *plate);

#endif
