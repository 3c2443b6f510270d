/* consumer.c: a C program that knows only penstock.h: each rank writes a row and reads the row of its neighbour. */
#include <penstock.h>
#include <stdio.h>

enum { COLUMNS = 5 };

static penstock_status row(int rows, int at, penstock_decomposition **d) {
  return penstock_block(2, (int64_t[]){rows, COLUMNS}, (int64_t[]){at, 0}, (int64_t[]){1, COLUMNS}, d);
}

static penstock_status write_rows(penstock_comm comm, const char *path, int rank, int ranks) {
  penstock_file *file;
  penstock_decomposition *d = NULL;
  penstock_status status = penstock_create(comm, path, NULL, &file);
  if (status) return status;
  double values[COLUMNS];
  for (int i = 0; i < COLUMNS; i++) values[i] = 10 * rank + i;
  row(ranks, rank, &d);
  penstock_put(file, "rows", PENSTOCK_DOUBLE, d, values, NULL);
  penstock_free(d);
  return penstock_close(file);
}

static penstock_status read_row(penstock_comm comm, const char *path, int at, int ranks, double *values) {
  penstock_file *file;
  penstock_decomposition *d = NULL;
  penstock_status status = penstock_open(comm, path, NULL, &file);
  if (status) return status;
  row(ranks, at, &d);
  penstock_get(file, "rows", PENSTOCK_DOUBLE, d, values, NULL);
  penstock_free(d);
  return penstock_close(file);
}

int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : "consumer.h5";
  int rank = 0, ranks = 1;
  penstock_comm comm = PENSTOCK_ALONE;
#if PENSTOCK_HAVE_MPI
  MPI_Init(&argc, &argv);
  comm = MPI_COMM_WORLD;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
#endif
  const int neighbour = (rank + 1) % ranks;
  double values[COLUMNS] = {0};
  int wrong = write_rows(comm, path, rank, ranks) || read_row(comm, path, neighbour, ranks, values);
  if (wrong) fprintf(stderr, "consumer: rank %d: %s\n", rank, penstock_message());
  for (int i = 0; i < COLUMNS && !wrong; i++) wrong = values[i] != 10 * neighbour + i;
#if PENSTOCK_HAVE_MPI
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, comm);
  MPI_Finalize();
#endif
  if (rank == 0) printf("consumer: penstock %s on %d: %s\n", PENSTOCK_VERSION, ranks, wrong ? "WRONG" : "right");
  return wrong != 0;
}
