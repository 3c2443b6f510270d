/* cases.c: programs of MPI-IO as users write them, each with one thing that goes wrong easily if its calls are taken
 * over. cases CASE FILE; exit status 1 if anything is not as MPI says, or as libpenstock_mpiio promises. */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program.h"

static void many_files(void) {
  enum { count = 64, bytes = 1000 };
  MPI_File files[count];
  char name[count][4200], data[bytes];
  for (int i = 0; i < count; ++i) {
    snprintf(name[i], sizeof name[i], "%s.%d", path, i);
    files[i] = opened(name[i]);
  }
  for (int turn = 0; turn < 3; ++turn)
    for (int i = 0; i < count; ++i) {
      memset(data, 1 + turn + i, bytes);
      OK(MPI_File_write_at_all(files[i], (turn * ranks + rank) * bytes, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    }
  for (int i = count; i-- > 0;) OK(MPI_File_close(&files[i]));
  for (int i = 0; i < count; ++i) {
    for (int turn = 0; turn < 3; ++turn) {
      const int found = byte_at(name[i], (turn * ranks + rank) * bytes + 500);
      CHECK(found == 1 + turn + i, "file %d has %d", i, found);
    }
    if (rank == 0) remove(name[i]);
  }
}

struct worker {
  MPI_Comm comm;
  MPI_File file;
  int number;
  int opens; /* in its own thread */
};

static void open_for(struct worker *worker) {
  char name[4200];
  snprintf(name, sizeof name, "%s.%d", path, worker->number);
  MPI_File_open(worker->comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &worker->file);
}

static void *write_in_thread(void *argument) {
  struct worker *worker = argument;
  char data[3000];
  if (worker->opens) open_for(worker);
  MPI_File file = worker->file;
  for (int turn = 0; turn < 50; ++turn) {
    memset(data, turn + worker->number, sizeof data);
    MPI_File_write_at_all(file, (MPI_Offset)(turn * ranks + rank) * (MPI_Offset)sizeof data, data, sizeof data,
                          MPI_BYTE, MPI_STATUS_IGNORE);
    if (turn % 7 == 0) MPI_Barrier(worker->comm);
    if (turn % 11 == 0) MPI_File_sync(file);
  }
  if (worker->opens) MPI_File_close(&worker->file);
  return 0;
}

/* ROMIO in MPICH holds a lock of the process while the ranks open a file: two threads that open two files wait for each
 * other for ever, without our library, too. */
static void two_threads(void) {
  struct worker workers[2];
  pthread_t threads[2];
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(version, &length);
  for (int i = 0; i < 2; ++i) {
    workers[i].number = i;
    workers[i].opens = strstr(version, "MPICH") == NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comm);
    if (!workers[i].opens) open_for(&workers[i]);
  }
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], 0, write_in_thread, &workers[i]);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
  for (int i = 0; i < 2; ++i) {
    if (!workers[i].opens) MPI_File_close(&workers[i].file);
    char name[4200];
    snprintf(name, sizeof name, "%s.%d", path, i);
    for (int turn = 0; turn < 50; ++turn) {
      const int found = byte_at(name, (long)(turn * ranks + rank) * 3000 + 1700);
      CHECK(found == turn + i, "file %d, turn %d: %d", i, turn, found);
    }
    MPI_Comm_free(&workers[i].comm);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) remove(name);
  }
}

