/* overlapping_read_all.c: collective reads of ranges that overlap give wrong bytes, and no error.
 *
 *   mpicc overlapping_read_all.c -o overlapping_read_all && mpiexec -n 3 ./overlapping_read_all ./FILE
 *
 * Open MPI 4.1.4, OMPIO with fcoll vulcan (the default), dynamic or dynamic_gen2: wrong. Right with
 * OMPI_MCA_fcoll=two_phase, ROMIO or MPICH 4.0.2. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { size_bytes = 20000 };
static const int begins[3] = {15969, 18158, 19040}, ends[3] = {18315, 19942, 19306};

static unsigned char byte_at(int i) { return (unsigned char)(i * 7 + i / 256); }

int main(int argc, char **argv) {
  static unsigned char data[size_bytes];
  int rank, wrong = 0, all_wrong;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc < 2) return fprintf(stderr, "usage: overlapping_read_all FILE\n"), MPI_Finalize(), 2;
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                &file);
  for (int i = 0; i < size_bytes; ++i) data[i] = byte_at(i);
  if (rank == 0) MPI_File_write_at(file, 0, data, size_bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
  memset(data, 0, sizeof data);
  const int begin = rank < 3 ? begins[rank] : 0, end = rank < 3 ? ends[rank] : 0;
  MPI_File_read_at_all(file, begin, data, end - begin, MPI_BYTE, MPI_STATUS_IGNORE);
  for (int i = begin; i < end; ++i) wrong += data[i - begin] != byte_at(i);
  printf("rank %d: %d of %d bytes wrong\n", rank, wrong, end - begin), fflush(stdout);
  MPI_File_close(&file);
  MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%s: %d wrong bytes\n", all_wrong ? "FAULT" : "no fault", all_wrong);
  MPI_Finalize();
  return 0;
}
