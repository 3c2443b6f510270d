/* full_disk.c: the errors of a collective write when the disk is full.
 *
 *   mpicc full_disk.c -o full_disk && timeout 20 mpiexec -n 4 ./full_disk FILE MIB [CB_NODES [CB_CONFIG_LIST]]
 *   FILE on a disk smaller than MIB: truncate -s 10M d.img && mkfs.ext4 -q -m 0 d.img && mount -o loop d.img /mnt
 *
 * Each rank has a piece of each of 256 rows, or, with BLOCKS=1 in the environment, one block. Correct behaviour: an
 * error on every rank. Seen with a disk of 9 MiB:
 *   Open MPI 4.1.4, OMPIO, 15 MiB, no hint: MPI_SUCCESS and full counts everywhere, also from sync; truncated file.
 *   OMPIO, 15 MiB, cb_nodes=4: write_at_all as above; sync fails on the aggregators and never returns on the others.
 *   ROMIO (Open MPI's romio321; MPICH 4.0.2), 32 MiB: an error on rank 0, the others never return. With 15 MiB (one
 *   round of its 16 MiB buffer), every rank correctly gets MPI_ERR_IO.
 *   ROMIO, BLOCKS=1: MPI_ERR_IO on those ranks only whose own block did not fit. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *word(int code) { return code == MPI_SUCCESS ? "MPI_SUCCESS" : "failed"; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, codes[3], failed = 0, count = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 3) return fprintf(stderr, "usage: full_disk FILE MIB [CB_NODES [CB_CONFIG_LIST]]\n"), MPI_Finalize(), 2;
  const int numbers = (int)((long long)atoi(argv[2]) * (1 << 18) / ranks / 256); /* of each of 256 pieces */
  const int blocks = getenv("BLOCKS") != NULL;
  MPI_Info info;
  MPI_Info_create(&info);
  if (argc > 3) MPI_Info_set(info, "cb_nodes", argv[3]);
  if (argc > 4) MPI_Info_set(info, "cb_config_list", argv[4]);
  MPI_Datatype column;
  MPI_Type_vector(256, numbers, numbers * ranks, MPI_INT, &column);
  MPI_Type_commit(&column);
  int *data = malloc(sizeof(int) * 256 * (size_t)numbers);
  memset(data, rank + 1, sizeof(int) * 256 * (size_t)numbers);
  MPI_File file;
  MPI_Status status;
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file);
  if (blocks)
    MPI_File_set_view(file, (MPI_Offset)sizeof(int) * 256 * numbers * rank, MPI_INT, MPI_INT, "native", info);
  else
    MPI_File_set_view(file, (MPI_Offset)sizeof(int) * numbers * rank, MPI_INT, column, "native", info);
  codes[0] = MPI_File_write_at_all(file, 0, data, 256 * numbers, MPI_INT, &status);
  if (codes[0] == MPI_SUCCESS) MPI_Get_count(&status, MPI_INT, &count);
  printf("rank %d: write_at_all %s (%d of %d numbers)\n", rank, word(codes[0]), count, 256 * numbers), fflush(stdout);
  codes[1] = MPI_File_sync(file);
  codes[2] = MPI_File_close(&file);
  printf("rank %d: sync %s, close %s\n", rank, word(codes[1]), word(codes[2])), fflush(stdout);
  const int told = codes[0] != MPI_SUCCESS;
  MPI_Reduce(&told, &failed, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    struct stat state = {0};
    stat(argv[1], &state);
    printf("the file has %lld of %lld bytes\n", (long long)state.st_size, 1024LL * numbers * ranks);
    if (failed == ranks) printf("no fault: every rank was told by write_at_all\n");
    if (failed < ranks) printf("FAULT: %d of %d ranks were told by write_at_all\n", failed, ranks);
    MPI_File_delete(argv[1], MPI_INFO_NULL);
  }
  MPI_Finalize();
  return 0;
}
