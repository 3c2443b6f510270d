/* files.c: MPI-IO that is known: 2000 independent small writes of each rank, and one collective. */
#include <mpi.h>

static void save_grid(MPI_File file, int rank, int ranks) {
  char bytes[100] = {0};
  for (int i = 0; i < 2000; ++i)
    MPI_File_write_at(file, 100 * ((MPI_Offset)i * ranks + rank), bytes, 100, MPI_CHAR, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  int rank, ranks;
  double values[1000] = {0};
  MPI_File file;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_File_open(MPI_COMM_WORLD, "grid.dat", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  save_grid(file, rank, ranks);
  MPI_File_write_at_all(file, 1 << 20, values, rank == 0 ? 1000 : 0, MPI_DOUBLE, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
