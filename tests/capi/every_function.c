/* every_function.c: each function of the C interface does what its line in penstock.h says. */
#include "ranks.h"

static penstock_decomposition *part(void) { /* 5 of 5 * size */
  penstock_decomposition *d = NULL;
  CHECK_OK(penstock_block(1, (int64_t[]){5 * size}, (int64_t[]){5 * rank}, (int64_t[]){5}, &d));
  return d;
}

static void decompositions(void) {
  penstock_decomposition *d = NULL;
  CHECK_OK(penstock_grid(2, (int64_t[]){7, 9}, (int64_t[]){1, size}, rank, &d));
  CHECK(penstock_elements(d) == 7 * (9 / size + (rank < 9 % size)));
  penstock_free(d);
  CHECK_OK(penstock_boxes(2, (int64_t[]){4, 4}, 2, (int64_t[]){0, 0, 2, 2}, (int64_t[]){1, 4, 2, 1}, &d));
  CHECK(penstock_elements(d) == 6);
  penstock_free(d);
  CHECK_OK(penstock_boxes(2, (int64_t[]){4, 4}, 0, NULL, NULL, &d));
  CHECK(penstock_elements(d) == 0);
  penstock_free(d);
  CHECK_OK(penstock_runs(1, (int64_t[]){100}, 3, (int64_t[]){50, 0, 7}, (int64_t[]){1, 2, 3}, &d));
  CHECK(penstock_elements(d) == 6);
  penstock_free(d);
  CHECK_OK(penstock_ragged(3, 2, (int64_t[]){4, 5}, &d));
  CHECK(penstock_elements(d) == 60);
  penstock_free(d);
  CHECK_OK(penstock_ragged(3, 0, NULL, &d));
  CHECK(penstock_elements(d) == 3);
  penstock_free(d);
  CHECK_OK(penstock_replicated(2, (int64_t[]){3, 3}, &d));
  CHECK(penstock_elements(d) == 9);
  penstock_free(d);
  CHECK_OK(penstock_per_rank(1, (int64_t[]){8}, &d));
  CHECK(penstock_elements(d) == 8);
  penstock_free(d);
  CHECK_OK(penstock_block(0, NULL, NULL, NULL, &d)); /* a scalar */
  CHECK(penstock_elements(d) == 1);
  penstock_free(d);
  penstock_free(NULL);
}

static void write_all(const char *path) {
  penstock_file *f = NULL;
  penstock_decomposition *d = part(), *row = NULL, *ragged = NULL, *same = NULL;
  int32_t put[5], lent[5], ragged_data[40];
  double inside[3][4] = {{0}}, strided[10];
  char names[2][8] = {"left", "right"};
  CHECK_OK(penstock_create(world, path, "hdf5/two_phase:writers=1", &f));
  CHECK(strstr(penstock_plan(f), "hdf5/two_phase") == penstock_plan(f) && strstr(penstock_plan(f), "writers=1"));
  for (int i = 0; i < 5; i++) put[i] = 5 * rank + i, lent[i] = -put[i];
  CHECK_OK(penstock_put(f, "group/put", PENSTOCK_INT32, d, put, NULL));
  CHECK_OK(penstock_lend(f, "group/lent", PENSTOCK_INT32, d, lent, NULL));
  memset(put, 0, sizeof put);

  /* Ghost cells: the 1 x 2 block in the middle of 3 x 4. */
  CHECK_OK(penstock_per_rank(2, (int64_t[]){1, 2}, &row));
  inside[1][1] = rank, inside[1][2] = rank + 0.25;
  CHECK_OK(penstock_put(f, "inside", PENSTOCK_DOUBLE, row, inside,
                        &(penstock_memory){.shape = (int64_t[]){1, 3, 4}, .start = (int64_t[]){0, 1, 1}}));
  for (int i = 0; i < 10; i++) strided[i] = 100 * rank + i;
  CHECK_OK(penstock_put(f, "strided", PENSTOCK_DOUBLE, d, strided, &(penstock_memory){.stride = (int64_t[]){2}}));

  for (int i = 0; i < 40; i++) ragged_data[i] = rank;
  CHECK_OK(penstock_ragged(rank % 4, 1, (int64_t[]){2}, &ragged));
  CHECK_OK(penstock_put(f, "ragged", PENSTOCK_INT32, ragged, ragged_data, NULL));
  CHECK_OK(penstock_replicated(1, (int64_t[]){2}, &same));
  CHECK_OK(penstock_put(f, "names", PENSTOCK_TEXT(8), same, names, NULL));
  CHECK_OK(penstock_unlimited(f, "group/put"));
  CHECK_OK(penstock_dataset_option(f, "rounded", "type=f32,keep_bits=2"));
  CHECK_OK(penstock_put(f, "rounded", PENSTOCK_DOUBLE, same, (double[]){1.3, 5.1}, NULL));

  const double values[3] = {1, 2, 3};
  const int8_t one = -1;
  CHECK_OK(penstock_attribute(f, "/", "title", "every function"));
  CHECK_OK(penstock_attribute(f, "group", "empty", ""));
  CHECK_OK(penstock_attribute_array(f, "group/put", "values", PENSTOCK_DOUBLE, 3, values));
  CHECK_OK(penstock_attribute_array(f, "group/put", "one", PENSTOCK_INT8, -1, &one));
  CHECK_OK(penstock_attribute_texts(f, "/", "texts", 2, (const char *[]){"a", "longer"}));
  CHECK_OK(penstock_commit(f));
  CHECK_OK(penstock_close(f));
  penstock_free(d), penstock_free(row), penstock_free(ragged), penstock_free(same);
}

