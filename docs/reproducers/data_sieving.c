/* data_sieving.c: with romio_cb_write=disable, each rank still reads, patches and rewrites whole buffers.
 *
 *   mpicc data_sieving.c -o data_sieving && mpiexec -n 8 ./data_sieving FILE [ROMIO_DS_WRITE]
 *
 * Bytes are counted in /proc/self/io. ROMIO (Open MPI 4.1.4's romio321, MPICH 4.0.2): for 16 MiB of data, some 8 times
 * as much is written, and as much is read, under a lock that serialises the ranks. With romio_ds_write=disable: exactly
 * 16 MiB. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { total = 16 << 20, piece = 8192 };

static void count(long long *counts) { /* bytes written and read by this process so far */
  char line[128];
  FILE *io = fopen("/proc/self/io", "r");
  while (io && fgets(line, sizeof line, io))
    sscanf(line, "wchar: %lld", &counts[0]), sscanf(line, "rchar: %lld", &counts[1]);
  if (io) fclose(io);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 2) return fprintf(stderr, "usage: data_sieving FILE [ROMIO_DS_WRITE]\n"), MPI_Finalize(), 2;
  const int pieces = total / piece / ranks;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "romio_cb_write", "disable");
  if (argc > 2) MPI_Info_set(info, "romio_ds_write", argv[2]);
  MPI_Datatype column;
  MPI_Type_vector(pieces, piece, piece * ranks, MPI_CHAR, &column);
  MPI_Type_commit(&column);
  char *data = malloc((size_t)pieces * piece);
  memset(data, 'a' + rank, (size_t)pieces * piece);
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &file);
  MPI_File_set_view(file, (MPI_Offset)piece * rank, MPI_CHAR, column, "native", info);
  long long before[2] = {0, 0}, counts[2] = {0, 0}, sums[2];
  count(before);
  MPI_File_write_at_all(file, 0, data, pieces * piece, MPI_CHAR, MPI_STATUS_IGNORE);
  count(counts);
  for (int i = 0; i < 2; ++i) counts[i] -= before[i];
  MPI_Reduce(counts, sums, 2, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_File_close(&file);
  if (rank == 0)
    printf("%s: %lld bytes of data, %lld written, %lld read\n", sums[0] > 2LL * total ? "FAULT" : "no fault",
           (long long)pieces * piece * ranks, sums[0], sums[1]);
  MPI_Finalize();
  return 0;
}
