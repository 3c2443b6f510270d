/* edges.c: programs that MPI allows and few write: bytes that lie far apart, that views show twice, that are read back
 * after each call, and what handlers and locks do. edges CASE FILE. */
#include <stdlib.h>

#include "program.h"

/* Numbers of all ranks that lie far apart: time must not depend on what lies between. */
static void sparse(void) {
  enum { count = 64 };
  const MPI_Aint apart = (MPI_Aint)1 << 36;
  MPI_Datatype numbers;
  MPI_Type_create_hvector(count, 1, apart, MPI_INT, &numbers);
  MPI_Type_commit(&numbers);
  int data[count], back[count];
  for (int i = 0; i < count; ++i) data[i] = 1000 * rank + i;
  MPI_File file = opened(path);
  OK(MPI_File_set_view(file, 4 * rank, MPI_INT, numbers, "native", MPI_INFO_NULL));
  OK(MPI_File_write_all(file, data, count, MPI_INT, MPI_STATUS_IGNORE));
  OK(MPI_File_sync(file));
  OK(MPI_File_set_view(file, 4 * ((rank + 1) % ranks), MPI_INT, numbers, "native", MPI_INFO_NULL));
  OK(MPI_File_read_all(file, back, count, MPI_INT, MPI_STATUS_IGNORE));
  for (int i = 0; i < count; ++i) CHECK(back[i] == 1000 * ((rank + 1) % ranks) + i, "number %d is %d", i, back[i]);
  OK(MPI_File_close(&file));
  MPI_Type_free(&numbers);
}

/* A view for reading that shows the same number again and again; one rank has another view. */
static void overlapping(void) {
  enum { count = 100000 };
  MPI_File file = opened(path);
  int number = 500 + rank;
  OK(MPI_File_write_at_all(file, 4 * rank, &number, 1, MPI_INT, MPI_STATUS_IGNORE));
  OK(MPI_File_close(&file));
  OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
  MPI_Datatype again;
  MPI_Type_vector(count, 1, rank == ranks - 1 ? 2 : 0, MPI_INT, &again);
  MPI_Type_commit(&again);
  OK(MPI_File_set_view(file, 4 * rank, MPI_INT, again, "native", MPI_INFO_NULL));
  int *const data = malloc(count * sizeof(int));
  MPI_Status status;
  int got = 0, wrong = 0;
  OK(MPI_File_read_all(file, data, count, MPI_INT, &status));
  MPI_Get_count(&status, MPI_INT, &got);
  CHECK(got == (rank == ranks - 1 ? 1 : count), "%d numbers", got);
  for (int i = 0; i < got; ++i) wrong += data[i] != 500 + rank;
  CHECK(wrong == 0, "%d numbers are wrong", wrong);
  free(data);
  MPI_Type_free(&again);
  OK(MPI_File_close(&file));
}

/* A column by all, then read back and partly written anew by each rank, many times. */
static void read_back(void) {
  enum { rows = 500, columns = 200 };
  MPI_Datatype column;
  MPI_Type_vector(rows, 1, columns * ranks, MPI_INT, &column);
  MPI_Type_commit(&column);
  MPI_File file = opened(path);
  int data[rows], back[rows], wrong = 0;
  for (int at = 0; at < columns; ++at) {
    for (int i = 0; i < rows; ++i) data[i] = 7 * at + i + rank;
    OK(MPI_File_set_view(file, 4L * (at * ranks + rank), MPI_INT, column, "native", MPI_INFO_NULL));
    OK(MPI_File_write_at_all(file, 0, data, rows, MPI_INT, MPI_STATUS_IGNORE));
    if (at % 3 == 0) {
      data[5] = -at;
      OK(MPI_File_write_at(file, 5, &data[5], 1, MPI_INT, MPI_STATUS_IGNORE));
    }
    if (at % 7 == 6) { /* an older column, over which this rank now writes again, kept back */
      data[9] = -9;
      OK(MPI_File_write_at_all(file, 9, &data[9], 1, MPI_INT, MPI_STATUS_IGNORE));
    }
    OK(MPI_File_read_at(file, 0, back, rows, MPI_INT, MPI_STATUS_IGNORE));
    for (int i = 0; i < rows; ++i) wrong += back[i] != data[i];
  }
  CHECK(wrong == 0, "%d numbers are not what was written last", wrong);
  OK(MPI_File_close(&file));
  CHECK(byte_at(path, 4L * (5L * columns * ranks + 3L * ranks + rank)) == 256 - 3, "an older call came later");
  MPI_Type_free(&column);
}

