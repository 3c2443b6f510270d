/* before.c: process 0 gathers everything, which must fit its memory, and writes it while the others wait. */
#include <stdio.h>
#include <stdlib.h>

#include "output.h"

static void counts_of(const Table *t, int *counts, int *starts) {
  int ranks;
  MPI_Comm_size(t->comm, &ranks);
  for (int r = 0; r < ranks; r++) {
    starts[r] = (int)(t->rows * r / ranks * t->columns);
    counts[r] = (int)(t->rows * (r + 1) / ranks * t->columns) - starts[r];
  }
}

int write_output(const Table *t) {
  int rank, ranks, failed = 0;
  MPI_Comm_rank(t->comm, &rank);
  MPI_Comm_size(t->comm, &ranks);
  int counts[ranks], starts[ranks];
  counts_of(t, counts, starts);
  double *all = rank == 0 ? malloc(sizeof(double) * (size_t)(t->rows * t->columns)) : NULL;
  MPI_Gatherv(t->values, counts[rank], MPI_DOUBLE, all, counts, starts, MPI_DOUBLE, 0, t->comm);
  if (rank == 0) {
    char name[40];
    snprintf(name, sizeof name, "table_%03lld.bin", (long long)t->step);
    FILE *file = fopen(name, "wb");
    failed = !file || fwrite(&t->step, sizeof t->step, 1, file) != 1 ||
             fwrite(all, sizeof(double), (size_t)(t->rows * t->columns), file) != (size_t)(t->rows * t->columns);
    if (file) failed = fclose(file) || failed;
    if (failed) perror(name);
  }
  free(all);
  MPI_Bcast(&failed, 1, MPI_INT, 0, t->comm);
  return failed;
}

int read_output(int step, Table *t) {
  int rank, ranks, failed = 0;
  MPI_Comm_rank(t->comm, &rank);
  MPI_Comm_size(t->comm, &ranks);
  int counts[ranks], starts[ranks];
  counts_of(t, counts, starts);
  double *all = rank == 0 ? malloc(sizeof(double) * (size_t)(t->rows * t->columns)) : NULL;
  if (rank == 0) {
    char name[40];
    snprintf(name, sizeof name, "table_%03d.bin", step);
    FILE *file = fopen(name, "rb");
    failed = !file || fread(&t->step, sizeof t->step, 1, file) != 1 ||
             fread(all, sizeof(double), (size_t)(t->rows * t->columns), file) != (size_t)(t->rows * t->columns);
    if (failed) perror(name);
    if (file) fclose(file);
  }
  MPI_Bcast(&failed, 1, MPI_INT, 0, t->comm);
  MPI_Bcast(&t->step, 1, MPI_INT64_T, 0, t->comm);
  if (!failed) MPI_Scatterv(all, counts, starts, MPI_DOUBLE, t->values, counts[rank], MPI_DOUBLE, 0, t->comm);
  free(all);
  return failed;
}
