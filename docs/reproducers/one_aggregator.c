/* one_aggregator.c: for any value of cb_nodes, only one rank of a host writes.
 *
 *   mpicc one_aggregator.c -o one_aggregator && mpiexec -n 4 ./one_aggregator FILE CB_NODES [CB_CONFIG_LIST]
 *
 * /proc/self/io shows which ranks wrote. ROMIO (Open MPI 4.1.4's romio321, MPICH 4.0.2) on one host: cb_nodes=4 has one
 * writer, because cb_config_list is "*:1" by default, one per host. `one_aggregator FILE 4 '*:*'` has four writers. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { pieces = 256, piece = 4096 };

static long long written(void) { /* bytes that this process gave to write() and its kin */
  long long bytes = -1;
  char line[128];
  FILE *io = fopen("/proc/self/io", "r");
  while (io && fgets(line, sizeof line, io)) sscanf(line, "wchar: %lld", &bytes);
  if (io) fclose(io);
  return bytes;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, writers;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 3) return fprintf(stderr, "usage: one_aggregator FILE CB_NODES [CB_CONFIG_LIST]\n"), MPI_Finalize(), 2;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_nodes", argv[2]);
  MPI_Info_set(info, "romio_cb_write", "enable");
  if (argc > 3) MPI_Info_set(info, "cb_config_list", argv[3]);
  MPI_Datatype column;
  MPI_Type_vector(pieces, piece, piece * ranks, MPI_CHAR, &column);
  MPI_Type_commit(&column);
  char *data = malloc(pieces * piece);
  memset(data, 'a' + rank, pieces * piece);
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &file);
  MPI_File_set_view(file, (MPI_Offset)piece * rank, MPI_CHAR, column, "native", info);
  const long long before = written();
  MPI_File_write_at_all(file, 0, data, pieces * piece, MPI_CHAR, MPI_STATUS_IGNORE);
  const long long bytes = written() - before;
  const int wrote = bytes > pieces * piece / 4; /* less are the MPI library's own messages */
  printf("rank %d wrote %lld bytes\n", rank, bytes);
  MPI_Reduce(&wrote, &writers, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_File_close(&file);
  const int wanted = atoi(argv[2]) < ranks ? atoi(argv[2]) : ranks;
  if (rank == 0) printf("%s: %d of %d aggregators wrote\n", writers < wanted ? "FAULT" : "no fault", writers, wanted);
  MPI_Finalize();
  return 0;
}