/* The end of a file in views whose parts lie behind their extents. */
static void end(void) {
  static const struct {
    MPI_Aint place, extent;
    MPI_Offset displacement, at, byte;
  } views[] = {{80, 4, 0, 80, 400}, {80, 8, 0, 40, 400}, {80, 8, 4, 40, 404}, {0, 8, 0, 50, 400}, {4, 12, 0, 33, 400}};
  char data[400];
  memset(data, 1, sizeof data);
  MPI_File file = opened(path);
  if (rank == 0) OK(MPI_File_write_at(file, 0, data, 400, MPI_BYTE, MPI_STATUS_IGNORE));
  OK(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  for (size_t i = 0; i < sizeof views / sizeof views[0]; ++i) {
    const int length = 1;
    MPI_Datatype type = MPI_INT, there, filetype;
    MPI_Type_create_struct(1, &length, &views[i].place, &type, &there);
    MPI_Type_create_resized(there, 0, views[i].extent, &filetype);
    MPI_Type_commit(&filetype);
    OK(MPI_File_set_view(file, views[i].displacement, MPI_INT, filetype, "native", MPI_INFO_NULL));
    OK(MPI_File_seek(file, 0, MPI_SEEK_END));
    MPI_Offset at = 0, byte = 0;
    OK(MPI_File_get_position(file, &at));
    OK(MPI_File_get_byte_offset(file, at, &byte));
    CHECK(at == views[i].at && byte == views[i].byte, "view %d: the end is %lld, byte %lld", (int)i, (long long)at,
          (long long)byte);
    MPI_Type_free(&there);
    MPI_Type_free(&filetype);
  }
  OK(MPI_File_close(&file));
}

static MPI_File reopened;
static int handled;
static void close_and_open(MPI_File *file, int *error, ...) {
  (void)error;
  ++handled;
  OK(MPI_File_close(file));
  reopened = opened(path);
}

/* Rank 0 opens the file again in its error handler, the others outside of one. */
static void reopening(void) {
  MPI_File file = opened(path);
  MPI_Errhandler errhandler;
  MPI_File_create_errhandler(close_and_open, &errhandler);
  OK(MPI_File_set_errhandler(file, errhandler));
  int number = 3 + rank, error = 0;
  if (rank == 0)
    (void)MPI_File_write_at(file, 0, &number, -1, MPI_INT, MPI_STATUS_IGNORE);
  else
    close_and_open(&file, &error);
  CHECK(handled == 1, "the handler was called %d times", handled);
  OK(MPI_File_write_at_all(reopened, 4 * rank, &number, 1, MPI_INT, MPI_STATUS_IGNORE));
  OK(MPI_File_close(&reopened));
  CHECK(byte_at(path, 4L * rank) == 3 + rank, "the number is lost");
  MPI_Errhandler_free(&errhandler);
}

/* A lock of POSIX outlasts a movement: it would end with any descriptor of the file that this process closes. */
static void locks(void) {
  MPI_File file = opened(path);
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 1000 + rank, .l_len = 1};
  const int fd = open(path, O_RDWR);
  CHECK(fcntl(fd, F_SETLK, &lock) == 0, "no lock");
  int number = rank;
  for (int turn = 0; turn < 3; ++turn) {
    OK(MPI_File_write_at_all(file, 4 * rank, &number, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_sync(file));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  lock.l_type = F_WRLCK;
  lock.l_start = 1000 + (rank + 1) % ranks;
  CHECK(fcntl(fd, F_GETLK, &lock) == 0 && (ranks == 1 || lock.l_type == F_WRLCK), "the lock is gone");
  MPI_Barrier(MPI_COMM_WORLD);
  close(fd);
  OK(MPI_File_close(&file));
}

/* What MPI refuses changes nothing. */
static void refused(void) {
  MPI_Datatype open_type, back;
  MPI_Type_vector(4, 1, 3, MPI_INT, &open_type);
  const int lengths[] = {1, 1}, places[] = {5, 0};
  MPI_Type_indexed(2, lengths, places, MPI_INT, &back);
  MPI_Type_commit(&back);
  MPI_File file = opened(path);
  int data[12] = {0}, number = 60 + rank;
  CHECK(MPI_File_set_view(file, 0, MPI_INT, back, "native", MPI_INFO_NULL) != MPI_SUCCESS, "a view that goes back");
  CHECK(class_of(MPI_File_set_view(file, 0, MPI_INT, open_type, "native", MPI_INFO_NULL)) == MPI_ERR_TYPE, "a view");
  CHECK(class_of(MPI_File_write_at(file, 0, data, 1, open_type, MPI_STATUS_IGNORE)) == MPI_ERR_TYPE, "a write");
  CHECK(class_of(MPI_File_write_at_all(file, 0, data, 1, open_type, MPI_STATUS_IGNORE)) == MPI_ERR_TYPE,
        "a call of all");
  CHECK(class_of(MPI_File_read_at_all(file, 0, data, 1, open_type, MPI_STATUS_IGNORE)) == MPI_ERR_TYPE, "a read");
  OK(MPI_File_write_at_all(file, 4 * rank, &number, 1, MPI_INT, MPI_STATUS_IGNORE));
  OK(MPI_File_close(&file));
  CHECK(byte_at(path, 4L * rank) == 60 + rank, "the view was changed");
  MPI_Type_free(&open_type);
  MPI_Type_free(&back);
}

int main(int argc, char **argv) {
  static const struct test_case cases[] = {{"sparse", sparse},       {"overlapping", overlapping}, {"end", end},
                                           {"read_back", read_back}, {"reopening", reopening},     {"locks", locks},
                                           {"refused", refused}};
  return run_case(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
