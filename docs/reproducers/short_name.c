/* short_name.c: a file whose whole name is one letter cannot be opened.
 *
 *   mpicc short_name.c -o short_name && mpiexec -n 1 ./short_name     # in a folder that may be written
 *
 * Open MPI 4.1.4, OMPIO: MPI_File_open("x") is MPI_ERR_OTHER; "./x" and "xy" work. ROMIO and MPICH open it. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_File file;
  const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
  const int code = MPI_File_open(MPI_COMM_SELF, "x", mode, MPI_INFO_NULL, &file);
  if (code == MPI_SUCCESS) MPI_File_close(&file);
  printf("%s: opening 'x' %s\n", code == MPI_SUCCESS ? "no fault" : "FAULT", code == MPI_SUCCESS ? "worked" : "failed");
  MPI_Finalize();
  return 0;
}
