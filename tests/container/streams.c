/* streams.c: containers through the C interface: written, read back (also by other numbers of ranks), replaced, given
 * up. --write DIR leaves containers there; --read DIR reads what any number of ranks left. */
#define _GNU_SOURCE
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/capi/ranks.h"
#include "tests/container/content.h"

static const char *const ways[] = {
    NULL,
    "files=1",
    "files=3,chunk_bytes=4KiB,buffer_bytes=0",
    "files=1000,chunk_bytes=10000,buffer_bytes=3MiB",
    "files=node,io=direct,chunk_bytes=1MiB",
    "files=2,durability=none,buffer_bytes=64KiB,chunk_bytes=64KiB",
};
enum { way_count = sizeof ways / sizeof *ways };

/* How many names in the folder begin with PREFIX; rank 0 only, 0 elsewhere. */
static int64_t names(const char *prefix) {
  int64_t count = 0;
  barrier();
  DIR *dir = rank == 0 ? opendir(folder()) : NULL;
  for (struct dirent *entry; dir && (entry = readdir(dir));) count += !strncmp(entry->d_name, prefix, strlen(prefix));
  if (dir) closedir(dir);
  barrier();
  return count;
}

/* Writes this rank's content in pieces of many sizes, none among them. */
static void append(penstock_stream *stream, int64_t version) {
  const int64_t bytes = content_bytes(rank, version);
  unsigned char *data = content(rank, version);
  CHECK_OK(penstock_stream_write(stream, NULL, 0));
  for (int64_t at = 0, piece = 1; at < bytes; piece = piece * 5 % 1500007) {
    const int64_t n = piece < bytes - at ? piece : bytes - at;
    CHECK_OK(penstock_stream_write(stream, data + at, n));
    CHECK_OK(penstock_stream_write(stream, data, 0));
    at += n;
  }
  free(data);
  int64_t so_far = -1;
  CHECK_OK(penstock_stream_bytes(stream, rank, &so_far));
  CHECK(so_far == bytes);
}

/* False where the file system refuses this way. */
static int put_streams(const char *path, const char *options, int64_t version) {
  penstock_stream *stream = NULL;
  const penstock_status status = penstock_stream_create(world, path, options, &stream);
  if (status == PENSTOCK_UNSUPPORTED && options && strstr(options, "io=direct")) return 0;
  check_status(status, PENSTOCK_OK, path, __FILE__, __LINE__);
  if (status) return 0;
  CHECK(penstock_streams(stream) == size);
  append(stream, version);
  CHECK_OK(penstock_stream_close(stream));
  return 1;
}

/* Reads STREAM in pieces of PIECE bytes, which verifies it; then from the middle. */
static void check_stream(penstock_stream *stream, int64_t number, int64_t version, int64_t piece) {
  const int64_t bytes = content_bytes(number, version);
  unsigned char *data = content(number, version), *back = malloc((size_t)piece);
  int64_t length = -1, at = 0, got = -1;
  CHECK_OK(penstock_stream_bytes(stream, number, &length));
  CHECK(length == bytes);
  do {
    CHECK_OK(penstock_stream_read(stream, number, at, back, piece, &got));
    CHECK(got == (piece < bytes - at ? piece : bytes - at));
    CHECK(got <= 0 || !memcmp(back, data + at, (size_t)got));
    at += got;
  } while (got > 0);
  CHECK(at == bytes);
  const int64_t middle = bytes / 3;
  CHECK_OK(penstock_stream_read(stream, number, middle, back, piece, &got));
  CHECK(!memcmp(back, data + middle, (size_t)got));
  CHECK_OK(penstock_stream_read(stream, number, bytes + 5, back, piece, &got));
  CHECK(got == 0);
  free(data);
  free(back);
}

/* All streams as one, in pieces that end in the middle of streams. */
static void check_whole(penstock_stream *stream, int64_t version) {
  const int64_t piece = 70001;
  unsigned char *back = malloc((size_t)piece);
  int64_t number = 0, within = 0, at = 0, got = 1, length = 0, wrong = 0;
  CHECK_OK(penstock_stream_bytes(stream, -1, &length));
  while (got > 0) {
    CHECK_OK(penstock_stream_read(stream, -1, at, back, piece, &got));
    for (int64_t i = 0; i < got; i++) {
      while (within == content_bytes(number, version)) number++, within = 0;
      wrong += back[i] != content_byte(number, version, within++);
    }
    at += got;
  }
  CHECK(at == length && wrong == 0);
  free(back);
}

static void check_streams(const char *path, int64_t streams, int64_t version) {
  penstock_stream *stream = NULL;
  CHECK_OK(penstock_stream_open(world, path, &stream));
  if (!stream) return;
  CHECK(penstock_streams(stream) == streams);
  for (int64_t i = 0; i < streams; i++) check_stream(stream, (i + rank) % streams, version, 50000 + 7919 * i);
  check_whole(stream, version);
  CHECK_OK(penstock_stream_close(stream));
}

