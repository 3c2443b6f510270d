/* features.c FILE FEATURE: uses a feature of MPI-IO and checks every byte with POSIX calls. Prints "works", or "FAULT"
 * and what it saw. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { block = 1000 };
static int rank, ranks, bad;
static const char *path;
static MPI_File file;

static void check(int error, const char *call) {
  if (error == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(error, text, &length);
  printf("rank %d: %s: %s\n", rank, call, text);
  bad = 1;
}
#define CHECK(call) check(call, #call)

static void expect(int good, const char *what) {
  if (good) return;
  printf("rank %d: %s\n", rank, what);
  bad = 1;
}

static void open_file(int mode) { CHECK(MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file)); }

static void fill(int *values, int seed, int count) {
  for (int i = 0; i < count; ++i) values[i] = seed * block + i;
}

static int is_filled(const int *values, int seed, int count) {
  for (int i = 0; i < count; ++i)
    if (values[i] != seed * block + i) return 0;
  return 1;
}

/* The file holds one block of each rank; in rank order where ORDERED. Rank 0 looks. */
static void check_blocks(int ordered) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 0) return;
  int *seen = calloc((size_t)ranks, sizeof *seen), values[block];
  const int fd = open(path, O_RDONLY);
  struct stat state;
  fstat(fd, &state);
  expect(state.st_size == (off_t)sizeof values * ranks, "the file has another size");
  for (int r = 0; r < ranks; ++r) {
    expect(pread(fd, values, sizeof values, (off_t)sizeof values * r) == sizeof values, "a block is missing");
    const int owner = values[0] / block;
    expect(owner >= 0 && owner < ranks && is_filled(values, owner, block), "a block is torn or wrong");
    expect(!ordered || owner == r, "a block is out of order");
    if (owner >= 0 && owner < ranks) ++seen[owner];
  }
  for (int r = 0; r < ranks; ++r) expect(seen[r] == 1, "a block is missing or doubled");
  close(fd);
  free(seen);
}

static void shared(const char *how) {
  int values[block];
  fill(values, rank, block);
  open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
  if (strcmp(how, "write_shared") == 0) {
    CHECK(MPI_File_write_shared(file, values, block, MPI_INT, MPI_STATUS_IGNORE));
  } else if (strcmp(how, "iwrite_shared") == 0) {
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK(MPI_File_iwrite_shared(file, values, block, MPI_INT, &request));
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  } else if (strcmp(how, "write_ordered") == 0) {
    CHECK(MPI_File_write_ordered(file, values, block, MPI_INT, MPI_STATUS_IGNORE));
  } else {
    CHECK(MPI_File_write_ordered_begin(file, values, block, MPI_INT));
    CHECK(MPI_File_write_ordered_end(file, values, MPI_STATUS_IGNORE));
  }
  CHECK(MPI_File_close(&file));
  check_blocks(strstr(how, "ordered") != NULL);
}

static void read_shared(const char *how) {
  int values[block];
  fill(values, rank, block);
  open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
  CHECK(MPI_File_write_at(file, (MPI_Offset)sizeof values * rank, values, block, MPI_INT, MPI_STATUS_IGNORE));
  CHECK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  open_file(MPI_MODE_RDONLY);
  memset(values, 255, sizeof values);
  if (strcmp(how, "read_shared") == 0) {
    CHECK(MPI_File_read_shared(file, values, block, MPI_INT, MPI_STATUS_IGNORE));
  } else if (strcmp(how, "iread_shared") == 0) {
    MPI_Request request = MPI_REQUEST_NULL;
    CHECK(MPI_File_iread_shared(file, values, block, MPI_INT, &request));
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  } else if (strcmp(how, "read_ordered") == 0) {
    CHECK(MPI_File_read_ordered(file, values, block, MPI_INT, MPI_STATUS_IGNORE));
  } else {
    CHECK(MPI_File_read_ordered_begin(file, values, block, MPI_INT));
    CHECK(MPI_File_read_ordered_end(file, values, MPI_STATUS_IGNORE));
  }
  const int owner = strstr(how, "ordered") != NULL ? rank : values[0] / block;
  expect(owner >= 0 && owner < ranks && is_filled(values, owner, block), "read something else");
  CHECK(MPI_File_close(&file));
}

