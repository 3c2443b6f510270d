/* like_hdf5.c: a program that uses MPI-IO as HDF5 does: before each collective call the ranks ask each other, it has a
 * view, and the next call goes back to a view of bytes. Other ranks read what was written without a sync.
 * like_hdf5 all|space FILE [SEED]; exit status 1 if a byte is not as it should be, or if ranks hear of errors in
 * different calls. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { side = 64, datasets = 120, most = 1 << 20 };
enum form { rows, blocks, columns, one_rank, gaps, large, forms };

static unsigned char value(int dataset, long at) { return (unsigned char)(dataset * 31 + at * 7 + at / 251 + 1); }

/* Asks and writes rank's share of DATASET, of COUNT blocks of LENGTH bytes each STRIDE from FIRST on, at byte PLACE. */
static int write_together(MPI_File file, int dataset, long place, long first, int count, int length, int stride) {
  int mine = 1, all;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Datatype type;
  unsigned char *data = malloc((size_t)count * length + 1);
  for (int b = 0; b < count; ++b)
    for (int i = 0; i < length; ++i) data[b * (long)length + i] = value(dataset, first + b * (long)stride + i);
  MPI_Type_vector(count, length, stride, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  int error = MPI_File_set_view(file, place + first, MPI_BYTE, count > 0 ? type : MPI_BYTE, "native", MPI_INFO_NULL);
  CHECK(error == MPI_SUCCESS, "set_view");
  error = MPI_File_write_at_all(file, 0, data, count * length, MPI_BYTE, MPI_STATUS_IGNORE);
  MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
  MPI_Type_free(&type);
  free(data);
  return error;
}

/* The image that all ranks have made of a dataset's bytes. */
static unsigned char image[most];

static void expect_form(enum form form, int dataset, long *bytes) {
  *bytes = form == large ? most : (long)side * side;
  if (form == one_rank) *bytes = 8;
  for (long i = 0; i < *bytes; ++i) image[i] = value(dataset, i);
}

static int write_form(MPI_File file, enum form form, int dataset, long place) {
  const int low = side * rank / ranks, high = side * (rank + 1) / ranks, wide = high - low;
  switch (form) {
    case rows:
      return write_together(file, dataset, place, (long)low * side, wide > 0, wide * side, wide * side);
    case columns:
      return write_together(file, dataset, place, low, wide > 0 ? side : 0, wide, side);
    case blocks: { /* halves of the columns: the ranks of each half share its rows */
      const int half = rank % 2, group = (ranks + 1 - half) / 2, own = rank / 2;
      const int top = ranks == 1 ? 0 : side * own / group, end = ranks == 1 ? side : side * (own + 1) / group;
      const int width = ranks == 1 ? side : side / 2;
      return write_together(file, dataset, place, top * (long)side + half * width, end - top, width, side);
    }
    case one_rank:
      return write_together(file, dataset, place, 0, rank == dataset % ranks, 8, 8);
    case gaps:
      return write_together(file, dataset, place, rank * 2L, side * side / (2 * ranks), 2, 2 * ranks);
    default:
      return write_together(file, dataset, place, rank * 16L, most / (16 * ranks), 16, 16 * ranks);
  }
}

static void all_forms(const char *path, unsigned seed) {
  MPI_File file;
  long end = 0;
  unsigned char *read = malloc(most);
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_File_set_size(file, 0);
  for (int d = 0; d < datasets; ++d) {
    seed = seed * 1103515245u + 12345u;
    /* A while of each form, then all of them in turn. */
    enum form form = d < datasets / 2 ? (enum form)(d / 12 % (forms - 1)) : (enum form)((seed >> 16) % forms);
    if (d == 30 || d == 31) form = large;
    long bytes;
    expect_form(form, d, &bytes);
    CHECK(write_form(file, form, d, end) == MPI_SUCCESS, "dataset %d was not written", d);
    const long written = form == gaps    ? side * side / (2 * ranks) * 2L * ranks
                         : form == large ? most / (16 * ranks) * 16L * ranks
                                         : bytes;
    const int by = d % ranks; /* this rank changes a byte of what it, or another one, has just written */
    const int own = form == one_rank || seed >> 16 & 1;
    if (own && form != one_rank) MPI_Barrier(MPI_COMM_WORLD);
    if (rank == by && own) {
      const unsigned char other = 255;
      MPI_File_write_at(file, end + 5, &other, 1, MPI_BYTE, MPI_STATUS_IGNORE);
      memset(read, 0, 8);
      MPI_File_read_at(file, end, read, 8, MPI_BYTE, MPI_STATUS_IGNORE);
      CHECK(read[5] == 255 && read[4] == image[4], "dataset %d: own byte %d, its neighbour %d", d, read[5], read[4]);
    }
    if (own) image[5] = 255;
    int sum, one = 1; /* as HDF5's ranks do now and then: no sync, no barrier */
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_File_read_at(file, end, read, (int)written, MPI_BYTE, MPI_STATUS_IGNORE);
    CHECK(memcmp(read, image, (size_t)written) == 0, "dataset %d of form %d differs", d, form);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (d % 7 == 3) {
      MPI_File_read_at_all(file, end, read, (int)written, MPI_BYTE, MPI_STATUS_IGNORE);
      CHECK(memcmp(read, image, (size_t)written) == 0, "dataset %d of form %d differs, read by all", d, form);
    }
    if (rank == 0) { /* metadata, by one rank */
      MPI_File_write_at(file, end + most, &d, sizeof d, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    if (d % 20 == 19) MPI_File_sync(file);
    end += most + 64;
  }
  CHECK(MPI_File_close(&file) == MPI_SUCCESS, "close");
  free(read);
}

/* Until the disk is full: all ranks get the error in the same call, and no later than at the close. */
static void full_disk(const char *path) {
  for (int form = 0; form < forms; ++form) {
    if (form == one_rank) continue;
    MPI_File file;
    int call = 0, kind = MPI_SUCCESS;
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    for (; call < 20000 && kind == MPI_SUCCESS; ++call)
      MPI_Error_class(write_form(file, (enum form)form, call, call * (form == large ? most : (long)side * side)),
                      &kind);
    int seen[4] = {call, -call, kind, -kind};
    MPI_Allreduce(MPI_IN_PLACE, seen, 4, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(seen[0] == -seen[1], "form %d: calls %d to %d failed", form, -seen[1], seen[0]);
    CHECK(kind == MPI_ERR_NO_SPACE && seen[2] == -seen[3], "form %d: an error of class %d", form, kind);
    MPI_File_close(&file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) MPI_File_delete(path, MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 3) return 2;
  if (strcmp(argv[1], "space") == 0)
    full_disk(argv[2]);
  else
    all_forms(argv[2], argc > 3 ? (unsigned)atoi(argv[3]) : 1);
  int all;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all != 0;
}