static void each_way(void) {
  for (int i = 0; i < way_count; i++) {
    char name[32];
    snprintf(name, sizeof name, "way%d.pstream", i);
    if (put_streams(in_folder(name), ways[i], 0)) check_streams(in_folder(name), size, 0);
  }
  const int64_t files = names("way1."), three = names("way2."), most = names("way3.");
  CHECK(rank != 0 || (files == 1 && three == (size < 3 ? size : 3) && most == size));
}

/* The files of the last generation stay for those who are reading it, and no longer. */
static void replaced(void) {
  const char *path = in_folder("again.pstream");
  const int64_t files = size < 2 ? 1 : 2;
  penstock_stream *old = NULL;
  put_streams(path, "files=2", 0);
  CHECK_OK(penstock_stream_open(world, path, &old));
  put_streams(path, "files=2", 1);
  int64_t there = names("again.");
  CHECK(rank != 0 || there == 2 * files - 1);
  if (old)
    for (int64_t i = 0; i < size; i++) check_stream(old, i, 0, 12345);
  CHECK_OK(penstock_stream_close(old));
  check_streams(path, size, 1);
  put_streams(path, "files=2", 2);
  there = names("again.");
  CHECK(rank != 0 || there == 2 * files - 1);
  check_streams(path, size, 2);
  put_streams(path, "files=1", 3);
  put_streams(path, "files=1", 4);
  there = names("again.");
  CHECK(rank != 0 || there == 1);
  check_streams(path, size, 4);
  there = names(".again.");
  CHECK(rank != 0 || there == 0);
}

/* A container that got another name keeps its files when the old name is used anew. */
static void renamed(void) {
  put_streams(in_folder("first.pstream"), "files=2", 0);
  if (rank == 0) CHECK(rename(in_folder("first.pstream"), in_folder("kept.pstream")) == 0);
  barrier();
  for (int64_t version = 1; version < 4; version++) put_streams(in_folder("first.pstream"), "files=2", version);
  check_streams(in_folder("kept.pstream"), size, 0);
  check_streams(in_folder("first.pstream"), size, 3);
}

/* Through a link, the file that it leads to is replaced, not the link. */
static void linked(void) {
  struct stat info;
  if (rank == 0) CHECK(symlink("real.pstream", in_folder("link.pstream")) == 0);
  barrier();
  put_streams(in_folder("link.pstream"), "files=2", 1);
  check_streams(in_folder("link.pstream"), size, 1);
  check_streams(in_folder("real.pstream"), size, 1);
  CHECK(lstat(in_folder("link.pstream"), &info) == 0 && S_ISLNK(info.st_mode));
}

static void given_up(void) {
  penstock_stream *stream = NULL;
  const char *path = in_folder("given_up.pstream");
  put_streams(path, "files=3", 0);
  const int64_t before = names("");
  CHECK_OK(penstock_stream_create(world, path, "files=3,buffer_bytes=0", &stream));
  append(stream, 1);
  barrier();
  penstock_stream_abandon(stream);
  const int64_t after = names("");
  CHECK(after == before);
  check_streams(path, size, 0);
}

/* Nobody writes anything: no byte of data on disk. */
static void nothing(void) {
  const char *path = in_folder("nothing.pstream");
  penstock_stream *stream = NULL;
  struct stat info;
  int64_t length = -1, got = -1;
  char byte;
  CHECK_OK(penstock_stream_create(world, path, "files=1,chunk_bytes=64MiB", &stream));
  CHECK_OK(penstock_stream_close(stream));
  CHECK(stat(path, &info) == 0 && info.st_blocks * 512 < 65536);
  CHECK_OK(penstock_stream_open(world, path, &stream));
  CHECK_OK(penstock_stream_bytes(stream, -1, &length));
  CHECK(length == 0);
  CHECK_OK(penstock_stream_read(stream, size - 1, 0, &byte, 1, &got));
  CHECK(got == 0);
  CHECK_OK(penstock_stream_close(stream));
}

static const char *file_in(const char *base_folder, int way) {
  static char path[1024];
  snprintf(path, sizeof path, "%s/way%d.pstream", base_folder, way);
  return path;
}

static void write_to(const char *where) {
  if (rank == 0) mkdir(where, 0777);
  barrier();
  for (int i = 0; i < way_count; i++) put_streams(file_in(where, i), ways[i], i);
}

static void read_from(const char *where) {
  int found = 0;
  for (int i = 0; i < way_count; i++) {
    penstock_stream *stream = NULL;
    if (access(file_in(where, i), F_OK)) continue;
    CHECK_OK(penstock_stream_open(world, file_in(where, i), &stream));
    const int64_t streams = penstock_streams(stream);
    CHECK_OK(penstock_stream_close(stream));
    check_streams(file_in(where, i), streams, i);
    found++;
  }
  CHECK(found >= way_count - 1); /* one may be refused by the file system */
}

int main(int argc, char **argv) {
  ranks_begin(&argc, &argv);
  if (argc == 3 && !strcmp(argv[1], "--write")) {
    write_to(argv[2]);
  } else if (argc == 3 && !strcmp(argv[1], "--read")) {
    read_from(argv[2]);
  } else {
    each_way();
    replaced();
    renamed();
    linked();
    given_up();
    nothing();
  }
  return ranks_end("streams");
}
