/* output.h: the output routine to replace. */
#ifndef REPLACE_OUTPUT_H
#define REPLACE_OUTPUT_H

#include <mpi.h>
#include <stdint.h>

typedef struct Table {
  MPI_Comm comm;
  int64_t rows, columns;
  int64_t first, count; /* rows of this process */
  double *values;
  int64_t step;
} Table;

/* Collective; returns 0 on success. */
int write_output(const Table *t);
int read_output(int step, Table *t);

#endif