/* Rank r holds elements r, r + ranks, ... through a file view. */
static void view(const char *how) {
  int values[block], back[block];
  fill(values, rank, block);
  memset(back, 255, sizeof back);
  MPI_Datatype column;
  MPI_Type_vector(block, 1, ranks, MPI_INT, &column);
  MPI_Type_commit(&column);
  open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
  CHECK(MPI_File_set_view(file, (MPI_Offset)sizeof(int) * rank, MPI_INT, column, "native", MPI_INFO_NULL));
  MPI_Request request = MPI_REQUEST_NULL;
  if (strcmp(how, "view_write_all") == 0) {
    CHECK(MPI_File_write_all(file, values, block, MPI_INT, MPI_STATUS_IGNORE));
  } else if (strcmp(how, "view_write") == 0) {
    CHECK(MPI_File_write(file, values, block, MPI_INT, MPI_STATUS_IGNORE));
  } else if (strcmp(how, "view_iwrite") == 0) {
    CHECK(MPI_File_iwrite(file, values, block, MPI_INT, &request));
  } else if (strcmp(how, "view_write_all_begin") == 0) {
    CHECK(MPI_File_write_all_begin(file, values, block, MPI_INT));
    CHECK(MPI_File_write_all_end(file, values, MPI_STATUS_IGNORE));
  } else if (strcmp(how, "view_iwrite_all") == 0) {
    CHECK(MPI_File_iwrite_all(file, values, block, MPI_INT, &request));
  } else if (strcmp(how, "view_iwrite_at_all") == 0) {
    CHECK(MPI_File_iwrite_at_all(file, 0, values, block, MPI_INT, &request));
  } else if (strcmp(how, "view_write_at_all_begin") == 0) {
    CHECK(MPI_File_write_at_all_begin(file, 0, values, block, MPI_INT));
    CHECK(MPI_File_write_at_all_end(file, values, MPI_STATUS_IGNORE));
  } else { /* zero: odd ranks bring nothing */
    CHECK(MPI_File_write_at_all(file, 0, values, rank % 2 ? 0 : block, MPI_INT, MPI_STATUS_IGNORE));
  }
  CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(MPI_File_sync(file));
  const int mine = strcmp(how, "view_zero") == 0 && rank % 2 ? 0 : block;
  if (strstr(how, "iwrite_all") != NULL) {
    CHECK(MPI_File_iread_at_all(file, 0, back, mine, MPI_INT, &request));
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  } else if (strstr(how, "begin") != NULL) {
    CHECK(MPI_File_read_at_all_begin(file, 0, back, mine, MPI_INT));
    CHECK(MPI_File_read_at_all_end(file, back, MPI_STATUS_IGNORE));
  } else {
    CHECK(MPI_File_read_at_all(file, 0, back, mine, MPI_INT, MPI_STATUS_IGNORE));
  }
  expect(is_filled(back, rank, mine), "read back something else");
  CHECK(MPI_File_close(&file));
  MPI_Type_free(&column);
  MPI_Barrier(MPI_COMM_WORLD);
  const int fd = open(path, O_RDONLY);
  for (int i = 0; i < mine; ++i) {
    int value = -1;
    if (pread(fd, &value, sizeof value, (off_t)sizeof(int) * (i * ranks + rank)) != sizeof value ||
        value != values[i]) {
      expect(0, "the file holds something else");
      break;
    }
  }
  close(fd);
}

