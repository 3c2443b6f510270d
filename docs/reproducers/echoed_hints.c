/* echoed_hints.c: MPI_File_get_info returns the values that were set, not those in effect; also a nonexistent hint.
 *
 *   mpicc echoed_hints.c -o echoed_hints && mpiexec -n 2 ./echoed_hints FILE
 *
 * Open MPI 4.1.4, OMPIO and romio321: "penstock_bogus" comes back, and so does cb_nodes=1000 on 2 ranks. MPICH 4.0.2
 * returns the values that it uses. With Open MPI's ROMIO, ROMIO_PRINT_HINTS=1 in the environment prints the real
 * values. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, keys = 0, bogus = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc < 2) return fprintf(stderr, "usage: echoed_hints FILE\n"), MPI_Finalize(), 2;
  MPI_Info asked, used;
  MPI_Info_create(&asked);
  MPI_Info_set(asked, "penstock_bogus", "yes");
  MPI_Info_set(asked, "cb_nodes", "1000");
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, asked, &file);
  MPI_File_get_info(file, &used);
  MPI_Info_get_nkeys(used, &keys);
  for (int i = 0; i < keys; ++i) {
    char key[MPI_MAX_INFO_KEY + 1], value[256];
    int there;
    MPI_Info_get_nthkey(used, i, key);
    MPI_Info_get(used, key, sizeof value - 1, value, &there);
    if (rank == 0) printf("%s = %s\n", key, value);
    bogus = bogus || strcmp(key, "penstock_bogus") == 0;
  }
  MPI_File_close(&file);
  if (rank == 0) printf(bogus ? "FAULT: the bogus hint was echoed\n" : "no fault: only known hints came back\n");
  MPI_Finalize();
  return 0;
}
