/* errors.c: errors of containers: each has one name, is the same on all ranks, and changes nothing on disk. */
#define _GNU_SOURCE
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/capi/ranks.h"

static penstock_status made(const char *name, const char *options, const void *data, int64_t bytes) {
  penstock_stream *stream = NULL;
  const penstock_status status = penstock_stream_create(world, in_folder(name), options, &stream);
  if (status) return status;
  penstock_stream_write(stream, data, bytes);
  return penstock_stream_close(stream);
}

static penstock_status opened(const char *name) {
  penstock_stream *stream = NULL;
  const penstock_status status = penstock_stream_open(world, in_folder(name), &stream);
  return status ? status : penstock_stream_close(stream);
}

static penstock_status unknown_option(void) { return made("new.pstream", "file=3", NULL, 0); }
static penstock_status no_value(void) { return made("new.pstream", "files", NULL, 0); }
static penstock_status bad_number(void) { return made("new.pstream", "files=many", NULL, 0); }
static penstock_status negative(void) { return made("new.pstream", "files=-1", NULL, 0); }
static penstock_status huge_chunk(void) { return made("new.pstream", "chunk_bytes=2TiB", NULL, 0); }
static penstock_status no_folder(void) { return made("nowhere/new.pstream", NULL, NULL, 0); }
static penstock_status a_folder(void) { return made("folder", NULL, NULL, 0); }
static penstock_status empty_path(void) {
  penstock_stream *stream = NULL;
  return penstock_stream_create(world, "", NULL, &stream);
}
static penstock_status null_path(void) {
  penstock_stream *stream = NULL;
  return penstock_stream_open(world, NULL, &stream);
}
static penstock_status other_paths(void) { return made(rank == 1 ? "b.pstream" : "a.pstream", NULL, NULL, 0); }
static penstock_status other_options(void) { return made("new.pstream", rank == 1 ? "files=2" : NULL, NULL, 0); }
static penstock_status null_data(void) { return made("good.pstream", "files=2", NULL, 5); }
static penstock_status one_negative(void) {
  static char data[4];
  return made("good.pstream", "files=2", data, rank == size - 1 ? -4 : 4);
}

static penstock_status absent(void) { return opened("absent.pstream"); }
static penstock_status open_folder(void) { return opened("folder"); }
static penstock_status open_pipe(void) { return opened("pipe"); }
static penstock_status text(void) { return opened("text"); }
static penstock_status empty(void) { return opened("empty"); }
static penstock_status missing(void) { return opened("missing.pstream"); }
static penstock_status cut_off(void) { return opened("cut.pstream"); }
static penstock_status cut_main(void) { return opened("cut_main.pstream"); }
static penstock_status swapped(void) { return opened("swapped.pstream"); }
static penstock_status inner(void) { return opened("inner"); }

static penstock_status reading(int64_t stream_number, int64_t offset, const void *write) {
  penstock_stream *stream = NULL;
  char byte;
  int64_t got;
  penstock_status status = penstock_stream_open(world, in_folder("good.pstream"), &stream);
  if (status) return status;
  status = write ? penstock_stream_write(stream, write, 1)
                 : penstock_stream_read(stream, stream_number, offset, &byte, 1, &got);
  char message[4096];
  snprintf(message, sizeof message, "%s", penstock_message());
  CHECK_OK(penstock_stream_close(stream));
  CHECK(!strcmp(message, penstock_message())); /* an ok call leaves the message */
  return status;
}
static penstock_status past_last(void) { return reading(1000000, 0, NULL); }
static penstock_status below_first(void) { return reading(-2, 0, NULL); }
static penstock_status negative_offset(void) { return reading(0, -1, NULL); }
static penstock_status write_to_reader(void) { return reading(0, 0, "x"); }

static penstock_status read_from_writer(void) {
  penstock_stream *stream = NULL;
  char byte;
  int64_t got;
  penstock_status status = penstock_stream_create(world, in_folder("good.pstream"), NULL, &stream);
  if (status) return status;
  status = penstock_stream_read(stream, 0, 0, &byte, 1, &got);
  barrier(); /* all or none: nobody opens what another drops */
  penstock_stream_abandon(stream);
  barrier();
  return status;
}

static penstock_status flipped(void) {
  penstock_stream *stream = NULL;
  static char data[100000];
  int64_t got;
  penstock_status status = penstock_stream_open(world, in_folder("flipped.pstream"), &stream);
  if (status) return status;
  CHECK_OK(penstock_stream_read(stream, 0, 0, data, 99999, &got)); /* the damage shows at the end */
  status = penstock_stream_read(stream, 0, 99999, data, 1, &got);
  CHECK(penstock_stream_close(stream) == PENSTOCK_OK);
  return status;
}

static penstock_status nulls(void) {
  int64_t got = 7;
  CHECK_IS(penstock_stream_create(world, "x", NULL, NULL), PENSTOCK_INVALID);
  CHECK_IS(penstock_stream_write(NULL, "x", 1), PENSTOCK_INVALID);
  CHECK_IS(penstock_stream_bytes(NULL, 0, &got), PENSTOCK_INVALID);
  CHECK_IS(penstock_stream_close(NULL), PENSTOCK_INVALID);
  CHECK(penstock_streams(NULL) == 0);
  penstock_stream_abandon(NULL);
  return penstock_stream_read(NULL, 0, 0, &got, 1, &got);
}

/* The path of file 1 of the container NAME; rank 0. */
static const char *second_file(const char *name) {
  static char path[1024];
  path[0] = 0;
  DIR *dir = opendir(folder());
  for (struct dirent *entry; dir && (entry = readdir(dir));)
    if (!strncmp(entry->d_name, name, strlen(name)) && strstr(entry->d_name, ".000001.pstream"))
      snprintf(path, sizeof path, "%s/%s", folder(), entry->d_name);
  if (dir) closedir(dir);
  CHECK(path[0]);
  return path;
}

