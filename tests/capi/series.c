/* series.c: output over time through the C interface: due, steps, restarts, what is kept, and provenance. */
#include "ranks.h"

/* One row of 3 for each rank but the last of several, which has none. */
static penstock_decomposition *part(void) {
  penstock_decomposition *d = NULL;
  const int64_t rows = size > 1 ? size - 1 : 1;
  CHECK_OK(penstock_block(2, (int64_t[]){rows, 3}, (int64_t[]){rank < rows ? rank : 0, 0},
                          (int64_t[]){rank < rows ? 1 : 0, 3}, &d));
  return d;
}

static void put(penstock_file *f, double value) {
  penstock_decomposition *d = part();
  CHECK_OK(penstock_put(f, "fluid/rho", PENSTOCK_DOUBLE, d, (double[]){value, value, value}, NULL));
  penstock_free(d);
}

static void write_step(penstock_series *s, int64_t iteration, double time) {
  penstock_file *f = NULL;
  CHECK_OK(penstock_series_step(s, iteration, time, &f));
  if (f == NULL) return;
  put(f, time);
  CHECK_OK(penstock_close(f));
}

static void check_steps(const char *pattern, int count, const int64_t *iterations) {
  penstock_series *s = NULL;
  CHECK_OK(penstock_series_open(world, pattern, &s));
  CHECK(penstock_series_steps(s) == count);
  for (int i = 0; i < count && i < penstock_series_steps(s); i++) {
    int64_t iteration = -1, stored = -1;
    double time = -1, values[3] = {-1, -1, -1};
    const char *path = NULL;
    penstock_file *f = NULL;
    penstock_decomposition *d = part();
    CHECK_OK(penstock_series_describe(s, i, &iteration, &time, &path));
    CHECK(iteration == iterations[i] && path != NULL && strstr(path, "out-") != NULL);
    CHECK_OK(penstock_series_open_step(s, i, NULL, &f));
    CHECK_OK(penstock_attribute_get(f, "/", "iteration", PENSTOCK_INT64, &stored, sizeof stored));
    CHECK(stored == iteration);
    CHECK_OK(penstock_get(f, "fluid/rho", PENSTOCK_DOUBLE, d, values, NULL));
    CHECK_OK(penstock_close(f));
    if (penstock_elements(d) > 0) CHECK(values[2] == time);
    penstock_free(d);
  }
  CHECK(!strcmp(penstock_series_warnings(s), ""));
  CHECK_IS(penstock_series_describe(s, count, NULL, NULL, NULL), PENSTOCK_INVALID);
  CHECK_OK(penstock_series_close(s));
}

static void run_and_restart(const char *pattern) {
  penstock_series *s = NULL;
  CHECK_IS(penstock_series_open(world, pattern, &s), PENSTOCK_NOT_FOUND);
  CHECK_OK(penstock_series_create(world, pattern, NULL, "steps=10,keep_last=3", &s));
  for (int64_t n = 0; n <= 50; n++) {
    int due = -1, again = -1;
    CHECK_OK(penstock_due(s, n, 0.01 * (double)n, &due));
    CHECK_OK(penstock_due(s, n, 0.01 * (double)n, &again));
    CHECK(due == (n % 10 == 0) && due == again);
    if (due) write_step(s, n, 0.01 * (double)n);
  }
  CHECK(penstock_series_steps(s) == 3);
  CHECK_OK(penstock_series_close(s));
  check_steps(pattern, 3, (int64_t[]){30, 40, 50});

  CHECK_OK(penstock_series_create(world, pattern, NULL, "keep_last=3", &s));
  penstock_file *first = NULL, *second = NULL;
  CHECK_OK(penstock_series_step(s, 35, 0.35, &first)); /* two at once, closed after the series */
  CHECK_OK(penstock_series_step(s, 45, 0.45, &second));
  CHECK_OK(penstock_series_close(s));
  put(first, 0.35), put(second, 0.45);
  CHECK_OK(penstock_close(second));
  CHECK_OK(penstock_close(first));
  check_steps(pattern, 3, (int64_t[]){30, 35, 45});
}

