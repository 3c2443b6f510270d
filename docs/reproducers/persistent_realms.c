/* persistent_realms.c: the hint romio_cb_pfr=enable kills the program.
 *
 *   mpicc persistent_realms.c -o persistent_realms && mpiexec -n 2 ./persistent_realms ./FILE
 *
 * Open MPI 4.1.4 with --mca io romio321 and MPICH 4.0.2: a segmentation fault, or an abort in MPI_Type_free at the end.
 * OMPIO does not know the hint. */
#include <mpi.h>
#include <stdio.h>

enum { count = 1000 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, values[count] = {0}, wrote, closed;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 2) return fprintf(stderr, "usage: persistent_realms FILE\n"), MPI_Finalize(), 2;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "romio_cb_pfr", "enable");
  MPI_Info_set(info, "romio_cb_write", "enable");
  MPI_Datatype column;
  MPI_Type_vector(count, 1, ranks, MPI_INT, &column);
  MPI_Type_commit(&column);
  MPI_File file;
  const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
  MPI_File_open(MPI_COMM_WORLD, argv[1], mode, info, &file);
  MPI_File_set_view(file, (MPI_Offset)sizeof(int) * rank, MPI_INT, column, "native", info);
  wrote = MPI_File_write_at_all(file, 0, values, count, MPI_INT, MPI_STATUS_IGNORE);
  closed = MPI_File_close(&file);
  if (rank == 0) printf("%s: written and closed\n", wrote || closed ? "FAULT" : "no fault");
  MPI_Finalize();
  return 0;
}