/* 10^6 runs of 8 bytes on each rank, with gaps in memory, too. */
static void million_runs(void) {
  const int count = 1000000;
  int *places = malloc((size_t)count * sizeof *places);
  for (int i = 0; i < count; ++i) places[i] = (i * ranks + rank) * 2 + (i % 2);
  MPI_Datatype in_file, in_memory;
  MPI_Type_create_indexed_block(count, 1, places, MPI_DOUBLE, &in_file);
  MPI_Type_vector(count, 1, 2, MPI_DOUBLE, &in_memory);
  MPI_Type_commit(&in_file);
  MPI_Type_commit(&in_memory);
  double *data = malloc((size_t)count * 16), *back = calloc((size_t)count, 16);
  for (int i = 0; i < count; ++i) {
    data[2 * i] = rank * 1e7 + i;
    data[2 * i + 1] = -1;
  }
  MPI_File file = opened(path);
  OK(MPI_File_set_view(file, 0, MPI_DOUBLE, in_file, "native", MPI_INFO_NULL));
  for (int turn = 0; turn < 3; ++turn) OK(MPI_File_write_at_all(file, 0, data, 1, in_memory, MPI_STATUS_IGNORE));
  MPI_Status status;
  MPI_Count got = 0;
  OK(MPI_File_read_at_all(file, 0, back, 1, in_memory, &status));
  MPI_Get_elements_x(&status, MPI_DOUBLE, &got);
  CHECK(got == count, "%lld of %d doubles were read", (long long)got, count);
  int same = 1;
  for (int i = 0; i < count; ++i) same = same && back[2 * i] == data[2 * i] && back[2 * i + 1] == 0;
  CHECK(same, "other values than were written");
  OK(MPI_File_close(&file));
  MPI_Type_free(&in_file);
  MPI_Type_free(&in_memory);
  free(places);
  free(data);
  free(back);
}