/* Names of dimensions and groups by each way of writing HDF5 and netCDF. */
static void name_dimensions(void) {
  static const char *const plans[] = {"hdf5/two_phase", "phdf5", "netcdf/two_phase"};
  for (int i = 0; i < 3; i++) {
    penstock_file *f = NULL;
    penstock_decomposition *d = part(), *rows = NULL;
    double t[10] = {0};
    penstock_status status = penstock_create(world, in_folder("dims.h5"), plans[i], &f);
    if (status == PENSTOCK_UNSUPPORTED) continue; /* a build without that engine */
    CHECK_OK(status);
    CHECK_OK(penstock_block(2, (int64_t[]){5 * size, 2}, (int64_t[]){5 * rank, 0}, (int64_t[]){5, 2}, &rows));
    CHECK_OK(penstock_put(f, "t", PENSTOCK_DOUBLE, rows, t, NULL));
    CHECK_OK(penstock_put(f, "y", PENSTOCK_DOUBLE, d, t, NULL));
    if (rank == size - 1) CHECK_OK(penstock_dimensions(f, "t", 2, (const char *const[]){"y", "x"}));
    CHECK_OK(penstock_attribute(f, "t", "units", "K"));
    CHECK_OK(penstock_close(f));
    CHECK_OK(penstock_open(world, in_folder("dims.h5"), NULL, &f));
    CHECK(penstock_count(f) == 2 && !strcmp(penstock_dimension(f, "t", 0), "y"));
    CHECK(!strcmp(penstock_dimension(f, "t", 1), "x") && !strcmp(penstock_dimension(f, "t", 2), ""));
    CHECK(!strcmp(penstock_dimension(f, "y", 0), "") && !strcmp(penstock_dimension(f, "none", 0), ""));
    CHECK_OK(penstock_close(f));
    penstock_free(d), penstock_free(rows);
  }
  penstock_file *f = NULL;
  CHECK_OK(penstock_create(world, in_folder("dims.h5"), NULL, &f));
  CHECK_IS(penstock_dimensions(f, "t", 9, (const char *const[]){"a", "b", "c", "d", "e", "f", "g", "h", "i"}),
           PENSTOCK_INVALID);
  CHECK_IS(penstock_dimensions(f, "t", 1, NULL), PENSTOCK_INVALID);
  penstock_abandon(f);
  barrier();
  CHECK_OK(penstock_create(world, in_folder("groups.h5"), NULL, &f));
  if (rank == 0) CHECK_OK(penstock_group(f, "fluid/empty"));
  CHECK_OK(penstock_attribute(f, "fluid", "about", "groups"));
  CHECK_OK(penstock_close(f));
  CHECK_OK(penstock_reopen(world, in_folder("groups.h5"), NULL, &f));
  CHECK_OK(penstock_attribute(f, "fluid/empty", "kind", "gas"));
  CHECK_OK(penstock_close(f));
  CHECK_OK(penstock_reopen(world, in_folder("groups.h5"), NULL, &f));
  if (rank == size - 1) CHECK_OK(penstock_remove(f, "fluid/empty"));
  CHECK_OK(penstock_close(f));
  CHECK_OK(penstock_open(world, in_folder("groups.h5"), NULL, &f));
  CHECK_OK(penstock_attribute_info(f, "fluid", "about", NULL, NULL));
  CHECK_IS(penstock_attribute_info(f, "fluid/empty", "kind", NULL, NULL), PENSTOCK_NOT_FOUND);
  CHECK_OK(penstock_close(f));
  CHECK_OK(penstock_reopen(world, in_folder("groups.h5"), NULL, &f));
  CHECK_IS(penstock_remove(f, "fluid/empty"), PENSTOCK_NOT_FOUND);
  CHECK_IS(penstock_close(f), PENSTOCK_NOT_FOUND);
}

