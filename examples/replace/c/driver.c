/* driver.c: a code whose output routine is replaced: rows of a table, distributed over the processes.
 *
 *   driver STEPS [RESTART_STEP] */
#include <stdio.h>
#include <stdlib.h>

#include "output.h"

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  Table t = {.comm = MPI_COMM_WORLD, .rows = 37, .columns = 11};
  int rank, ranks;
  MPI_Comm_rank(t.comm, &rank);
  MPI_Comm_size(t.comm, &ranks);
  t.first = t.rows * rank / ranks;
  t.count = t.rows * (rank + 1) / ranks - t.first;
  t.values = malloc(sizeof(double) * (size_t)(t.count * t.columns + 1));
  for (int64_t i = 0; i < t.count * t.columns; i++) t.values[i] = (double)(t.first * t.columns + i);
  const int last = argc > 1 ? atoi(argv[1]) : 4;
  int failed = 0;
  if (argc > 2) failed = read_output(atoi(argv[2]), &t);
  for (t.step++; t.step <= last && !failed; t.step++) {
    for (int64_t i = 0; i < t.count * t.columns; i++) t.values[i] = 0.5 * t.values[i] + (double)t.step;
    if (t.step % 2 == 0) failed = write_output(&t);
  }
  double total = 0;
  for (int64_t i = 0; i < t.count * t.columns; i++) total += t.values[i] * (double)(1 + (t.first * t.columns + i) % 97);
  MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_DOUBLE, MPI_SUM, t.comm);
  if (rank == 0 && !failed) printf("total %.3f\n", total);
  free(t.values);
  MPI_Finalize();
  return failed;
}
