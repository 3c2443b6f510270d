/* iread_at_end.c: MPI_File_iread_at of 200 bytes from a file that has 100.
 *
 *   mpicc iread_at_end.c -o iread_at_end && timeout 10 mpiexec -n 1 ./iread_at_end ./FILE
 *
 * Right is a count of 100, as MPICH 4.0.2 says. Open MPI 4.1.4: OMPIO never completes; ROMIO counts 200. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  char data[200] = "";
  MPI_File file;
  MPI_Request request;
  MPI_Status status;
  int count = 0;
  MPI_Init(&argc, &argv);
  if (argc < 2) return fprintf(stderr, "usage: iread_at_end FILE\n"), MPI_Finalize(), 2;
  MPI_File_open(MPI_COMM_SELF, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                &file);
  MPI_File_write_at(file, 0, data, 100, MPI_BYTE, MPI_STATUS_IGNORE);
  MPI_File_iread_at(file, 0, data, 200, MPI_BYTE, &request);
  MPI_Wait(&request, &status);
  MPI_Get_count(&status, MPI_BYTE, &count);
  MPI_File_close(&file);
  printf("%s: read %d bytes of 100\n", count == 100 ? "no fault" : "FAULT", count);
  MPI_Finalize();
  return 0;
}
