/* errors_files.c: paths that cannot be written, files that cannot be read, requests that do not fit their contents. */
#define _GNU_SOURCE
#include "ranks.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Writes a small dataset to PATH. */
static penstock_status write_to(const char *path, const char *plan) {
  double data[4] = {1, 2, 3, 4};
  penstock_file *f = NULL;
  penstock_decomposition *d = NULL;
  penstock_status status = penstock_create(world, path, plan, &f);
  if (status) return status;
  penstock_block(1, (int64_t[]){4 * size}, (int64_t[]){4 * rank}, (int64_t[]){4}, &d);
  penstock_put(f, "rho", PENSTOCK_DOUBLE, d, data, NULL);
  penstock_free(d);
  return penstock_close(f);
}

static penstock_status open_it(const char *name) {
  penstock_file *f = NULL;
  return finish(penstock_open(world, in_folder(name), NULL, &f), &f);
}

static void write_text(const char *name, const char *text, size_t bytes) {
  if (rank == 0) {
    FILE *file = fopen(in_folder(name), "wb");
    CHECK(file && fwrite(text, 1, bytes, file) == bytes);
    if (file) fclose(file);
  }
  barrier();
}

static penstock_status no_folder(void) { return write_to(in_folder("no/such/folder/x.h5"), NULL); }
static penstock_status no_folder_raw(void) { return write_to(in_folder("no/such/folder/x.raw"), NULL); }
static penstock_status a_folder(void) { return write_to(in_folder("sub"), NULL); }
static penstock_status a_folder_raw(void) { return write_to(in_folder("sub.json"), "raw/independent"); }
static penstock_status a_file_as_folder(void) { return write_to(in_folder("data.h5/x.h5"), NULL); }
static penstock_status an_empty_path(void) { return write_to("", NULL); }
static penstock_status a_name_too_long(void) {
  static char name[400];
  memset(name, 'x', sizeof name - 1);
  return write_to(in_folder(name), NULL);
}
static penstock_status unknown_format(void) { return write_to(in_folder("x.h5"), "tar/two_phase"); }
static penstock_status unknown_parameter(void) { return write_to(in_folder("x.h5"), "hdf5/two_phase:scribes=2"); }
static penstock_status bad_value(void) { return write_to(in_folder("x.h5"), "hdf5/two_phase:io=telegraph"); }

static penstock_status open_absent(void) { return open_it("absent.h5"); }
static penstock_status open_a_folder(void) { return open_it("sub"); }
static penstock_status open_empty(void) { return open_it("empty.h5"); }
static penstock_status open_nonsense(void) { return open_it("nonsense.h5"); }
static penstock_status open_cut(void) { return open_it("cut.h5"); }
static penstock_status open_cut_index(void) { return open_it("cut.raw"); }
static penstock_status reopen_absent(void) {
  penstock_file *f = NULL;
  return finish(penstock_reopen(world, in_folder("absent.h5"), NULL, &f), &f);
}

/* Asks for NAME of data.h5 as TYPE, as the whole of SHAPE. */
static penstock_status ask(const char *name, penstock_type type, int dims, const int64_t *shape) {
  static double room[10000];
  const int64_t zero[8] = {0};
  penstock_file *f = NULL;
  penstock_decomposition *d = NULL;
  penstock_status status = penstock_open(world, in_folder("data.h5"), NULL, &f);
  if (status) return status;
  CHECK_OK(penstock_block(dims, shape, zero, shape, &d));
  penstock_get(f, name, type, d, room, NULL);
  penstock_free(d);
  return penstock_close(f);
}

static penstock_status wrong_type(void) { return ask("data", PENSTOCK_FLOAT, 2, (int64_t[]){4 * size, 3}); }
static penstock_status wrong_shape(void) { return ask("data", PENSTOCK_DOUBLE, 2, (int64_t[]){4 * size, 4}); }
static penstock_status wrong_rank(void) { return ask("data", PENSTOCK_DOUBLE, 1, (int64_t[]){12 * size}); }
static penstock_status missing(void) { return ask("date", PENSTOCK_DOUBLE, 2, (int64_t[]){4 * size, 3}); }
static penstock_status unlike(void) { return ask("temperature", PENSTOCK_DOUBLE, 2, (int64_t[]){4 * size, 3}); }
static penstock_status missing_on_one(void) {
  return ask(rank == size - 1 ? "date" : "data", PENSTOCK_DOUBLE, 2, (int64_t[]){4 * size, 3});
}
static penstock_status a_group(void) { return ask("/", PENSTOCK_DOUBLE, 2, (int64_t[]){4 * size, 3}); }

