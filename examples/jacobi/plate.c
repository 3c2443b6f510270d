/* plate.c: the solver: a 2-D process grid, halo exchange and Jacobi sweeps, without any file access. */
#include "plate.h"

#include <math.h>
#include <stdlib.h>

static const double COLD = 300.0, WARM = 400.0, HOT = 500.0; /* kelvin: three edges, the upper edge, the disc */

/* Cells [*start, *start + *count) of N belong to block BLOCK of BLOCKS; the first ones take the remainder. */
static void cut(int64_t n, int blocks, int block, int64_t *start, int64_t *count) {
  const int64_t share = n / blocks, rest = n % blocks;
  *count = share + (block < rest);
  *start = block * share + (block < rest ? block : rest);
}

/* The heated disc in the middle of the plate keeps its temperature. */
static int heated(const Plate *p, int64_t y, int64_t x) {
  const double dy = (double)y - (double)(p->n - 1) / 2, dx = (double)x - (double)(p->n - 1) / 2;
  const double radius = (double)p->n / 8;
  return dy * dy + dx * dx <= radius * radius;
}

static double start_temperature(const Plate *p, int64_t y, int64_t x) {
  if (y < 0) return WARM;
  if (y == p->n || x < 0 || x == p->n) return COLD;
  return heated(p, y, x) ? HOT : COLD;
}

int plate_make(MPI_Comm comm, int64_t n, Plate *p) {
  int size, rank, blocks[2] = {0, 0}, periodic[2] = {0, 0}, place[2];
  MPI_Comm_size(comm, &size);
  MPI_Dims_create(size, 2, blocks);
  if (n < blocks[0]) return 0; /* blocks[0] >= blocks[1]: each block must have a cell */

  *p = (Plate){.n = n};
  MPI_Cart_create(comm, 2, blocks, periodic, 0, &p->comm);
  MPI_Comm_rank(p->comm, &rank);
  MPI_Cart_coords(p->comm, rank, 2, place);
  cut(n, blocks[0], place[0], &p->y0, &p->ny);
  cut(n, blocks[1], place[1], &p->x0, &p->nx);

  const int64_t width = p->nx + 2, cells = (p->ny + 2) * width;
  p->now = malloc((size_t)cells * sizeof *p->now);
  p->next = malloc((size_t)cells * sizeof *p->next);
  if (!p->now || !p->next) MPI_Abort(comm, 1);
  for (int64_t i = 0; i < cells; i++)
    p->now[i] = p->next[i] = start_temperature(p, p->y0 + i / width - 1, p->x0 + i % width - 1);
  return 1;
}

static void exchange_ghosts(Plate *p) {
  const int64_t width = p->nx + 2;
  double *t = p->now;
  MPI_Datatype column;
  MPI_Type_vector((int)p->ny, 1, (int)width, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);

  int above, below, left, right; /* MPI_PROC_NULL at the edges, where the ghost cells hold the boundary */
  MPI_Cart_shift(p->comm, 0, 1, &above, &below);
  MPI_Cart_shift(p->comm, 1, 1, &left, &right);
  const int nx = (int)p->nx;
  double *first = t + width + 1, *last = t + p->ny * width + 1, *end = first + p->nx - 1;
  MPI_Sendrecv(first, nx, MPI_DOUBLE, above, 0, last + width, nx, MPI_DOUBLE, below, 0, p->comm, MPI_STATUS_IGNORE);
  MPI_Sendrecv(last, nx, MPI_DOUBLE, below, 1, first - width, nx, MPI_DOUBLE, above, 1, p->comm, MPI_STATUS_IGNORE);
  MPI_Sendrecv(first, 1, column, left, 2, end + 1, 1, column, right, 2, p->comm, MPI_STATUS_IGNORE);
  MPI_Sendrecv(end, 1, column, right, 3, first - 1, 1, column, left, 3, p->comm, MPI_STATUS_IGNORE);
  MPI_Type_free(&column);
}

void plate_step(Plate *p) {
  exchange_ghosts(p);
  const int64_t width = p->nx + 2;
  double change = 0;
  for (int64_t y = 0; y < p->ny; y++)
    for (int64_t x = 0; x < p->nx; x++) {
      const double *t = p->now + (y + 1) * width + x + 1;
      double *fresh = p->next + (y + 1) * width + x + 1;
      /* Always in this order, so that every division of the plate rounds alike. */
      *fresh = heated(p, p->y0 + y, p->x0 + x) ? HOT : 0.25 * (t[-width] + t[-1] + t[1] + t[width]);
      change = fmax(change, fabs(*fresh - *t));
    }
  double *swap = p->now;
  p->now = p->next;
  p->next = swap;

  MPI_Allreduce(&change, &p->residual, 1, MPI_DOUBLE, MPI_MAX, p->comm);
  const double h = 1.0 / (double)(p->n + 1);
  p->step++;
  p->time = (double)p->step * h * h / 4;
}

void plate_free(Plate *p) {
  free(p->now);
  free(p->next);
  MPI_Comm_free(&p->comm);
}