static void clock_decides(void) {
  penstock_series *s = NULL;
  int due = -1;
  CHECK_OK(penstock_series_create(world, in_folder("clock-*.h5"), NULL, "seconds=100000", &s));
  CHECK_OK(penstock_due(s, 1, 0, &due));
  CHECK(due == 0);
  CHECK_OK(penstock_series_close(s));
  CHECK_OK(penstock_series_create(world, in_folder("clock-*.h5"), NULL, "io_budget=0.000001%", &s));
  CHECK_OK(penstock_due(s, 1, 0, &due));
  CHECK(due == 1); /* what the first costs is not known */
  write_step(s, 1, 0);
  CHECK_OK(penstock_due(s, 2, 0, &due));
  CHECK(due == 0);
  CHECK_OK(penstock_series_close(s));
}

static penstock_status other_pattern(void) {
  penstock_series *s = NULL;
  return penstock_series_create(world, rank == 0 ? in_folder("a-*.h5") : in_folder("b-*.h5"), NULL, NULL, &s);
}
static penstock_status no_star(void) {
  penstock_series *s = NULL;
  return penstock_series_create(world, in_folder("a.h5"), NULL, NULL, &s);
}
static penstock_status unknown_option(void) {
  penstock_series *s = NULL;
  return penstock_series_create(world, in_folder("a-*.h5"), NULL, "every=3", &s);
}
static penstock_status xdmf_of_netcdf(void) {
  penstock_series *s = NULL;
  return penstock_series_create(world, in_folder("a-*.nc"), NULL, "xdmf=true", &s);
}
static penstock_status unknown_format(void) {
  penstock_series *s = NULL;
  return penstock_series_create(world, in_folder("a-*.dat"), NULL, NULL, &s);
}
static penstock_status unknown_parameter(void) {
  penstock_series *s = NULL;
  return penstock_series_create(world, in_folder("a-*.h5"), "hdf5:writrs=2", NULL, &s);
}
static penstock_status negative(void) {
  penstock_series *s = NULL;
  penstock_file *f = NULL;
  CHECK_OK(penstock_series_create(world, in_folder("a-*.h5"), NULL, NULL, &s));
  const penstock_status status = penstock_series_step(s, -1, 0, &f);
  CHECK_OK(penstock_series_close(s));
  return status;
}

/* A rank that has no place for the file: no other waits for it. */
static void null_on_one_rank(void) {
  penstock_series *s = NULL;
  penstock_file *f = NULL;
  CHECK_OK(penstock_series_create(world, in_folder("null-*.h5"), NULL, NULL, &s));
  CHECK(penstock_series_step(s, 1, 0, rank == size - 1 ? NULL : &f) != PENSTOCK_OK && f == NULL);
  write_step(s, 1, 0);
  CHECK(penstock_series_open_step(s, 0, NULL, rank == size - 1 ? NULL : &f) != PENSTOCK_OK && f == NULL);
  CHECK_OK(penstock_series_open_step(s, 0, NULL, &f));
  CHECK_OK(penstock_close(f));
  CHECK_OK(penstock_series_close(s));
  CHECK_IS(penstock_series_close(NULL), PENSTOCK_INVALID);
  CHECK_IS(penstock_due(NULL, 0, 0, NULL), PENSTOCK_INVALID);
  CHECK(penstock_series_steps(NULL) == 0 && !strcmp(penstock_series_warnings(NULL), ""));
}

/* What another made under a step's name stays, and is told. */
static void not_a_step(void) {
  penstock_series *s = NULL;
  make_file(in_folder("w-00000007.h5"));
  CHECK_IS(penstock_series_open(world, in_folder("w-*.h5"), &s), PENSTOCK_NOT_FOUND);
  CHECK(strstr(penstock_message(), "w-00000007.h5") != NULL);
  CHECK_OK(penstock_series_create(world, in_folder("w-*.h5"), NULL, "keep_last=1", &s));
  CHECK(strstr(penstock_series_warnings(s), "w-00000007.h5") != NULL);
  write_step(s, 1, 0), write_step(s, 9, 1);
  CHECK(penstock_series_steps(s) == 1);
  CHECK_OK(penstock_series_close(s));
  CHECK_OK(penstock_verify(world, in_folder("w-00000007.h5")));
}

/* Behind the program, too: the index is written when the file is closed. */
static void in_the_background(const char *pattern) {
  penstock_series *s = NULL;
  penstock_file *f = NULL;
  CHECK_OK(penstock_series_create(world, pattern, NULL, NULL, &s));
  CHECK_OK(penstock_series_step(s, 3, 0.75, &f));
  put(f, 0.75);
  CHECK_OK(penstock_commit_start(f));
  CHECK_OK(penstock_commit_wait(f));
  CHECK_OK(penstock_close(f));
  CHECK_OK(penstock_series_step(s, 4, 1, &f));
  put(f, 1);
  CHECK_OK(penstock_commit_start(f));
  CHECK_OK(penstock_close(f));
  CHECK_OK(penstock_series_step(s, 5, 2, &f));
  put(f, 2);
  penstock_abandon(f);
  barrier();
  CHECK_OK(penstock_series_close(s));
  check_steps(pattern, 2, (int64_t[]){3, 4});
}