static penstock_status put_to_a_reader(void) {
  double one = 1;
  penstock_file *f = NULL;
  penstock_decomposition *d = NULL;
  CHECK_OK(penstock_open(world, in_folder("data.h5"), NULL, &f));
  CHECK_OK(penstock_replicated(0, NULL, &d));
  CHECK(penstock_put(f, "x", PENSTOCK_DOUBLE, d, &one, NULL) != PENSTOCK_OK);
  penstock_free(d);
  return penstock_close(f);
}

static penstock_status get_from_a_writer(void) {
  double one = 1;
  penstock_file *f = NULL;
  penstock_decomposition *d = NULL;
  CHECK_OK(penstock_create(world, in_folder("new.h5"), NULL, &f));
  CHECK_OK(penstock_replicated(0, NULL, &d));
  CHECK(penstock_get(f, "x", PENSTOCK_DOUBLE, d, &one, NULL) != PENSTOCK_OK);
  penstock_free(d);
  return penstock_close(f);
}

/* Put in place of what is there, in another type: the name is taken. */
static penstock_status put_another_type(void) {
  float data[12] = {0};
  penstock_file *f = NULL;
  penstock_decomposition *d = NULL;
  CHECK_OK(penstock_reopen(world, in_folder("data.h5"), NULL, &f));
  penstock_block(2, (int64_t[]){4 * size, 3}, (int64_t[]){4 * rank, 0}, (int64_t[]){4, 3}, &d);
  penstock_put(f, "data", PENSTOCK_FLOAT, d, data, NULL);
  penstock_free(d);
  return penstock_close(f);
}

/* The extent is fixed: it was not declared unlimited. */
static penstock_status grow_what_is_fixed(void) {
  double data[12] = {0};
  penstock_file *f = NULL;
  penstock_decomposition *d = NULL;
  CHECK_OK(penstock_reopen(world, in_folder("data.h5"), NULL, &f));
  penstock_block(2, (int64_t[]){8 * size, 3}, (int64_t[]){4 * (size + rank), 0}, (int64_t[]){4, 3}, &d);
  penstock_put(f, "data", PENSTOCK_DOUBLE, d, data, NULL);
  penstock_free(d);
  return penstock_close(f);
}

static const Case cases[] = {
    {"no such folder", no_folder, PENSTOCK_NOT_FOUND, {"no/such/folder"}},
    {"no such folder, raw", no_folder_raw, PENSTOCK_NOT_FOUND, {"no/such/folder"}},
    {"the target is a folder", a_folder, PENSTOCK_EXISTS, {"sub"}},
    {"the target is a folder, raw", a_folder_raw, PENSTOCK_EXISTS, {"sub"}},
    {"a file in the place of a folder", a_file_as_folder, PENSTOCK_NOT_FOUND, {"data.h5"}},
    {"an empty path", an_empty_path, PENSTOCK_INVALID, {NULL}},
    {"a name that is too long", a_name_too_long, PENSTOCK_INVALID, {"xxx"}},
    {"an unknown format", unknown_format, PENSTOCK_INVALID, {"tar", "hdf5", "raw"}},
    {"an unknown parameter", unknown_parameter, PENSTOCK_INVALID, {"scribes", "writers"}},
    {"a bad value", bad_value, PENSTOCK_INVALID, {"telegraph", "direct"}},
    {"open what is not there", open_absent, PENSTOCK_NOT_FOUND, {"absent.h5"}},
    {"reopen what is not there", reopen_absent, PENSTOCK_NOT_FOUND, {"absent.h5"}},
    {"open a folder", open_a_folder, PENSTOCK_INVALID, {"sub"}},
    {"open an empty file", open_empty, PENSTOCK_DAMAGED, {"empty.h5"}},
    {"open nonsense", open_nonsense, PENSTOCK_DAMAGED, {"nonsense.h5"}},
    {"open a file that was cut", open_cut, PENSTOCK_DAMAGED, {"cut.h5"}},
    {"open an index that was cut", open_cut_index, PENSTOCK_DAMAGED, {"cut.raw"}},
    {"another type than the file's", wrong_type, PENSTOCK_MISMATCH, {"data", "f32", "f64"}},
    {"another shape than the file's", wrong_shape, PENSTOCK_MISMATCH, {"data", "4)", "3)"}},
    {"another number of dimensions", wrong_rank, PENSTOCK_MISMATCH, {"data"}},
    {"a dataset that is not there", missing, PENSTOCK_NOT_FOUND, {"'date'", "did you mean 'data'?"}},
    {"a dataset with a name like no other", unlike, PENSTOCK_NOT_FOUND, {"'temperature'", "; there is data"}},
    {"a dataset that is not there, on one rank", missing_on_one, PENSTOCK_NOT_FOUND, {"date"}},
    {"a group as a dataset", a_group, PENSTOCK_INVALID, {NULL}},
    {"put to a reader", put_to_a_reader, PENSTOCK_INVALID, {NULL}},
    {"get from a writer", get_from_a_writer, PENSTOCK_NOT_FOUND, {"x"}},
    {"put another type over a dataset", put_another_type, PENSTOCK_MISMATCH, {"data", "f32", "f64"}},
    {"grow what is fixed", grow_what_is_fixed, PENSTOCK_MISMATCH, {"data"}},
};

