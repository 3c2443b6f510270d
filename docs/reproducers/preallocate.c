/* preallocate.c: each rank writes 40 MiB behind those of the ranks before it, by a view. Then all of them reserve as
 * many bytes as the file has, and 1000 more.
 *
 *   mpicc preallocate.c -o preallocate && mpiexec -n 3 ./preallocate ./FILE
 *
 * MPI_File_preallocate must leave what was written as it is. OMPIO (Open MPI 4.1.4) reads and writes it again, through
 * the view of rank 0 and from where that rank's file pointer is. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  enum { bytes = 40 << 20 };
  int rank, ranks;
  long wrong = 0, all = 0;
  MPI_File file;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 2) return fprintf(stderr, "usage: preallocate FILE\n"), MPI_Finalize(), 2;
  char *data = malloc(bytes);
  memset(data, 'a' + rank, bytes);
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                &file);
  MPI_File_set_view(file, (MPI_Offset)rank * bytes, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
  MPI_File_write_all(file, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_preallocate(file, (MPI_Offset)ranks * bytes + 1000);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_read_at(file, 0, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  for (int i = 0; i < bytes; ++i) wrong += data[i] != 'a' + rank;
  MPI_Reduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%s: %ld bytes have changed\n", all == 0 ? "no fault" : "FAULT", all);
  MPI_File_close(&file);
  free(data);
  MPI_Finalize();
  return 0;
}
