/* pending_sync.c: a file cannot be synced while a non-blocking call of another file is in flight.
 *
 *   mpicc pending_sync.c -o pending_sync && mpiexec -n 1 ./pending_sync FILE
 *
 * OMPIO keeps one list of pending requests for all files. MPI_File_sync fails (MPI_ERR_OTHER) while the list is not
 * empty. Open MPI 4.1.4: always, as long as the 256 MiB are being written. ROMIO, MPICH: never. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  if (argc < 2) return fprintf(stderr, "usage: pending_sync FILE\n"), MPI_Finalize(), 2;
  const int bytes = 256 << 20;
  char *data = calloc(1, bytes), other[4096];
  snprintf(other, sizeof other, "%s-other", argv[1]);
  const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
  MPI_File large, small;
  MPI_File_open(MPI_COMM_SELF, argv[1], mode, MPI_INFO_NULL, &large);
  MPI_File_open(MPI_COMM_SELF, other, mode, MPI_INFO_NULL, &small);
  MPI_Request request;
  MPI_File_iwrite_at(large, 0, data, bytes, MPI_CHAR, &request);
  MPI_File_write_at(small, 0, data, 1, MPI_CHAR, MPI_STATUS_IGNORE);
  const int error = MPI_File_sync(small);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  const int after = MPI_File_sync(small);
  printf("%s: MPI_File_sync of another file: %s; when the call is done: %s\n", error ? "FAULT" : "no fault",
         error ? "an error" : "success", after ? "an error" : "success");
  MPI_File_close(&small);
  MPI_File_close(&large);
  free(data);
  MPI_Finalize();
  return 0;
}