static void look_around(penstock_file *f) {
  static const char *const names[] = {"group/lent", "group/put", "inside", "names", "ragged", "rounded", "strided"};
  penstock_type type;
  int dims, unlimited;
  int64_t shape[8], count;
  CHECK(penstock_count(f) == 7);
  for (int i = 0; i < 7; i++) CHECK(penstock_name(f, i) && !strcmp(penstock_name(f, i), names[i]));
  CHECK(penstock_name(f, 7) == NULL && penstock_name(f, -1) == NULL);
  CHECK_OK(penstock_describe(f, "group/put", &type, &dims, shape, &unlimited));
  CHECK(type == PENSTOCK_INT32 && dims == 1 && shape[0] == 5 * size && unlimited == 1);
  float rounded[2];
  penstock_decomposition *same;
  CHECK_OK(penstock_replicated(1, (int64_t[]){2}, &same));
  CHECK_OK(penstock_get(f, "rounded", PENSTOCK_FLOAT, same, rounded, NULL));
  CHECK_OK(penstock_commit(f));
  CHECK(rounded[0] == 1.25f && rounded[1] == 5);
  penstock_free(same);
  CHECK_OK(penstock_describe(f, "inside", &type, &dims, shape, &unlimited));
  CHECK(type == PENSTOCK_DOUBLE && dims == 3 && shape[0] == size && shape[1] == 1 && shape[2] == 2 && unlimited == 0);
  CHECK_OK(penstock_describe(f, "names", &type, NULL, NULL, NULL));
  CHECK(type == PENSTOCK_TEXT(8));
  CHECK_IS(penstock_describe(f, "nothing", &type, NULL, NULL, NULL), PENSTOCK_NOT_FOUND);

  CHECK_OK(penstock_attribute_info(f, "/", "texts", &type, &count));
  CHECK(type == PENSTOCK_TEXT(6) && count == 2);
  CHECK_OK(penstock_attribute_info(f, "group/put", "one", &type, &count));
  CHECK(type == PENSTOCK_INT8 && count == -1);
  double values[3] = {0};
  char text[32];
  memset(text, 'x', sizeof text);
  CHECK_OK(penstock_attribute_get(f, "group/put", "values", PENSTOCK_DOUBLE, values, sizeof values));
  CHECK(values[0] == 1 && values[2] == 3);
  CHECK_OK(penstock_attribute_get(f, "/", "title", PENSTOCK_TEXT(14), text, sizeof text));
  CHECK(!strcmp(text, "every function") && text[15] == 'x');
  CHECK_OK(penstock_attribute_get(f, "group", "empty", PENSTOCK_TEXT(1), text, sizeof text));
  CHECK(!strcmp(text, ""));
  CHECK_IS(penstock_attribute_get(f, "/", "none", PENSTOCK_DOUBLE, values, sizeof values), PENSTOCK_NOT_FOUND);
  CHECK_IS(penstock_attribute_get(f, "group/put", "values", PENSTOCK_FLOAT, values, sizeof values), PENSTOCK_MISMATCH);
  CHECK_IS(penstock_attribute_get(f, "group/put", "values", PENSTOCK_DOUBLE, values, 8), PENSTOCK_INVALID);
}