static void put_byte(const char *path, long at) {
  FILE *file = fopen(path, "r+b");
  CHECK(file != NULL);
  if (!file) return;
  fseek(file, at, SEEK_SET);
  const int old = fgetc(file);
  fseek(file, at, SEEK_SET);
  fputc(old ^ 0x10, file);
  fclose(file);
}

static void make_files(void) {
  static char data[100000];
  static const char *const names[] = {"good.pstream",    "missing.pstream", "cut.pstream",    "cut_main.pstream",
                                      "swapped.pstream", "other.pstream",   "flipped.pstream"};
  memset(data, 'p', sizeof data);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    CHECK_OK(made(names[i], "files=2,chunk_bytes=4KiB", data, sizeof data));
  if (rank != 0) return barrier();
  CHECK(mkdir(in_folder("folder"), 0777) == 0 && mkfifo(in_folder("pipe"), 0666) == 0);
  FILE *file = fopen(in_folder("text"), "w");
  for (int i = 0; i < 600; i++) fputc('t', file);
  fclose(file);
  fclose(fopen(in_folder("empty"), "w"));
  CHECK(truncate(in_folder("cut_main.pstream"), 8192) == 0);
  put_byte(in_folder("flipped.pstream"), 4096 + 4096 / 2);
  if (size > 1) {
    char other[1024];
    CHECK(unlink(second_file("missing.pstream")) == 0);
    CHECK(truncate(second_file("cut.pstream"), 50000) == 0);
    snprintf(other, sizeof other, "%s", second_file("other.pstream"));
    CHECK(rename(other, second_file("swapped.pstream")) == 0);
    CHECK(symlink(second_file("good.pstream"), in_folder("inner")) == 0);
  }
  barrier();
}

int main(int argc, char **argv) {
  ranks_begin(&argc, &argv);
  make_files();
  const Case cases[] = {
      {"unknown option", unknown_option, PENSTOCK_INVALID, {"no parameter 'file'", "files, chunk_bytes"}},
      {"option without value", no_value, PENSTOCK_INVALID, {"'files' is no name=value"}},
      {"files=many", bad_number, PENSTOCK_INVALID, {"files", "'many' is no whole number"}},
      {"files=-1", negative, PENSTOCK_INVALID, {"files=-1", "at least 0"}},
      {"chunk of 2 TiB", huge_chunk, PENSTOCK_INVALID, {"chunk_bytes", "at most 1 TiB"}},
      {"no folder", no_folder, PENSTOCK_NOT_FOUND, {"cannot create", "nowhere"}},
      {"path is a folder", a_folder, PENSTOCK_EXISTS, {"cannot create", "it is a folder"}},
      {"empty path", empty_path, PENSTOCK_INVALID, {"the path is empty"}},
      {"NULL path", null_path, PENSTOCK_INVALID, {"the path is empty"}},
      {"NULL data", null_data, PENSTOCK_INVALID, {"good.pstream': data is NULL"}},
      {"negative size on one rank", one_negative, PENSTOCK_INVALID, {"-4 bytes", "negative"}},
      {"absent", absent, PENSTOCK_NOT_FOUND, {"absent.pstream", "no such file"}},
      {"open a folder", open_folder, PENSTOCK_INVALID, {"is a folder"}},
      {"open a pipe", open_pipe, PENSTOCK_INVALID, {"no regular file"}},
      {"open a text", text, PENSTOCK_DAMAGED, {"text': it is no container of streams"}},
      {"open an empty file", empty, PENSTOCK_DAMAGED, {"empty': it is no container of streams"}},
      {"first file cut off", cut_main, PENSTOCK_DAMAGED, {"cut_main.pstream' is cut off", "8192 bytes"}},
      {"stream past the last", past_last, PENSTOCK_INVALID, {"there is no stream 1000000", "-1 is all of them"}},
      {"stream -2", below_first, PENSTOCK_INVALID, {"there is no stream -2"}},
      {"negative offset", negative_offset, PENSTOCK_INVALID, {"stream 0 of", "offset -1 is negative"}},
      {"write to what is read", write_to_reader, PENSTOCK_INVALID, {"was opened to read"}},
      {"read from what is written", read_from_writer, PENSTOCK_INVALID, {"is being written"}},
      {"a flipped bit", flipped, PENSTOCK_DAMAGED, {"stream 0 of", "flipped.pstream", "another checksum"}},
      {"NULL handles", nulls, PENSTOCK_INVALID, {"stream is NULL"}},
  };
  run_cases(cases, sizeof cases / sizeof *cases);
  const Case several[] = {
      {"other paths", other_paths, PENSTOCK_MISMATCH, {"rank 1", "all ranks must ask for the same"}},
      {"other options", other_options, PENSTOCK_MISMATCH, {"rank 1", "files=2", "all ranks must ask for the same"}},
      {"a file is missing", missing, PENSTOCK_NOT_FOUND, {"missing.pstream.g", ".000001.pstream", "missing"}},
      {"a file is cut off", cut_off, PENSTOCK_DAMAGED, {"cut.pstream.g", "is cut off", "50000 bytes"}},
      {"a file of another", swapped, PENSTOCK_DAMAGED, {"swapped.pstream.g", "is not the file that belongs to"}},
      {"opened by its inner file", inner, PENSTOCK_INVALID, {"is file 1 of a container", "'good.pstream'"}},
  };
  if (size > 1) run_cases(several, sizeof several / sizeof *several);
  return ranks_end("stream errors");
}
