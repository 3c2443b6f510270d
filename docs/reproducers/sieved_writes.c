/* sieved_writes.c: a rank's write is undone by another rank that writes adjacent bytes, never the same bytes.
 *
 *   mpicc sieved_writes.c -o sieved_writes && mpiexec -n 4 ./sieved_writes FILE [ROMIO_DS_WRITE]
 *
 * All ranks but the last write every other block through a file view. The MPI library reads the whole range, patches it
 * and writes it back, under a lock. The last rank writes the blocks between, one after another. Such a single run is
 * written without the lock, so the write-back of a range that was read earlier overwrites it. No call is atomic, and
 * none needs to be: the standard promises this (MPI 4.0, 14.6.1, non-overlapping accesses).
 * ROMIO of Open MPI 4.1.4 and of MPICH 4.0.2: some 1000 of the 8000 blocks are lost, none with ROMIO_DS_WRITE=disable.
 * OMPIO sieves in collective calls only: sieved_collective.c. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { blocks = 200, block = 8, rounds = 40 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, lost = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 2) return fprintf(stderr, "usage: sieved_writes FILE [ROMIO_DS_WRITE]\n"), MPI_Finalize(), 2;
  MPI_Info info;
  MPI_Info_create(&info);
  if (argc > 2) MPI_Info_set(info, "romio_ds_write", argv[2]);
  const int last = rank == ranks - 1;
  char data[blocks * block], back[block];
  memset(data, 'a' + rank, sizeof data);
  MPI_Datatype column;
  MPI_Type_vector(blocks, block, 2 * block * (ranks - 1), MPI_CHAR, &column);
  MPI_Type_commit(&column);
  for (int round = 0; round < rounds; ++round) {
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &file);
    if (last)
      MPI_File_set_view(file, 0, MPI_CHAR, MPI_CHAR, "native", info);
    else
      MPI_File_set_view(file, 2 * block * rank, MPI_CHAR, column, "native", info);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!last) MPI_File_write(file, data, sizeof data, MPI_CHAR, MPI_STATUS_IGNORE);
    for (int i = 0; last && i < blocks; ++i)
      MPI_File_write_at(file, block * (2 * i + 1), data, block, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
    for (int i = 0; last && i < blocks; ++i) {
      MPI_File_read_at(file, block * (2 * i + 1), back, block, MPI_CHAR, MPI_STATUS_IGNORE);
      lost += memcmp(data, back, block) != 0;
    }
    MPI_File_close(&file);
  }
  if (last)
    printf("%s: %d of %d blocks of rank %d are lost\n", lost ? "FAULT" : "no fault", lost, rounds * blocks, rank);
  MPI_Type_free(&column);
  MPI_Info_free(&info);
  MPI_Finalize();
  return 0;
}