/* COUNT numbers of dataset NAME, all of it, to VALUES. */
static void get_all(penstock_file *f, const char *name, penstock_type type, void *values) {
  penstock_decomposition *d = NULL;
  int dims;
  int64_t shape[8], zero[8] = {0};
  CHECK_OK(penstock_describe(f, name, NULL, &dims, shape, NULL));
  CHECK_OK(penstock_block(dims, shape, zero, shape, &d));
  CHECK_OK(penstock_get(f, name, type, d, values, NULL));
  CHECK_OK(penstock_commit(f));
  penstock_free(d);
}

static void read_all(const char *path) {
  penstock_file *f = NULL;
  int32_t *numbers = calloc((size_t)(40 * size), sizeof *numbers);
  double *reals = calloc((size_t)(5 * size), sizeof *reals);
  char names[2][8];
  CHECK_OK(penstock_open(world, path, NULL, &f));
  look_around(f);
  get_all(f, "group/put", PENSTOCK_INT32, numbers);
  for (int i = 0; i < 5 * size; i++) CHECK(numbers[i] == i);
  penstock_decomposition *mine = part();
  double wide[5];
  CHECK_OK(penstock_get_widened(f, "group/put", PENSTOCK_DOUBLE, mine, wide, NULL));
  CHECK_OK(penstock_commit(f));
  for (int i = 0; i < 5; i++) CHECK(wide[i] == 5 * rank + i);
  penstock_free(mine);
  get_all(f, "group/lent", PENSTOCK_INT32, numbers);
  for (int i = 0; i < 5 * size; i++) CHECK(numbers[i] == -i);
  get_all(f, "inside", PENSTOCK_DOUBLE, reals);
  for (int i = 0; i < size; i++) CHECK(reals[2 * i] == i && reals[2 * i + 1] == i + 0.25);
  get_all(f, "strided", PENSTOCK_DOUBLE, reals);
  for (int i = 0; i < 5 * size; i++) CHECK(reals[i] == 100 * (i / 5) + 2 * (i % 5));
  get_all(f, "ragged", PENSTOCK_INT32, numbers);
  for (int r = 0, i = 0; r < size; r++)
    for (int k = 0; k < 2 * (r % 4); k++) CHECK(numbers[i++] == r);
  get_all(f, "names", PENSTOCK_TEXT(8), names);
  CHECK(!strcmp(names[0], "left") && !strcmp(names[1], "right"));
  CHECK_OK(penstock_close(f));
  free(numbers), free(reals);
}

static void reopen_and_abandon(const char *path) {
  penstock_file *f = NULL;
  penstock_decomposition *d = NULL, *few = NULL;
  int32_t more[5] = {7, 7, 7, 7, 7}, *numbers = calloc((size_t)(10 * size), sizeof *numbers);
  CHECK_OK(penstock_reopen(world, path, NULL, &f));
  CHECK_OK(penstock_block(1, (int64_t[]){10 * size}, (int64_t[]){5 * size + 5 * rank}, (int64_t[]){5}, &d));
  CHECK_OK(penstock_put(f, "group/put", PENSTOCK_INT32, d, more, NULL));
  CHECK_OK(penstock_partial(f, 1));
  CHECK_OK(penstock_xdmf(f, 0));
  CHECK_OK(penstock_conventions(f, ""));
  CHECK_OK(penstock_block(1, (int64_t[]){3 * size}, (int64_t[]){3 * rank}, (int64_t[]){1}, &few));
  CHECK_OK(penstock_put(f, "sparse", PENSTOCK_INT32, few, more, NULL));
  CHECK_OK(penstock_capture_bytes(f, 1 << 20));
  const char *first = penstock_name(f, 0);
  CHECK(penstock_count(f) == 7 && !strcmp(first, "group/lent"));
  CHECK_OK(penstock_commit(f));
  CHECK(penstock_count(f) == 8 && penstock_name(f, 0) == first && !strcmp(penstock_name(f, 6), "sparse"));
  CHECK_OK(penstock_close(f));

  CHECK_OK(penstock_open(world, path, NULL, &f));
  get_all(f, "group/put", PENSTOCK_INT32, numbers);
  for (int i = 0; i < 10 * size; i++) CHECK(numbers[i] == (i < 5 * size ? i : 7));
  get_all(f, "sparse", PENSTOCK_INT32, numbers);
  for (int i = 0; i < 3 * size; i++) CHECK(numbers[i] == (i % 3 ? 0 : 7));
  CHECK_OK(penstock_close(f));

  CHECK_OK(penstock_reopen(world, path, NULL, &f));
  CHECK_OK(penstock_put(f, "dropped", PENSTOCK_INT32, few, more, NULL));
  penstock_abandon(f);
  barrier();
  CHECK_OK(penstock_open(world, path, NULL, &f));
  CHECK(penstock_count(f) == 8);
  CHECK_OK(penstock_close(f));
  penstock_abandon(NULL);
  penstock_free(d), penstock_free(few), free(numbers);
}