static void atomic_mode(void) {
  MPI_File file = opened(path);
  int number = 7 + rank, found = 0, flag = 0;
  OK(MPI_File_write_at_all(file, (1 + rank) * 4, &number, 1, MPI_INT, MPI_STATUS_IGNORE));
  OK(MPI_File_set_atomicity(file, 1));
  OK(MPI_File_get_atomicity(file, &flag));
  CHECK(flag == 1, "not atomic");
  if (rank == 0) OK(MPI_File_write_at(file, 0, &number, 1, MPI_INT, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_read_at(file, 0, &found, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK(found == 7, "rank 0's number is %d", found);
  OK(MPI_File_read_at(file, ranks * 4, &found, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK(found == 7 + ranks - 1, "what was written before is %d", found);
  OK(MPI_File_set_atomicity(file, 0));
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_seek(file, (1 + rank) * 4, MPI_SEEK_SET));
  OK(MPI_File_write_all(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
  OK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(byte_at(path, 4L * (1 + rank)) == rank, "what was written after it is not there");
}

/* Calls that write the same bytes: the later one counts, whoever made it. */
static void order_of_calls(void) {
  enum { bytes = 10000 };
  char data[bytes];
  MPI_File file = opened(path);
  for (int turn = 0; turn < ranks + 3; ++turn) { /* rank TURN % RANKS writes all of it */
    memset(data, 1 + turn, bytes);
    OK(MPI_File_write_at_all(file, 0, data, turn % ranks == rank ? bytes : 0, MPI_BYTE, MPI_STATUS_IGNORE));
  }
  int last = ranks + 3;
  const int writer = ranks - 1;
  if (rank == writer) {
    memset(data, 101, bytes);
    OK(MPI_File_write_at(file, 100, data, 50, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at(file, 0, data, 200, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(data[120] == 101, "its own byte is %d", data[120]);
  }
  memset(data, 102, bytes);
  OK(MPI_File_write_at_all(file, 140, data, rank == 0 ? 20 : 0, MPI_BYTE, MPI_STATUS_IGNORE));
  OK(MPI_File_close(&file));
  CHECK(byte_at(path, 99) == last, "byte 99 is %d", byte_at(path, 99));
  CHECK(byte_at(path, 100) == 101, "byte 100 is %d", byte_at(path, 100));
  CHECK(byte_at(path, 139) == 101, "byte 139 is %d", byte_at(path, 139));
  CHECK(byte_at(path, 140) == 102, "byte 140 is %d", byte_at(path, 140));
  CHECK(byte_at(path, 159) == 102, "byte 159 is %d", byte_at(path, 159));
  CHECK(byte_at(path, 160) == last, "byte 160 is %d", byte_at(path, 160));
}

/* One rank after the other writes anywhere, by calls of all or alone: the file has what was written last. */
static void any_order(void) {
  enum { bytes = 4000, turns = 400 };
  static char model[bytes], data[bytes], found[bytes];
  unsigned state = 12345;
  MPI_File file = opened(path);
  for (int turn = 0; turn < turns; ++turn) {
    unsigned drawn[4]; /* the same on all ranks */
    for (int i = 0; i < 4; ++i) drawn[i] = (state = state * 1103515245u + 12345u) >> 8;
    const int writer = (int)(drawn[0] % (unsigned)ranks), at = (int)(drawn[1] % bytes);
    const int length = 1 + (int)(drawn[2] % (unsigned)(bytes - at > 700 ? 700 : bytes - at));
    memset(data, 1 + turn % 100, (size_t)length);
    memset(model + at, 1 + turn % 100, (size_t)length);
    const int all = drawn[3] % 3 != 0;
    if (all)
      OK(MPI_File_write_at_all(file, at, data, rank == writer ? length : 0, MPI_BYTE, MPI_STATUS_IGNORE));
    else if (rank == writer)
      OK(MPI_File_write_at(file, at, data, length, MPI_BYTE, MPI_STATUS_IGNORE));
    int sum = 0;
    MPI_Allreduce(&turn, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* one turn after the other */
    if (turn % 97 == 96) OK(MPI_File_sync(file));
  }
  OK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  const int fd = open(path, O_RDONLY);
  const long got = pread(fd, found, bytes, 0);
  close(fd);
  int wrong = 0;
  for (int i = 0; i < got; ++i) wrong += found[i] != model[i];
  CHECK(got > bytes / 2 && wrong == 0, "%d of %ld bytes are of an earlier call", wrong, got);
}

static long most_memory(void) { /* KiB */
  long most = 0;
  char line[200];
  FILE *status = fopen("/proc/self/status", "r");
  while (fgets(line, sizeof line, status) != NULL) sscanf(line, "VmHWM: %ld", &most);
  fclose(status);
  return most;
}

/* Much that ranks write alone between small calls of all, whose range it is in: it needs no memory. */
static void alone_between(void) {
  enum { block = 4 << 20, blocks = 24 };
  char *data = calloc(block, 1), small[8] = "abcdefg";
  MPI_File file = opened(path);
  const MPI_Offset begin = (MPI_Offset)rank * (blocks * (MPI_Offset)block + 8);
  memset(data, 5, block);
  OK(MPI_File_write_at_all(file, begin, small, 8, MPI_BYTE, MPI_STATUS_IGNORE));
  OK(MPI_File_write_at(file, begin + 8, data, block, MPI_BYTE, MPI_STATUS_IGNORE));
  const long before = most_memory();
  for (int i = 1; i < blocks; ++i)
    OK(MPI_File_write_at(file, begin + 8 + (MPI_Offset)i * block, data, block, MPI_BYTE, MPI_STATUS_IGNORE));
  OK(MPI_File_close(&file));
  const long more = most_memory() - before;
  CHECK(more < 40 << 10, "it took %ld KiB", more);
  CHECK(byte_at(path, (long)begin + 1) == 'b', "the small call is lost");
  CHECK(byte_at(path, (long)begin + 8 + blocks * (long)block - 1) == 5, "what was written alone is lost");
  free(data);
}

struct in_thread {
  MPI_File file;
  int byte;
};

static void *write_all_in_thread(void *argument) {
  const struct in_thread *in = argument;
  char data[100];
  memset(data, in->byte, sizeof data);
  MPI_File_write_at_all(in->file, rank * 100, data, 100, MPI_BYTE, MPI_STATUS_IGNORE);
  return 0;
}

static void *read_often(void *argument) {
  const struct in_thread *in = argument;
  char byte;
  for (int i = 0; i < 2000; ++i) MPI_File_read_at(in->file, 1000000, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE);
  return 0;
}

/* The last collective call before a barrier by another thread on one rank, as by "omp single"; another file whose calls
 * are all another thread's; and a thread that reads meanwhile. What all have written is there behind the barrier. */
static void barrier_of_threads(void) {
  static char name[4200];
  snprintf(name, sizeof name, "%s.second", path);
  struct in_thread mine = {opened(path), 0}, other = {opened(name), 1};
  pthread_t thread, reader;
  pthread_create(&thread, 0, write_all_in_thread, &other);
  pthread_join(thread, 0);
  pthread_create(&reader, 0, read_often, &mine);
  for (int turn = 0; turn < 10; ++turn) {
    mine.byte = 1 + rank + 10 * turn;
    if (rank == turn % 3 % ranks) {
      pthread_create(&thread, 0, write_all_in_thread, &mine);
      pthread_join(thread, 0);
    } else {
      write_all_in_thread(&mine);
    }
    const int next = (rank + 1) % ranks, found = byte_at(path, next * 100L + 50);
    CHECK(found == 1 + next + 10 * turn, "behind barrier %d the next rank's byte is %d", turn, found);
  }
  pthread_join(reader, 0);
  CHECK(byte_at(name, rank * 100L + 50) == 1, "what another thread wrote is not there");
  OK(MPI_File_close(&mine.file));
  OK(MPI_File_close(&other.file));
  if (rank == 0) remove(name);
}

static int handled;
static MPI_File second;
static void close_it(MPI_File *file, int *error, ...) {
  (void)error;
  ++handled;
  int number = 77;
  OK(MPI_File_write_at(second, 4 * rank, &number, 1, MPI_INT, MPI_STATUS_IGNORE));
  OK(MPI_File_close(file));
}

/* An error handler uses files, and closes the one with the error. */
static void handler(void) {
  static char name[4200];
  snprintf(name, sizeof name, "%s.second", path);
  second = opened(name);
  OK(MPI_File_set_view(second, 100, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  OK(MPI_File_set_view(second, 200, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  MPI_Errhandler errhandler;
  MPI_File_create_errhandler(close_it, &errhandler);
  MPI_File file = opened(path), again;
  MPI_File_set_errhandler(file, errhandler);
  int number = 9;
  OK(MPI_File_write_at_all(file, 4 * rank, &number, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK(MPI_File_read_at(file, -1, &number, 1, MPI_INT, MPI_STATUS_IGNORE) != MPI_SUCCESS, "no error");
  CHECK(handled == 1, "the handler was called %d times", handled);
  CHECK(byte_at(path, 4L * rank) == 9, "what was kept back is lost");
  snprintf(name, sizeof name, "%s.third", path);
  again = opened(name);
  number = 11;
  OK(MPI_File_write_at(again, 4 * rank, &number, 1, MPI_INT, MPI_STATUS_IGNORE));
  OK(MPI_File_close(&again));
  CHECK(byte_at(name, 4L * rank) == 11, "the next file has not its bytes");
  if (rank == 0) remove(name);
  OK(MPI_File_close(&second));
  snprintf(name, sizeof name, "%s.second", path);
  CHECK(byte_at(name, 200 + 4L * rank) == 77, "the handler wrote elsewhere");
  if (rank == 0) remove(name);
  MPI_Errhandler_free(&errhandler);
}

/* A second handle of the file on each rank, as PnetCDF's independent mode has one. */
static void two_handles(void) {
  enum { bytes = 1000 };
  char data[bytes];
  MPI_File together = opened(path), alone;
  memset(data, 1, bytes);
  OK(MPI_File_write_at_all(together, rank * bytes, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
  OK(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR, MPI_INFO_NULL, &alone));
  OK(MPI_File_read_at(alone, rank * bytes, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
  CHECK(data[500] == 1, "by the other handle it is %d", data[500]);
  memset(data, 2, bytes);
  OK(MPI_File_write_at(alone, rank * bytes, data, bytes / 2, MPI_BYTE, MPI_STATUS_IGNORE));
  OK(MPI_File_close(&alone));
  OK(MPI_File_close(&together));
  CHECK(byte_at(path, rank * bytes + 100) == 2, "what the second handle wrote is lost");
  CHECK(byte_at(path, rank * bytes + 900) == 1, "what the first handle wrote is lost");
}

/* A file that is renamed while it is open, and another of its old name. */
static void renamed(void) {
  enum { bytes = 100000 };
  static char data[bytes], name[4200];
  snprintf(name, sizeof name, "%s.final", path);
  MPI_File file = opened(path);
  memset(data, 5, bytes);
  for (int turn = 0; turn < 20; ++turn)
    OK(MPI_File_write_at_all(file, (turn * ranks + rank) * bytes, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
  if (rank == 0) {
    CHECK(rename(path, name) == 0, "no rename");
    fclose(fopen(path, "w"));
  }
  OK(MPI_File_close(&file));
  CHECK(byte_at(name, (19L * ranks + rank) * bytes + 7) == 5, "what was kept back is not in the file");
  struct stat now;
  CHECK(stat(path, &now) == 0 && now.st_size == 0, "it is in another file");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) remove(name);
}

/* A call that moves at once, with what was kept before, of which it has some bytes itself. */
static void large_over_small(void) {
  enum { block = 1 << 16, blocks = 96 };
  char *data = malloc((size_t)block * blocks);
  MPI_Datatype own;
  MPI_Type_vector(blocks, block, block * ranks, MPI_BYTE, &own);
  MPI_Type_commit(&own);
  MPI_File file = opened(path);
  OK(MPI_File_set_view(file, (MPI_Offset)rank * block, MPI_BYTE, own, "native", MPI_INFO_NULL));
  memset(data, 1, (size_t)block * blocks);
  for (int turn = 0; turn < 6; ++turn) /* in the seventh call the ranks ask for sizes */
    OK(MPI_File_write_at_all(file, turn * 3000, data, 2000, MPI_BYTE, MPI_STATUS_IGNORE));
  memset(data, 2, (size_t)block * blocks);
  OK(MPI_File_write_at_all(file, 1000, data, block * blocks - 1000, MPI_BYTE, MPI_STATUS_IGNORE));
  OK(MPI_File_close(&file));
  CHECK(byte_at(path, (long)rank * block + 999) == 1, "the byte before it is lost");
  for (int at = 1000; at < 20000; at += 500)
    CHECK(byte_at(path, (long)rank * block + at) == 2, "byte %d is of an earlier call", at);
  MPI_Type_free(&own);
  free(data);
}

/* More bytes in one call than an int counts. */
static void large_call(void) {
  const size_t bytes = ((size_t)2 << 30) + 4096 * 3;
  char *data = calloc(bytes, 1);
  data[bytes - 1] = 9;
  MPI_Datatype page;
  MPI_Type_contiguous(4096, MPI_BYTE, &page);
  MPI_Type_commit(&page);
  MPI_File file = opened(path);
  MPI_Status status;
  MPI_Count got = 0;
  OK(MPI_File_write_at_all(file, (MPI_Offset)(bytes / 4096) * 4096 * rank, data, (int)(bytes / 4096), page, &status));
  MPI_Get_elements_x(&status, MPI_BYTE, &got);
  CHECK((size_t)got == bytes, "%lld bytes were written", (long long)got);
  data[bytes - 1] = 0;
  OK(MPI_File_read_at_all(file, (MPI_Offset)(bytes / 4096) * 4096 * rank, data, (int)(bytes / 4096), page, &status));
  CHECK(data[bytes - 1] == 9, "the last byte is %d", data[bytes - 1]);
  OK(MPI_File_close(&file));
  MPI_Type_free(&page);
  free(data);
}

/* A disk of 16 MiB, whatever is written: each rank learns of it, at the write, the sync or the close. */
static void full_disk(void) {
  for (int large = 0; large < 2; ++large) {
    const int bytes = large ? 6 << 20 : 1 << 20;
    char *data = malloc((size_t)bytes);
    memset(data, 3, (size_t)bytes);
    MPI_File file = opened(path);
    int error = MPI_SUCCESS;
    for (int turn = 0; turn < 24; ++turn) {
      const int now = MPI_File_write_at_all(file, (MPI_Offset)(turn * ranks + rank) * bytes, data, bytes, MPI_BYTE,
                                            MPI_STATUS_IGNORE);
      if (error == MPI_SUCCESS) error = now;
    }
    const int synced = MPI_File_sync(file);
    if (error == MPI_SUCCESS) error = synced;
    const int closed = MPI_File_close(&file);
    if (error == MPI_SUCCESS) error = closed;
    CHECK(class_of(error) == MPI_ERR_NO_SPACE, "no error of a full disk, but: %s", text_of(error));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) remove(path);
    free(data);
  }
}

/* What MPI says of an opening: its mode, group and hints are MPI's own. */
static void asked(void) {
  MPI_Info info, found;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_nodes", "1");
  MPI_File file;
  OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, info, &file));
  int mode = 0, size = 0, value = 4;
  MPI_Group group;
  OK(MPI_File_get_amode(file, &mode));
  CHECK(mode == (MPI_MODE_CREATE | MPI_MODE_WRONLY), "mode %d", mode);
  OK(MPI_File_get_group(file, &group));
  MPI_Group_size(group, &size);
  CHECK(size == ranks, "%d ranks", size);
  MPI_Group_free(&group);
  OK(MPI_File_get_info(file, &found));
  MPI_Info_free(&found);
  MPI_Info_free(&info);
  CHECK(MPI_File_read_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE) != MPI_SUCCESS, "a write-only file was read");
  CHECK(MPI_File_write_at(file, -4, &value, 1, MPI_INT, MPI_STATUS_IGNORE) != MPI_SUCCESS, "a negative offset");
  int error = MPI_File_write_at(file, 0, &value, -1, MPI_INT, MPI_STATUS_IGNORE);
  CHECK(class_of(error) == MPI_ERR_COUNT, "a negative count: %s", text_of(error));
  error = MPI_File_write_at(file, 0, &value, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE);
  CHECK(class_of(error) == MPI_ERR_TYPE, "no datatype: %s", text_of(error));
  OK(MPI_File_write_at_all(file, 4 * rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  MPI_Offset bytes = 0;
  OK(MPI_File_get_size(file, &bytes));
  CHECK(bytes >= 4 * (rank + 1), "%lld bytes", (long long)bytes);
  MPI_Datatype etype, filetype;
  char datarep[MPI_MAX_DATAREP_STRING];
  OK(MPI_File_get_view(file, &bytes, &etype, &filetype, datarep));
  CHECK(etype == MPI_BYTE && filetype == MPI_BYTE && strcmp(datarep, "native") == 0, "another view: %s", datarep);
  OK(MPI_File_close(&file));
  CHECK(file == MPI_FILE_NULL, "the handle stays");
  struct stat now;
  CHECK(stat(path, &now) == 0 && now.st_size == 4L * ranks, "%ld bytes", (long)now.st_size);
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
  error = MPI_File_write_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
  CHECK(class_of(error) == MPI_ERR_READ_ONLY, "a read-only file was written: %s", text_of(error));
  int many[1000];
  MPI_Status status;
  OK(MPI_File_read_at_all(file, 0, many, 1000, MPI_INT, &status));
  MPI_Get_count(&status, MPI_INT, &size);
  CHECK(size == ranks, "%d of %d numbers were read", size, ranks);
  OK(MPI_File_close(&file));
}

int main(int argc, char **argv) {
  static const struct test_case cases[] = {{"files", many_files},      {"threads", two_threads},
                                           {"million", million_runs},  {"atomic", atomic_mode},
                                           {"order", order_of_calls},  {"large", large_call},
                                           {"space", full_disk},       {"asked", asked},
                                           {"handles", two_handles},   {"renamed", renamed},
                                           {"over", large_over_small}, {"any_order", any_order},
                                           {"alone", alone_between},   {"barrier_of_threads", barrier_of_threads},
                                           {"handler", handler}};
  return run_case(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
