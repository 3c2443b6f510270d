/* background.c: programs whose files are written in the background (plan servers), preloaded with slow.c: what they see
 * of their own data, and of its errors. background CASE FILE; exit status 1 if anything is not as promised. */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

enum { piece = 3000 };

static const char *path;

static MPI_File opened(MPI_Comm comm) {
  MPI_File file;
  OK(MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
  return file;
}

/* A call of all ranks: piece number PLACE of each rank, of VALUE. */
static void write_all(MPI_File file, int place, int value) {
  char data[piece];
  memset(data, value, piece);
  OK(MPI_File_write_at_all(file, (MPI_Offset)(place * ranks + rank) * piece, data, piece, MPI_BYTE, MPI_STATUS_IGNORE));
}

/* As HDF5 does between its collective writes: each then moves at once. */
static void back_to_bytes(MPI_File file) {
  OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
}

static void expect(MPI_File file, int place, int of_rank, int value) {
  char data[piece];
  MPI_Status status;
  int count = 0;
  memset(data, 99, piece);
  OK(MPI_File_read_at(file, (MPI_Offset)(place * ranks + of_rank) * piece, data, piece, MPI_BYTE, &status));
  MPI_Get_count(&status, MPI_BYTE, &count);
  CHECK(count == piece && data[0] == value && data[piece - 1] == value,
        "place %d of rank %d: %d and %d in %d bytes, not %d", place, of_rank, data[0], data[piece - 1], count, value);
}

/* Bytes that are in the file now, whatever waits. */
static long size_now(void) {
  struct stat now;
  return stat(path, &now) == 0 ? (long)now.st_size : -1;
}

static void open_gate(void) {
  const char *gate = getenv("SLOW_GATE");
  if (gate != NULL) close(open(gate, O_CREAT | O_WRONLY, 0600));
}

static void shut_gate(void) {
  const char *gate = getenv("SLOW_GATE");
  MPI_Barrier(MPI_COMM_WORLD);
  if (gate != NULL && rank == 0) unlink(gate);
  if (rank == 0) unlink(path);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Close returns before anything is written; an opening, by all or by one, sees all of it. */
static void reopened(void) {
  for (int alone = 0; alone < 2; ++alone) {
    shut_gate();
    MPI_File file = opened(MPI_COMM_WORLD);
    for (int place = 0; place < 5; ++place) write_all(file, place, 1 + place);
    MPI_Offset size = 0;
    OK(MPI_File_get_size(file, &size));
    OK(MPI_File_close(&file));
    CHECK(size_now() == 0, "close waited for %ld bytes", size_now());
    MPI_Barrier(MPI_COMM_WORLD);
    open_gate();
    if (!alone || rank == 0) {
      file = opened(alone ? MPI_COMM_SELF : MPI_COMM_WORLD);
      OK(MPI_File_get_size(file, &size));
      CHECK(size == 5L * ranks * piece, "%ld bytes", (long)size);
      for (int place = 0; place < 5; ++place)
        for (int other = 0; other < ranks; ++other) expect(file, place, other, 1 + place);
      OK(MPI_File_close(&file));
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/* A file that was renamed, or removed, after its close. */
static void renamed(void) {
  shut_gate();
  char to[4200];
  snprintf(to, sizeof to, "%s.renamed", path);
  MPI_File file = opened(MPI_COMM_WORLD);
  write_all(file, 0, 7);
  OK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) CHECK(rename(path, to) == 0, "no rename");
  MPI_Barrier(MPI_COMM_WORLD);
  file = opened(MPI_COMM_WORLD);
  write_all(file, 0, 8);
  OK(MPI_File_close(&file));
  open_gate();
  const char *before = path;
  path = to;
  file = opened(MPI_COMM_WORLD);
  expect(file, 0, (rank + 1) % ranks, 7);
  OK(MPI_File_close(&file));
  path = before;
  file = opened(MPI_COMM_WORLD);
  expect(file, 0, (rank + 1) % ranks, 8);
  OK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) OK(MPI_File_delete(to, MPI_INFO_NULL));
}

/* What is written later wins, on whatever rank, and without a sync; with slow writes. */
static void order(void) {
  for (int turn = 0; turn < 4; ++turn) {
    MPI_File file = opened(MPI_COMM_WORLD);
    write_all(file, 0, 1);
    back_to_bytes(file); /* from here on at once */
    for (int place = 1; place < 8; ++place) write_all(file, place, 1 + place);
    const int next = (rank + 1) % ranks;
    char data[piece];
    MPI_Barrier(MPI_COMM_WORLD);
    /* Another rank's bytes, read by one rank alone. */
    for (int place = 0; place < 8; ++place) expect(file, place, next, 1 + place);
    MPI_Barrier(MPI_COMM_WORLD);
    /* Over another rank's bytes: by all together, and alone. */
    memset(data, 40, piece);
    OK(MPI_File_write_at_all(file, (MPI_Offset)(2 * ranks + next) * piece, data, piece, MPI_BYTE, MPI_STATUS_IGNORE));
    memset(data, 50, piece);
    OK(MPI_File_write_at(file, (MPI_Offset)(3 * ranks + next) * piece, data, piece, MPI_BYTE, MPI_STATUS_IGNORE));
    expect(file, 3, next, 50);
    write_all(file, 4, 60);
    memset(data, 61, piece);
    OK(MPI_File_write_at_all(file, (MPI_Offset)(4 * ranks + next) * piece, data, piece, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Offset size = 0;
    OK(MPI_File_get_size(file, &size));
    CHECK(size == 8L * ranks * piece, "%ld bytes", (long)size);
    OK(MPI_File_set_size(file, 8L * ranks * piece));
    /* Far behind the end, then the end is cut off. */
    write_all(file, 20, 9);
    OK(MPI_File_set_size(file, 8L * ranks * piece));
    OK(MPI_File_close(&file));
    file = opened(MPI_COMM_WORLD);
    OK(MPI_File_get_size(file, &size));
    CHECK(size == 8L * ranks * piece, "%ld bytes after set_size", (long)size);
    for (int place = 0; place < 8; ++place)
      expect(file, place, next, place == 2 ? 40 : place == 3 ? 50 : place == 4 ? 61 : 1 + place);
    /* Written again by a second handle of one rank. */
    write_all(file, 5, 70);
    OK(MPI_File_sync(file));
    CHECK(size_now() == 8L * ranks * piece, "%ld bytes after sync", size_now());
    write_all(file, 6, 71);
    if (rank == 0) {
      MPI_File second = opened(MPI_COMM_SELF);
      memset(data, 72, piece);
      OK(MPI_File_write_at(second, (MPI_Offset)(6 * ranks) * piece, data, piece, MPI_BYTE, MPI_STATUS_IGNORE));
      OK(MPI_File_close(&second));
    }
    OK(MPI_File_close(&file));
    file = opened(MPI_COMM_WORLD);
    expect(file, 5, next, 70);
    expect(file, 6, next, next == 0 ? 72 : 71);
    OK(MPI_File_close(&file));
    shut_gate();
  }
}

/* The gate stays shut, so that only what finds no room is written before close returns. */
static void no_room(void) {
  shut_gate();
  static char large[1 << 20];
  memset(large, 5, sizeof large);
  MPI_File file = opened(MPI_COMM_WORLD);
  for (int turn = 0; turn < 8; ++turn)
    OK(MPI_File_write_at_all(file, ((MPI_Offset)turn * ranks + rank) * (MPI_Offset)sizeof large, large, sizeof large,
                             MPI_BYTE, MPI_STATUS_IGNORE));
  OK(MPI_File_close(&file));
  struct stat now;
  MPI_Barrier(MPI_COMM_WORLD);
  stat(path, &now);
  const long written = (long)now.st_blocks * 512, all = 8L * ranks * (long)sizeof large;
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(written > 0 && written < all, "%ld bytes of %ld are there", written, all);
  open_gate();
  file = opened(MPI_COMM_WORLD);
  for (int turn = 0; turn < 8; ++turn) {
    OK(MPI_File_read_at(file, ((MPI_Offset)turn * ranks + (rank + 1) % ranks) * (MPI_Offset)sizeof large, large,
                        sizeof large, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK(large[0] == 5 && large[sizeof large - 1] == 5, "%d", large[0]);
    memset(large, 0, sizeof large);
  }
  OK(MPI_File_close(&file));
}

/* Writes that fail: the error of the next call on the file, of the next opening, or of MPI_Finalize; once. */
static void errors(void) {
  shut_gate();
  MPI_File file = opened(MPI_COMM_WORLD);
  write_all(file, 0, 1);
  open_gate();
  int error = MPI_File_sync(file);
  CHECK(class_of(error) == MPI_ERR_NO_SPACE, "sync: %s", text_of(error));
  OK(MPI_File_close(&file));
  shut_gate();
  file = opened(MPI_COMM_WORLD);
  write_all(file, 0, 1);
  OK(MPI_File_close(&file));
  open_gate();
  error = MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  CHECK(class_of(error) == MPI_ERR_NO_SPACE && file == MPI_FILE_NULL, "open: %s", text_of(error));
  shut_gate();
  file = opened(MPI_COMM_WORLD);
  write_all(file, 0, 1);
  OK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  open_gate();
}

/* Rank 0 uses a file that was closed without MPI: it waits, as do other programs that it starts. */
static void serial(void) {
  const long bytes = 4L * ranks * piece;
  for (int turn = 0; turn < 4; ++turn) {
    MPI_File file = opened(MPI_COMM_WORLD);
    for (int place = 0; place < 4; ++place) write_all(file, place, 1 + turn);
    OK(MPI_File_close(&file));
    if (rank == 0 && turn == 0) {
      char *data = calloc(1, (size_t)bytes);
      const int fd = open(path, O_RDONLY);
      CHECK(read(fd, data, (size_t)bytes) == bytes && data[0] == 1 && data[bytes - 1] == 1, "read too early");
      close(fd);
      free(data);
    }
    if (rank == 0 && turn == 1) {
      FILE *stream = fopen(path, "r");
      CHECK(stream != NULL && fseek(stream, -1, SEEK_END) == 0 && ftell(stream) == bytes - 1 && fgetc(stream) == 2,
            "read too early");
      fclose(stream);
    }
    if (rank == 0 && turn == 2) {
      char command[4300];
      snprintf(command, sizeof command, "test `cat '%s' | wc -c` = %ld", path, bytes);
      CHECK(system(command) == 0, "another program read too early");
    }
    if (rank == 0 && turn == 3) { /* nothing is written over the new file later */
      FILE *stream = fopen(path, "w");
      fputs("new", stream);
      fclose(stream);
      MPI_File again;
      OK(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &again));
      OK(MPI_File_close(&again));
      CHECK(size_now() == 3, "%ld bytes", size_now());
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) unlink(path);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void killed(void) {
  MPI_File file = opened(MPI_COMM_WORLD);
  write_all(file, 0, 1);
  OK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) MPI_Abort(MPI_COMM_WORLD, 3);
  pause();
}

/* Two calls with a few bytes between them, which move together; one rank writes those bytes before by a call of all,
 * which still waits then, or alone behind it. */
static void between(void) {
  enum { each = 100, count = 400, turns = 20 };
  static char data[each * count];
  memset(data, 7, sizeof data);
  MPI_Datatype every;
  MPI_Type_vector(count, each, each * ranks, MPI_BYTE, &every);
  MPI_Type_commit(&every);
  const long region = (long)count * each * ranks, step = 2 * region + 5000;
  const int writer = ranks - 1;
  for (int before = 0; before < 2; ++before) {
    MPI_File file = opened(MPI_COMM_WORLD);
    for (int turn = 0; turn < turns; ++turn) {
      const long first = turn * step, gap = first + region, second = gap + 200;
      OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL)); /* is no HDF5 */
      if (before) {
        OK(MPI_File_write_at_all(file, (gap + 100) / 4, "old!", rank == writer, MPI_INT, MPI_STATUS_IGNORE));
        MPI_Barrier(MPI_COMM_WORLD);
      }
      OK(MPI_File_set_view(file, first + rank * each, MPI_BYTE, every, "native", MPI_INFO_NULL));
      OK(MPI_File_write_all(file, data, each * count, MPI_BYTE, MPI_STATUS_IGNORE));
      OK(MPI_File_set_view(file, second + rank * each, MPI_BYTE, every, "native", MPI_INFO_NULL));
      OK(MPI_File_write_all(file, data, each * count, MPI_BYTE, MPI_STATUS_IGNORE));
      MPI_Barrier(MPI_COMM_WORLD);
      OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
      if (!before && rank == writer)
        OK(MPI_File_write_at(file, (gap + 100) / 4, "new!", 1, MPI_INT, MPI_STATUS_IGNORE));
    }
    OK(MPI_File_close(&file));
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    for (int turn = 0; turn < turns; ++turn) {
      char found[8] = "";
      OK(MPI_File_read_at(file, turn * step + region + 100, found, 4, MPI_BYTE, MPI_STATUS_IGNORE));
      CHECK(memcmp(found, before ? "old!" : "new!", 4) == 0, "turn %d: what was written between is lost", turn);
    }
    OK(MPI_File_close(&file));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) unlink(path);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Type_free(&every);
}

/* The program ends as soon as its files are closed. */
static void closed_only(void) {
  MPI_File file = opened(MPI_COMM_WORLD);
  write_all(file, 0, 1);
  OK(MPI_File_close(&file));
}

/* By another handle that is closed: of one rank, and of all. Who reads, writes or cuts the file comes after it. */
static void others(void) {
  const int last = ranks - 1;
  char data[piece];
  MPI_Offset size = 0;
  MPI_File file = opened(MPI_COMM_WORLD), other;
  write_all(file, 0, 1);
  OK(MPI_File_sync(file));
  if (rank == last) { /* rank 0's piece */
    other = opened(MPI_COMM_SELF);
    memset(data, 7, piece);
    OK(MPI_File_write_at_all(other, 0, data, piece, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&other));
  }
  OK(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_sync(file));
  if (rank == 0) expect(file, 0, 0, 7);
  MPI_Barrier(MPI_COMM_WORLD);
  memset(data, 5, piece);
  if (rank == 0) OK(MPI_File_write_at(file, 0, data, piece, MPI_BYTE, MPI_STATUS_IGNORE));
  OK(MPI_File_sync(file));
  other = opened(MPI_COMM_WORLD);
  write_all(other, 1, 8);
  OK(MPI_File_close(&other));
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_read_at_all(file, (MPI_Offset)(ranks + (rank + 1) % ranks) * piece, data, piece, MPI_BYTE,
                          MPI_STATUS_IGNORE));
  CHECK(data[0] == 8 && data[piece - 1] == 8, "read together: %d and %d, not 8", data[0], data[piece - 1]);
  other = opened(MPI_COMM_WORLD);
  write_all(other, 2, 9);
  OK(MPI_File_close(&other));
  MPI_Barrier(MPI_COMM_WORLD);
  OK(MPI_File_get_size(file, &size));
  CHECK(size == 3L * ranks * piece, "%ld bytes", (long)size);
  OK(MPI_File_set_size(file, (MPI_Offset)2 * ranks * piece));
  OK(MPI_File_close(&file));
  file = opened(MPI_COMM_WORLD);
  OK(MPI_File_get_size(file, &size));
  CHECK(size == 2L * ranks * piece, "%ld bytes after the cut", (long)size);
  expect(file, 0, 0, 5);
  OK(MPI_File_close(&file));
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(void);
  } cases[] = {{"reopened", reopened}, {"renamed", renamed}, {"order", order},        {"room", no_room},
               {"errors", errors},     {"killed", killed},   {"closed", closed_only}, {"serial", serial},
               {"between", between},   {"others", others}};
  int failed = argc != 3;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  path = argv[2];
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
    if (strcmp(cases[i].name, argv[1]) == 0) cases[i].run();
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(argv[1], "killed") != 0 && strcmp(argv[1], "closed") != 0 && rank == 0) unlink(path);
  failed = failed || failures > 0;
  const int error = MPI_Finalize();
  if (strcmp(argv[1], "errors") == 0 && rank == 0 && error != MPI_ERR_NO_SPACE) {
    printf("MPI_Finalize: %d\n", error);
    failed = 1;
  }
  return failed;
}
