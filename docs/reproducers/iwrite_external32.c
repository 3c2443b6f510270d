/* iwrite_external32.c: non-blocking calls do not convert to external32, blocking ones do.
 *
 *   mpicc iwrite_external32.c -o iwrite_external32 && mpiexec -n 1 ./iwrite_external32 ./FILE
 *
 * ROMIO (Open MPI 4.1.4's romio321, MPICH 4.0.2). external32 is big-endian: both lines ought to be 00 00 00 01. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* Whether the file holds a big-endian one. */
static int write_one(const char *path, int nonblocking) {
  int one = 1;
  unsigned char bytes[4] = "";
  MPI_File file;
  MPI_Request request;
  MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
  MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL);
  if (nonblocking) {
    MPI_File_iwrite_at(file, 0, &one, 1, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_File_write_at(file, 0, &one, 1, MPI_INT, MPI_STATUS_IGNORE);
  }
  MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
  MPI_File_read_at(file, 0, bytes, 4, MPI_BYTE, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  printf("%s: %02x %02x %02x %02x\n", nonblocking ? "iwrite_at" : "write_at", bytes[0], bytes[1], bytes[2], bytes[3]);
  return memcmp(bytes, "\0\0\0\1", 4) == 0;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  if (argc < 2) return fprintf(stderr, "usage: iwrite_external32 FILE\n"), MPI_Finalize(), 2;
  const int blocking = write_one(argv[1], 0), nonblocking = write_one(argv[1], 1);
  printf("%s: write_at %s, iwrite_at %s\n", blocking && nonblocking ? "no fault" : "FAULT",
         blocking ? "converts" : "does not convert", nonblocking ? "converts" : "does not convert");
  MPI_Finalize();
  return 0;
}