static void verify_and_find(const char *path) {
  penstock_file *f = NULL;
  CHECK_OK(penstock_verify(world, path));
  CHECK(penstock_verify(world, in_folder("absent.h5")) == PENSTOCK_NOT_FOUND);
  CHECK_OK(penstock_repair(world, path));
  CHECK(penstock_repair(world, in_folder("absent.h5")) == PENSTOCK_NOT_FOUND);
  CHECK_OK(penstock_seal(world, path, 0));
  CHECK(penstock_seal(world, in_folder("absent.h5"), 1) == PENSTOCK_NOT_FOUND);
  CHECK_OK(penstock_open_latest(world, in_folder("a*.h5"), NULL, &f));
  CHECK(strstr(penstock_path(f), "all.h5") != NULL);
  CHECK(strcmp(penstock_warnings(f), "") == 0);
  CHECK_OK(penstock_close(f));
  CHECK(penstock_open_latest(world, in_folder("b*.h5"), NULL, &f) == PENSTOCK_NOT_FOUND && f == NULL);
}

/* A check of the program's own that fails on the last rank fails the commit on all. */
static void own_failure(void) {
  penstock_file *f = NULL;
  CHECK_IS(penstock_fail(NULL, PENSTOCK_NO_SPACE, "nowhere to go"), PENSTOCK_NO_SPACE);
  CHECK(!strcmp(penstock_message(), "nowhere to go"));
  CHECK_IS(penstock_fail(NULL, PENSTOCK_OK, "all is well"), PENSTOCK_INVALID);
  CHECK_IS(penstock_fail(NULL, PENSTOCK_IO, NULL), PENSTOCK_INVALID);
  CHECK_OK(penstock_create(world, in_folder("own.h5"), NULL, &f));
  if (rank == size - 1) CHECK_IS(penstock_fail(f, PENSTOCK_DAMAGED, "the density is negative"), PENSTOCK_DAMAGED);
  CHECK_IS(penstock_close(f), PENSTOCK_DAMAGED);
  CHECK(strstr(penstock_message(), "the density is negative") != NULL);
}

int main(int argc, char **argv) {
  ranks_begin(&argc, &argv);
  decompositions();
  write_all(in_folder("all.h5"));
  read_all(in_folder("all.h5"));
  reopen_and_abandon(in_folder("all.h5"));
  verify_and_find(in_folder("all.h5"));
  CHECK_OK(penstock_set_timeout(0));
  CHECK(penstock_set_timeout(-1) == PENSTOCK_INVALID && strstr(penstock_message(), "limit"));
  CHECK_OK(penstock_set_timeout(600));
  for (int s = 0; s <= PENSTOCK_INTERNAL; s++) CHECK(strlen(penstock_status_name((penstock_status)s)) > 1);
  CHECK(penstock_message() != NULL);
  own_failure();
  name_dimensions();
  return ranks_end("every_function");
}
