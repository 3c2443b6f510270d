/* nonblocking_collective.c: MPI_File_iwrite_at_all kills the program.
 *
 *   mpicc nonblocking_collective.c -o nonblocking_collective
 *   mpiexec -n 2 ./nonblocking_collective ./FILE [contiguous]
 *
 * Each rank writes every other number ("contiguous": a block of its own). Open MPI 4.1.4 with --mca io romio321:
 * segmentation fault; OMPIO and MPICH 4.0.2 write the right file. */
#include <mpi.h>
#include <stdio.h>

enum { count = 1000 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, values[count], back[count], wrong = 0, all_wrong;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 2) return fprintf(stderr, "usage: nonblocking_collective FILE [contiguous]\n"), MPI_Finalize(), 2;
  for (int i = 0; i < count; ++i) values[i] = rank * count + i, back[i] = -1;
  MPI_Datatype column;
  MPI_Type_vector(count, 1, ranks, MPI_INT, &column);
  MPI_Type_commit(&column);
  MPI_File file;
  MPI_Request request;
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  const MPI_Offset start = (MPI_Offset)sizeof(int) * rank * (argc > 2 ? count : 1);
  MPI_File_set_view(file, start, MPI_INT, argc > 2 ? MPI_INT : column, "native", MPI_INFO_NULL);
  if (rank == 0) printf("writing\n"), fflush(stdout);
  MPI_File_iwrite_at_all(file, 0, values, count, MPI_INT, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_read_at(file, 0, back, count, MPI_INT, MPI_STATUS_IGNORE);
  for (int i = 0; i < count; ++i) wrong += back[i] != values[i];
  MPI_File_close(&file);
  MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%s: %d wrong numbers\n", all_wrong ? "FAULT" : "no fault", all_wrong);
  if (rank == 0) MPI_File_delete(argv[1], MPI_INFO_NULL);
  MPI_Finalize();
  return 0;
}
