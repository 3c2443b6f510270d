/* internal_datarep.c: a file view with the data representation "internal", which every MPI-2 library must know.
 *
 *   mpicc internal_datarep.c -o internal_datarep && mpiexec -n 2 ./internal_datarep ./FILE
 *
 * Open MPI 4.1.4, OMPIO: set_view fails with MPI_ERR_UNSUPPORTED_DATAREP and the old view stays, so a program that does
 * not check the code writes to the wrong places. ROMIO and MPICH 4.0.2 accept it, and call it "native" afterwards. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc < 2) return fprintf(stderr, "usage: internal_datarep FILE\n"), MPI_Finalize(), 2;
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                &file);
  int class = MPI_SUCCESS;
  MPI_Error_class(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "internal", MPI_INFO_NULL), &class);
  char name[MPI_MAX_DATAREP_STRING];
  MPI_Offset offset;
  MPI_Datatype element, type;
  MPI_File_get_view(file, &offset, &element, &type, name);
  MPI_File_close(&file);
  if (rank == 0)
    printf("%s: set_view %s, the view is now '%s'\n", class || strcmp(name, "internal") != 0 ? "FAULT" : "no fault",
           class == MPI_SUCCESS                   ? "succeeded"
           : class == MPI_ERR_UNSUPPORTED_DATAREP ? "failed with MPI_ERR_UNSUPPORTED_DATAREP"
                                                  : "failed",
           name);
  MPI_Finalize();
  return 0;
}