static void datarep(const char *how) {
  int values[block], back[block];
  fill(values, rank, block);
  memset(back, 255, sizeof back);
  open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
  CHECK(MPI_File_set_view(file, (MPI_Offset)sizeof values * rank, MPI_INT, MPI_INT, how, MPI_INFO_NULL));
  char name[MPI_MAX_DATAREP_STRING] = "";
  MPI_Offset offset;
  MPI_Datatype etype, filetype;
  CHECK(MPI_File_get_view(file, &offset, &etype, &filetype, name));
  if (strcmp(name, how) != 0) printf("rank %d: the view says it is '%s'\n", rank, name), bad = 1;
  CHECK(MPI_File_write_at_all(file, 0, values, block, MPI_INT, MPI_STATUS_IGNORE));
  CHECK(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(MPI_File_sync(file));
  CHECK(MPI_File_read_at_all(file, 0, back, block, MPI_INT, MPI_STATUS_IGNORE));
  expect(is_filled(back, rank, block), "read back something else");
  CHECK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  const int fd = open(path, O_RDONLY);
  unsigned char bytes[4] = {0};
  expect(pread(fd, bytes, 4, (off_t)sizeof values * rank + 4) == 4, "the file is short");
  const int big = bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
  if (strcmp(how, "external32") == 0) expect(big == values[1], "the file is not big-endian");
  close(fd);
}

/* One derived type of 2.25 GiB from each of two ranks (sparse in memory: one page again and again). */
static void large(const char *how) {
  if (rank > 1) return;
  const MPI_Count pieces = 2304, piece = 1 << 20;
  MPI_Comm pair;
  MPI_Comm_split(MPI_COMM_SELF, 0, 0, &pair);
  char *page = malloc((size_t)piece), *back = malloc((size_t)piece);
  memset(page, 'a' + rank, (size_t)piece);
  int ones[2304];
  MPI_Aint at[2304];
  for (int i = 0; i < pieces; ++i) ones[i] = (int)piece, at[i] = 0; /* the same megabyte each time */
  MPI_Datatype type;
  MPI_Type_create_hindexed((int)pieces, ones, at, MPI_CHAR, &type);
  MPI_Type_commit(&type);
  char own[4096];
  snprintf(own, sizeof own, "%s.%d", path, rank);
  MPI_File big;
  CHECK(MPI_File_open(pair, own, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &big));
  MPI_Status status;
  MPI_Count count = 0;
  if (strcmp(how, "large_independent") == 0)
    CHECK(MPI_File_write_at(big, 0, page, 1, type, &status));
  else
    CHECK(MPI_File_write_at_all(big, 0, page, 1, type, &status));
  MPI_Get_elements_x(&status, MPI_CHAR, &count);
  if (count != pieces * piece) printf("rank %d: the status counts %lld bytes\n", rank, (long long)count), bad = 1;
  CHECK(MPI_File_close(&big));
  struct stat state;
  expect(stat(own, &state) == 0 && state.st_size == pieces * piece, "the file has another size");
  const int fd = open(own, O_RDONLY);
  for (MPI_Count i = 0; i < pieces; i += 255) {
    expect(pread(fd, back, (size_t)piece, i * piece) == piece && memcmp(back, page, (size_t)piece) == 0, "wrong bytes");
  }
  close(fd);
  unlink(own);
}

/* Two ranks together, 2.25 GiB each in one collective call: every rank the same megabyte again and again. */
static void together(const char *how) {
  const int pieces = 2304, piece = 1 << 20;
  char *page = malloc((size_t)piece), *back = malloc((size_t)piece);
  memset(page, 'a' + rank, (size_t)piece);
  int ones[2304];
  MPI_Aint at[2304] = {0};
  for (int i = 0; i < pieces; ++i) ones[i] = piece;
  MPI_Datatype memory, column, element;
  MPI_Type_create_hindexed(pieces, ones, at, MPI_CHAR, &memory);
  MPI_Type_contiguous(piece, MPI_CHAR, &element);
  MPI_Type_vector(pieces, 1, ranks, element, &column);
  MPI_Type_commit(&memory);
  MPI_Type_commit(&element);
  MPI_Type_commit(&column);
  open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
  CHECK(MPI_File_set_view(file, (MPI_Offset)piece * rank, MPI_CHAR, column, "native", MPI_INFO_NULL));
  const int mine = rank < 2 ? 1 : 0;
  MPI_Status status;
  MPI_Count count = 0;
  CHECK(MPI_File_write_at_all(file, 0, page, mine, memory, &status));
  MPI_Get_elements_x(&status, MPI_CHAR, &count);
  expect(count == (MPI_Count)mine * pieces * piece, "the status counts other bytes");
  CHECK(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  memset(page, 0, (size_t)piece);
  if (strcmp(how, "together_read") == 0) CHECK(MPI_File_read_at_all(file, 0, page, mine, memory, MPI_STATUS_IGNORE));
  CHECK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  const int fd = open(path, O_RDONLY);
  for (int i = 0; i < pieces * mine; i += 51) {
    const ssize_t got = pread(fd, back, (size_t)piece, ((off_t)i * ranks + rank) * piece);
    expect(got == piece && back[0] == 'a' + rank && memcmp(back, back + 1, (size_t)piece - 1) == 0, "wrong bytes");
    if (bad) break;
  }
  if (mine && strcmp(how, "together_read") == 0)
    expect(page[0] == 'a' + rank && memcmp(page, page + 1, (size_t)piece - 1) == 0, "read back something else");
  close(fd);
}

static void far(const char *how) {
  const MPI_Offset base = (MPI_Offset)5 << 30;
  int values[block], back[block];
  fill(values, rank, block);
  memset(back, 255, sizeof back);
  open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
  MPI_Datatype column;
  MPI_Type_create_hvector(block, 1, (MPI_Aint)(1 << 13) * ranks, MPI_INT, &column);
  MPI_Type_commit(&column);
  CHECK(MPI_File_set_view(file, base + (MPI_Offset)(1 << 13) * rank, MPI_INT, column, "native", MPI_INFO_NULL));
  if (strcmp(how, "far_collective") == 0)
    CHECK(MPI_File_write_at_all(file, 0, values, block, MPI_INT, MPI_STATUS_IGNORE));
  else
    CHECK(MPI_File_write_at(file, 0, values, block, MPI_INT, MPI_STATUS_IGNORE));
  CHECK(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(MPI_File_read_at(file, 0, back, block, MPI_INT, MPI_STATUS_IGNORE));
  expect(is_filled(back, rank, block), "read back something else");
  CHECK(MPI_File_close(&file));
  const int fd = open(path, O_RDONLY);
  int value = -1;
  expect(pread(fd, &value, 4, base + (off_t)(1 << 13) * (rank + ranks * 7)) == 4 && value == values[7], "wrong place");
  close(fd);
}

static void atomic(const char *how) {
  (void)how;
  int values[block], flag = 0;
  fill(values, rank, block);
  open_file(MPI_MODE_CREATE | MPI_MODE_RDWR);
  CHECK(MPI_File_set_atomicity(file, 1));
  CHECK(MPI_File_get_atomicity(file, &flag));
  expect(flag, "atomicity was set, yet is off");
  MPI_Datatype column;
  MPI_Type_vector(block, 1, 2, MPI_INT, &column);
  MPI_Type_commit(&column);
  for (int round = 0; round < 20; ++round) { /* all write the same strided elements: one rank must win them all */
    CHECK(MPI_File_set_view(file, 0, MPI_INT, column, "native", MPI_INFO_NULL));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_File_write_at(file, 0, values, block, MPI_INT, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    int back[block];
    CHECK(MPI_File_read_at(file, 0, back, block, MPI_INT, MPI_STATUS_IGNORE));
    expect(is_filled(back, back[0] / block, block), "the writes of two ranks are mixed");
    MPI_Barrier(MPI_COMM_WORLD);
  }
  CHECK(MPI_File_close(&file));
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 3) return fprintf(stderr, "usage: features FILE FEATURE\n"), MPI_Finalize(), 2;
  path = argv[1];
  const char *how = argv[2];
  if (rank == 0) unlink(path);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strncmp(how, "view", 4) == 0)
    view(how);
  else if (strcmp(how, "internal") == 0 || strcmp(how, "external32") == 0)
    datarep(how);
  else if (strncmp(how, "large", 5) == 0)
    large(how);
  else if (strncmp(how, "together", 8) == 0)
    together(how);
  else if (strncmp(how, "far", 3) == 0)
    far(how);
  else if (strcmp(how, "atomic") == 0)
    atomic(how);
  else if (strstr(how, "read") != NULL)
    read_shared(how);
  else
    shared(how);
  int any = 0;
  MPI_Reduce(&bad, &any, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf(any ? "FAULT: %s\n" : "works: %s\n", how), unlink(path);
  MPI_Finalize();
  return 0;
}
