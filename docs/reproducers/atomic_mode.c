/* atomic_mode.c: atomic mode is set, reported as set, and yet the writes of several ranks end up mixed.
 *
 *   mpicc atomic_mode.c -o atomic_mode && mpiexec -n 4 ./atomic_mode ./FILE
 *
 * All ranks write the same strided elements at once; in atomic mode one of them must win all of them. Open MPI 4.1.4,
 * OMPIO: mixed in most rounds (timing dependent); ROMIO and MPICH 4.0.2: never. */
#include <mpi.h>
#include <stdio.h>

enum { count = 1000, rounds = 50 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, atomic = 0, mixed = 0, values[count], back[count];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc < 2) return fprintf(stderr, "usage: atomic_mode FILE\n"), MPI_Finalize(), 2;
  for (int i = 0; i < count; ++i) values[i] = rank;
  MPI_Datatype every_other;
  MPI_Type_vector(count, 1, 2, MPI_INT, &every_other);
  MPI_Type_commit(&every_other);
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                &file);
  MPI_File_set_view(file, 0, MPI_INT, every_other, "native", MPI_INFO_NULL);
  if (MPI_File_set_atomicity(file, 1) != MPI_SUCCESS) printf("rank %d: set_atomicity is refused\n", rank);
  MPI_File_get_atomicity(file, &atomic);
  for (int round = 0; round < rounds; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_write_at(file, 0, values, count, MPI_INT, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at(file, 0, back, count, MPI_INT, MPI_STATUS_IGNORE);
    int other = 0;
    for (int i = 1; i < count; ++i) other += back[i] != back[0];
    mixed += other > 0;
  }
  MPI_File_close(&file);
  if (rank == 0)
    printf("%s: atomic mode is %s, mixed in %d of %d rounds\n", atomic && mixed ? "FAULT" : "no fault",
           atomic ? "on" : "off", mixed, rounds);
  MPI_Finalize();
  return 0;
}
