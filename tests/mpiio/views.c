/* views.c: programs that set views, use the shared file pointer or reserve space: what MPI itself keeps of a file.
 * views CASE FILE; exit status 1 if anything is not as MPI says. */
#include <dirent.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program.h"

static void shared_pointer(void) {
  MPI_File file = opened(path);
  int number = rank + 1, values[64], sum = 0;
  OK(MPI_File_write_shared(file, &number, 1, MPI_INT, MPI_STATUS_IGNORE));
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_read_at(file, 0, values, ranks, MPI_INT, MPI_STATUS_IGNORE));
  for (int i = 0; i < ranks; ++i) sum += values[i];
  CHECK(sum == ranks * (ranks + 1) / 2, "the sum of the ranks' numbers is %d", sum);
  MPI_Offset at;
  OK(MPI_File_get_position_shared(file, &at));
  CHECK(at == ranks * 4, "the shared pointer is at %lld", (long long)at);
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_write_ordered(file, &number, 1, MPI_INT, MPI_STATUS_IGNORE));
  for (int turn = 0; turn < 10; ++turn) /* more views than MPI is told of at once */
    OK(MPI_File_set_view(file, (MPI_Offset)ranks * 4, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  int own = 0;
  OK(MPI_File_read_ordered(file, &own, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK(own == number, "rank %d reads %d in its turn", rank, own);
  OK(MPI_File_close(&file));
}

/* What this rank keeps is there for its calls by the shared pointer, and older than what they write. */
static void shared_and_kept(void) {
  MPI_File file;
  char name[4200], back[4] = "";
  snprintf(name, sizeof name, "%s.%d", path, rank);
  OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
  MPI_Status status;
  int got = 0;
  OK(MPI_File_write_at_all(file, 0, "AAAA", 4, MPI_CHAR, MPI_STATUS_IGNORE));
  OK(MPI_File_read_shared(file, back, 4, MPI_CHAR, &status));
  MPI_Get_count(&status, MPI_CHAR, &got);
  CHECK(got == 4 && memcmp(back, "AAAA", 4) == 0, "%d bytes were read", got);
  OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  OK(MPI_File_write_at_all(file, 0, "CCCC", 4, MPI_CHAR, MPI_STATUS_IGNORE));
  OK(MPI_File_write_shared(file, "BB", 2, MPI_CHAR, MPI_STATUS_IGNORE));
  OK(MPI_File_close(&file));
  const int fd = open(name, O_RDONLY);
  CHECK(pread(fd, back, 4, 0) == 4 && memcmp(back, "BBCC", 4) == 0, "the file has %.4s", back);
  close(fd);
  remove(name);
}

static MPI_File left_open;
static char name_of_it[4200];
static int at_the_end(MPI_Comm comm, int key, void *value, void *extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  int number = 100 + rank;
  OK(MPI_File_write(left_open, &number, 1, MPI_INT, MPI_STATUS_IGNORE));
  OK(MPI_File_close(&left_open));
  const int fd = open(name_of_it, O_RDONLY);
  CHECK(pread(fd, &number, 4, 64 * rank + 4) == 4 && number == 100 + rank, "the last number is %d", number);
  close(fd);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) remove(name_of_it);
  fflush(stdout);
  if (failures > 0) _exit(1);
  return MPI_SUCCESS;
}

/* MPI's way to clean up at its end: a function that it calls then goes on in the view, behind what was written. */
static void in_finalize(void) {
  int key = 0, number = 7;
  snprintf(name_of_it, sizeof name_of_it, "%s.end", path);
  left_open = opened(name_of_it);
  OK(MPI_File_set_view(left_open, 64 * rank, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  OK(MPI_File_write(left_open, &number, 1, MPI_INT, MPI_STATUS_IGNORE));
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &key, 0);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, 0);
}

/* OMPIO makes a file of this very name, and ROMIO one without the prefix, which may be there before. */
static void prefix(void) {
  char name[4200], folder[4200], bare[300];
  const char *const slash = strrchr(path, '/');
  CHECK(slash != NULL, "no folder");
  snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
  CHECK(chdir(folder) == 0, "no folder %s", folder);
  for (int there = 0; there < 2; ++there) {
    snprintf(bare, sizeof bare, "%.200s.prefix%d", slash + 1, there);
    snprintf(name, sizeof name, "ufs:%s", bare);
    if (there && rank == 0) fclose(fopen(bare, "w"));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File file = opened(name);
    OK(MPI_File_write_at_all(file, rank, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    const int literal = access(name, F_OK) == 0;
    CHECK(byte_at(literal ? name : bare, rank) == 'x', "it is not in %s", literal ? name : bare);
    if (literal) CHECK(byte_at(bare, rank) == -1, "it is in another file");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) remove(bare), remove(name);
  }
}

/* A handler for files that are opened later is called for errors only. */
static void count_errors(MPI_File *file, int *error, ...) {
  (void)file, (void)error;
  ++failures;
  printf("rank %d: the handler of MPI_FILE_NULL was called\n", rank);
}

static void default_handler(void) {
  MPI_Errhandler errhandler;
  MPI_File_create_errhandler(count_errors, &errhandler);
  MPI_File_set_errhandler(MPI_FILE_NULL, errhandler);
  MPI_File file = opened(path);
  OK(MPI_File_write_at_all(file, rank, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE));
  OK(MPI_File_close(&file));
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN); /* MPICH 4.0 aborts if the handler is freed then */
}

/* Of a view: each record is written once, wherever; a call of all ranks goes on where those of single ranks ended. */
static void shared_in_a_view(void) {
  enum { each = 20 };
  MPI_File file = opened(path), other;
  MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR, MPI_INFO_NULL, &other);
  OK(MPI_File_set_view(file, 4, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  int seen[1000] = {0}, values[1000], wrong = 0;
  for (int i = 0; i < each; ++i) {
    int number = rank * each + i;
    MPI_Request request;
    OK(MPI_File_iwrite_shared(file, &number, 1, MPI_INT, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  }
  OK(MPI_File_write_shared(other, &rank, 1, MPI_INT, MPI_STATUS_IGNORE)); /* has a pointer of its own */
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Offset at = 0;
  OK(MPI_File_get_position_shared(file, &at));
  CHECK(at == (MPI_Offset)ranks * each, "the shared pointer is at %lld", (long long)at);
  OK(MPI_File_read_at(file, 0, values, ranks * each, MPI_INT, MPI_STATUS_IGNORE));
  for (int i = 0; i < ranks * each; ++i)
    if (values[i] < 0 || values[i] >= ranks * each || seen[values[i]]++) ++wrong;
  CHECK(wrong == 0, "%d records are wrong", wrong);
  OK(MPI_File_write_ordered(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_read_at(file, ranks * each, values, ranks, MPI_INT, MPI_STATUS_IGNORE));
  for (int i = 0; i < ranks; ++i) CHECK(values[i] == i, "turn %d is of rank %d", i, values[i]);
  OK(MPI_File_set_view(file, 4, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  int first = -1;
  OK(MPI_File_read_shared(file, &first, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK(first >= 0 && first < ranks * each && values[0] == 0, "the first record is %d", first);
  MPI_File_close(&other);
  OK(MPI_File_close(&file));
}

/* Files in the folder of PATH whose names have PART. */
static int named(const char *part) {
  char folder[4200];
  snprintf(folder, sizeof folder, "%s", path);
  *strrchr(folder, '/') = '\0';
  int count = 0;
  DIR *entries = opendir(folder);
  for (struct dirent *one; (one = readdir(entries)) != NULL;) count += strstr(one->d_name, part) != NULL;
  closedir(entries);
  return count;
}

/* Hints, types and names of a file may differ between ranks. */
static void views_of_ranks(void) {
  MPI_Info info = MPI_INFO_NULL;
  if (rank == 0) {
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_nodes", "1");
  }
  MPI_File file = opened(path);
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", info));
  OK(MPI_File_write_at_all(file, rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
  OK(MPI_File_seek_shared(file, ranks, MPI_SEEK_SET));
  OK(MPI_File_write_ordered(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
  OK(MPI_File_close(&file));
  if (rank == 0) MPI_Info_free(&info);

  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  MPI_Datatype again; /* of rank 0: the first number twice */
  int lengths[2] = {1, 1}, places[2] = {0, rank == 0 ? 0 : 1}, found[2] = {-1, -1};
  MPI_Type_indexed(2, lengths, places, MPI_INT, &again);
  MPI_Type_commit(&again);
  OK(MPI_File_set_view(file, (MPI_Offset)rank * 4, MPI_INT, again, "native", MPI_INFO_NULL));
  OK(MPI_File_read_all(file, found, 2, MPI_INT, MPI_STATUS_IGNORE));
  CHECK(found[0] == rank && found[1] == (rank == 0 ? 0 : (rank + 1) % ranks), "it reads %d, %d", found[0], found[1]);
  MPI_Type_free(&again);
  OK(MPI_File_close(&file));

  char other[4200];
  const char *name = strrchr(path, '/');
  snprintf(other, sizeof other, "%.*s/.%s", (int)(name - path), path, name);
  MPI_File_open(MPI_COMM_WORLD, rank == 0 ? path : other, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  OK(MPI_File_write_shared(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Offset at = 0;
  OK(MPI_File_get_position_shared(file, &at));
  CHECK(at == ranks, "the shared pointer is at %lld", (long long)at);
  OK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  char hidden[4200];
  snprintf(hidden, sizeof hidden, "%s.pointer", name + 1);
  CHECK(named(hidden) == 0, "%d hidden files are left", named(hidden));
}

/* As PnetCDF fills variables: a call fills the second one, others write two of five columns of each. */
static void filled(void) {
  enum { rows = 40, each = 5 };
  const int columns = ranks * each, variable = rows * columns;
  int fill[rows * each], data[rows * 2], wrong = 0;
  for (int i = 0; i < rows * each; ++i) fill[i] = -1;
  for (int i = 0; i < rows * 2; ++i) data[i] = 5 + rank;
  MPI_Datatype part;
  MPI_Type_create_subarray(2, (int[]){rows, columns}, (int[]){rows, 2}, (int[]){0, rank * each + 2}, MPI_ORDER_C,
                           MPI_INT, &part);
  MPI_Type_commit(&part);
  MPI_File file = opened(path);
  OK(MPI_File_write_at_all(file, (variable + rank * rows * each) * 4, fill, rows * each, MPI_INT, MPI_STATUS_IGNORE));
  for (int v = 0; v < 2; ++v) {
    OK(MPI_File_set_view(file, (MPI_Offset)v * variable * 4, MPI_INT, part, "native", MPI_INFO_NULL));
    OK(MPI_File_write_all(file, data, rows * 2, MPI_INT, MPI_STATUS_IGNORE));
  }
  OK(MPI_File_close(&file));
  MPI_Type_free(&part);
  MPI_Barrier(MPI_COMM_WORLD);
  int *all = malloc((size_t)variable * 8);
  const int fd = open(path, O_RDONLY);
  CHECK(read(fd, all, (size_t)variable * 8) == (ssize_t)variable * 8, "the file is short");
  close(fd);
  for (int i = 0; i < 2 * variable; ++i) {
    const int column = i % columns, written = column % each == 2 || column % each == 3;
    wrong += all[i] != (written ? 5 + column / each : i < variable ? 0 : -1);
  }
  CHECK(wrong == 0, "%d numbers are wrong", wrong);
  free(all);
}

/* What is in the file stays, whatever the view. */
static void preallocated(void) {
  enum { bytes = 12 << 20 };
  char *data = malloc(bytes);
  memset(data, 1 + rank, bytes);
  MPI_File file = opened(path);
  OK(MPI_File_set_view(file, (MPI_Offset)rank * bytes, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  OK(MPI_File_write_all(file, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
  OK(MPI_File_preallocate(file, (MPI_Offset)ranks * bytes + 1000));
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Offset size = 0;
  OK(MPI_File_get_size(file, &size));
  CHECK(size == (MPI_Offset)ranks * bytes + 1000, "its size is %lld", (long long)size);
  memset(data, 0, bytes);
  OK(MPI_File_read_at_all(file, 0, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
  int wrong = 0;
  for (int i = 0; i < bytes; ++i) wrong += data[i] != 1 + rank;
  CHECK(wrong == 0, "%d bytes are wrong", wrong);
  OK(MPI_File_close(&file));
  free(data);
}

/* One rank's view is that of bytes from the file's begin, and is set again after each collective write: HDF5 does so on
 * all ranks. */
static void view_at_zero(void) {
  MPI_File file = opened(path);
  for (int turn = 0; turn < 5; ++turn) {
    unsigned char data[100];
    memset(data, 10 * turn + rank, sizeof data);
    OK(MPI_File_set_view(file, (MPI_Offset)rank * 100, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    OK(MPI_File_write_all(file, data, 100, MPI_BYTE, MPI_STATUS_IGNORE));
  }
  OK(MPI_File_close(&file));
  for (int r = 0; r < ranks; ++r) {
    const int byte = byte_at(path, r * 100 + 50);
    CHECK(byte == 40 + r, "the byte of rank %d is %d", r, byte);
  }
}

int main(int argc, char **argv) {
  static const struct test_case cases[] = {{"shared", shared_pointer},
                                           {"shared_view", shared_in_a_view},
                                           {"views", views_of_ranks},
                                           {"filled", filled},
                                           {"preallocated", preallocated},
                                           {"zero", view_at_zero},
                                           {"shared_kept", shared_and_kept},
                                           {"finalize", in_finalize},
                                           {"prefix", prefix},
                                           {"default_handler", default_handler}};
  return run_case(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
