/* sieved_collective.c: collective writes of small pieces lose some, although no two ranks write the same bytes.
 *
 *   mpicc sieved_collective.c -o sieved_collective && mpiexec -n 4 ./sieved_collective FILE [CB_NODES]
 *
 * Where the pieces have small gaps, OMPIO's aggregators read a range, patch it and write it back (fbtl posix, parameter
 * write_datasieving), while other aggregators write into those gaps. Open MPI 4.1.4 with fcoll vulcan (its default) and
 * CB_NODES 2: 4 to 60 of 10240 pieces are lost; a barrier after every call does not help. None with CB_NODES 1, with
 * `--mca fbtl_posix_write_datasieving 0`, with MPI_THREAD_MULTIPLE, with another fcoll, with ROMIO. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { rows = 64, width = 64, rounds = 40 };

static int length(int rank, int row) { return 1 + (rank * 7919 + row * 104729) % 61; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, lost = 0, all = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 2) return fprintf(stderr, "usage: sieved_collective FILE [CB_NODES]\n"), MPI_Finalize(), 2;
  MPI_Info info;
  MPI_Info_create(&info);
  if (argc > 2) MPI_Info_set(info, "cb_nodes", argv[2]);
  char data[width], back[width];
  memset(data, 'a' + rank, sizeof data);
  for (int round = 0; round < rounds; ++round) {
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &file);
    MPI_File_set_size(file, (MPI_Offset)ranks * rows * width);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int row = 0; row < rows; ++row)
      MPI_File_write_at_all(file, (MPI_Offset)(rank * rows + row) * width, data, length(rank, row), MPI_CHAR,
                            MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
    for (int row = 0; row < rows; ++row) {
      const size_t bytes = (size_t)length(rank, row);
      MPI_File_read_at(file, (MPI_Offset)(rank * rows + row) * width, back, (int)bytes, MPI_CHAR, MPI_STATUS_IGNORE);
      lost += memcmp(data, back, bytes) != 0;
    }
    MPI_File_close(&file);
  }
  MPI_Reduce(&lost, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%s: %d of %d pieces are lost\n", all ? "FAULT" : "no fault", all, rounds * rows * ranks);
  MPI_Info_free(&info);
  MPI_Finalize();
  return 0;
}
