/* stale_read.c: a rank reads back, on the same handle, what it has just written, and gets other bytes.
 *
 *   mpicc stale_read.c -o stale_read && mpiexec -n 3 ./stale_read ./FILE [CB_NODES [ROUNDS]]
 *
 * Open MPI 4.1.4, OMPIO (its default) with fcoll vulcan (the default) or dynamic_gen2:
 *   wrong in every round with 3 ranks and cb_nodes=3, 4 and 4, 8 and 8, 16 and 16;
 *   wrong in about half of the rounds with 8 or 16 ranks of 1 MiB and cb_nodes=4; sometimes wrong with cb_nodes=2.
 * The file itself is right. Not seen with cb_nodes=1, --mca fcoll dynamic|two_phase|individual, ROMIO, MPICH, or a
 * sync-barrier-sync between write and read (SYNC=1 in the environment). The standard (MPI 4.0, 14.6.1, case of one file
 * handle) promises right bytes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { columns = 64, rows = 64 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, wrong = 0, all_wrong, bad_rounds = 0, bad_files = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 2) return fprintf(stderr, "usage: stale_read FILE [CB_NODES [ROUNDS]]\n"), MPI_Finalize(), 2;
  const int rounds = argc > 3 ? atoi(argv[3]) : 10;
  MPI_Info info;
  MPI_Info_create(&info);
  if (argc > 2) MPI_Info_set(info, "cb_nodes", argv[2]);
  MPI_Datatype column; /* `rows` short rows of `columns` numbers, one of each rank after the other */
  MPI_Type_vector(rows, columns, columns * ranks, MPI_INT, &column);
  MPI_Type_commit(&column);
  int *out = malloc(sizeof(int) * rows * columns), *in = malloc(sizeof(int) * rows * columns);
  for (int round = 0; round < rounds; ++round) {
    MPI_File file;
    if (rank == 0) MPI_File_delete(argv[1], MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < rows * columns; ++i) out[i] = (round + 1) * 1000003 + rank * rows * columns + i, in[i] = -1;
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file);
    MPI_File_set_view(file, (MPI_Offset)sizeof(int) * columns * rank, MPI_INT, column, "native", info);
    MPI_File_write_at_all(file, 0, out, rows * columns, MPI_INT, MPI_STATUS_IGNORE);
    if (getenv("SYNC")) MPI_File_sync(file), MPI_Barrier(MPI_COMM_WORLD), MPI_File_sync(file);
    MPI_File_read_at_all(file, 0, in, rows * columns, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    wrong = 0;
    for (int i = 0; i < rows * columns; ++i) wrong += in[i] != out[i];
    MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, (MPI_Offset)sizeof(int) * columns * rank, MPI_INT, column, "native", MPI_INFO_NULL);
    MPI_File_read_at(file, 0, in, rows * columns, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    bad_files += memcmp(in, out, sizeof(int) * rows * columns) != 0;
    if (rank == 0 && all_wrong) ++bad_rounds, printf("round %d: %d numbers are wrong\n", round, all_wrong);
  }
  MPI_Reduce(rank == 0 ? MPI_IN_PLACE : &bad_files, &bad_files, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("blocks wrong in the closed file: %d\n", bad_files);
  if (rank == 0) printf("%s: wrong bytes in %d of %d rounds\n", bad_rounds ? "FAULT" : "no fault", bad_rounds, rounds);
  if (rank == 0) MPI_File_delete(argv[1], MPI_INFO_NULL);
  MPI_Finalize();
  return 0;
}