static void provenance(const char *path) {
  penstock_file *f = NULL;
  const size_t length = 200000;
  char *input = malloc(length + 1), *back = malloc(length + 1);
  for (size_t i = 0; i < length; i++) input[i] = (char)('a' + i % 26);
  input[length] = '\0';
  char mine[32];
  snprintf(mine, sizeof mine, "of rank %d", rank);
  CHECK_OK(penstock_create(world, path, NULL, &f));
  put(f, 1);
  CHECK_OK(penstock_provenance(f, "input", input));
  CHECK_OK(penstock_provenance(f, "code", mine));
  CHECK_OK(penstock_provenance(f, "empty", ""));
  CHECK_OK(penstock_provenance_collect(f));
  CHECK_OK(penstock_close(f));

  CHECK_OK(penstock_open(world, path, NULL, &f));
  penstock_type type;
  int64_t count, shape[8];
  char text[1024] = "";
  const char *const keys[] = {"user",         "host",     "date", "machine", "directory",
                              "command_line", "penstock", "hdf5", "mpi"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    CHECK_OK(penstock_attribute_info(f, "provenance", keys[i], &type, &count));
    memset(text, 0, sizeof text);
    CHECK_OK(penstock_attribute_get(f, "provenance", keys[i], type, text, sizeof text));
    CHECK(strlen(text) > 0);
    if (!strcmp(keys[i], "date")) CHECK(strlen(text) == 20 && text[10] == 'T' && text[19] == 'Z');
    if (!strcmp(keys[i], "command_line")) CHECK(strstr(text, "capi_series") != NULL);
  }
  memset(text, 0, sizeof text);
  CHECK_OK(penstock_attribute_info(f, "provenance", "code", &type, &count));
  CHECK_OK(penstock_attribute_get(f, "provenance", "code", type, text, sizeof text));
  CHECK(!strcmp(text, "of rank 0"));
  int dims = 0;
  CHECK_OK(penstock_describe(f, "provenance/input", &type, &dims, shape, NULL));
  CHECK(type == PENSTOCK_UINT8 && dims == 1 && shape[0] == (int64_t)length);
  penstock_decomposition *d = NULL;
  CHECK_OK(penstock_replicated(1, (int64_t[]){(int64_t)length}, &d));
  CHECK_OK(penstock_get(f, "provenance/input", PENSTOCK_UINT8, d, back, NULL));
  CHECK_OK(penstock_close(f));
  CHECK(!memcmp(input, back, length));
  penstock_free(d);
  free(input), free(back);
}

int main(int argc, char **argv) {
  ranks_begin(&argc, &argv);
  run_and_restart(in_folder("out-*.h5"));
  run_and_restart(in_folder("n.out-*.nc"));
  run_and_restart(in_folder("r.out-*.raw"));
  clock_decides();
  null_on_one_rank();
  not_a_step();
  in_the_background(in_folder("b.out-*.h5"));
  const Case cases[] = {
      {"other pattern", other_pattern, size > 1 ? PENSTOCK_MISMATCH : PENSTOCK_OK, {NULL}},
      {"no star", no_star, PENSTOCK_INVALID, {"'*'", "run/out-*.h5", NULL}},
      {"unknown option", unknown_option, PENSTOCK_INVALID, {"every", "keep_last", NULL}},
      {"unknown format", unknown_format, PENSTOCK_INVALID, {"a-00000000.dat", "extension", NULL}},
      {"unknown parameter", unknown_parameter, PENSTOCK_INVALID, {"did you mean 'writers'?", NULL}},
      {"xdmf of netCDF", xdmf_of_netcdf, PENSTOCK_UNSUPPORTED, {"xdmf=true", "HDF5", NULL}},
      {"negative", negative, PENSTOCK_INVALID, {"-1", NULL}},
  };
  run_cases(cases, sizeof cases / sizeof *cases);
  provenance(in_folder("p.h5"));
  provenance(in_folder("p.nc"));
  provenance(in_folder("p.raw"));
  return ranks_end("series");
}