/* Nobody, root neither, makes a file in an immutable folder. 0 where this file system has no such thing. */
static int make_immutable(const char *path, int on) {
  int flags = 0, done = 0;
  const int fd = open(path, O_RDONLY | O_DIRECTORY);
  if (fd >= 0 && ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0) {
    flags = on ? flags | FS_IMMUTABLE_FL : flags & ~FS_IMMUTABLE_FL;
    done = ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0;
  }
  if (fd >= 0) close(fd);
  return done;
}

static penstock_status denied(void) { return write_to(in_folder("closed/x.h5"), NULL); }
static penstock_status denied_raw(void) {
  return write_to(in_folder("closed/x.raw"), "raw/independent:placement=per_rank");
}

static void closed_folder(void) {
  static const Case closed[] = {{"a folder that may not be written", denied, PENSTOCK_DENIED, {"closed"}},
                                {"a folder that may not be written, raw", denied_raw, PENSTOCK_DENIED, {"closed"}}};
  int made = 1;
  if (rank == 0) {
    mkdir(in_folder("closed"), 0755);
    made = geteuid() == 0 ? make_immutable(in_folder("closed"), 1) : chmod(in_folder("closed"), 0555) == 0;
    if (!made) printf("skipped: a folder that may not be written: this file system has no immutable folders\n");
  }
  if (lowest(made)) run_cases(closed, 2);
  if (rank == 0) geteuid() == 0 ? (void)make_immutable(in_folder("closed"), 0) : (void)chmod(in_folder("closed"), 0755);
}

/* A link as target stays one; what it points to is replaced. */
static void links(void) {
  struct stat info;
  if (rank == 0) CHECK(symlink("sub/real.h5", in_folder("link.h5")) == 0);
  barrier();
  CHECK_OK(write_to(in_folder("link.h5"), NULL));
  CHECK_OK(write_to(in_folder("link.h5"), NULL));
  CHECK(lstat(in_folder("link.h5"), &info) == 0 && S_ISLNK(info.st_mode));
  CHECK(lstat(in_folder("sub/real.h5"), &info) == 0 && S_ISREG(info.st_mode));
  CHECK_OK(open_it("link.h5"));
}

int main(int argc, char **argv) {
  ranks_begin(&argc, &argv);
  if (rank == 0) mkdir(in_folder("sub"), 0755), mkdir(in_folder("sub.json"), 0755);
  make_file(in_folder("data.h5"));
  CHECK_OK(write_to(in_folder("cut.h5"), NULL));
  CHECK_OK(write_to(in_folder("cut.raw"), NULL));
  barrier();
  if (rank == 0) CHECK(truncate(in_folder("cut.h5"), 700) == 0 && truncate(in_folder("cut.raw.json"), 60) == 0);
  write_text("empty.h5", "", 0);
  write_text("nonsense.h5", "this is no file of ours at all", 30);
  run_cases(cases, sizeof cases / sizeof *cases);
  closed_folder();
  links();
  return ranks_end("errors_files");
}
