/* errors_arguments.c: bad arguments (NULL, negative, outside, overflowing). Such errors are local to each rank. */
#include "ranks.h"

static const int64_t ten[8] = {10, 10, 10, 10, 10, 10, 10, 10}, zero[8] = {0}, one[8] = {1, 1, 1, 1, 1, 1, 1, 1};

#define INVALID(call)                      \
  do {                                     \
    CHECK_IS(call, PENSTOCK_INVALID);      \
    CHECK(strlen(penstock_message()) > 5); \
  } while (0)

static void decompositions(void) {
  penstock_decomposition *d = NULL;
  const int64_t minus[2] = {-1, 1}, big[3] = {INT64_MAX, 2, 1}, huge[3] = {1LL << 30, 1LL << 30, 1LL << 30};
  INVALID(penstock_block(-1, ten, zero, one, &d));
  INVALID(penstock_block(9, ten, zero, one, &d));
  CHECK(strstr(penstock_message(), "9 dimensions: datasets have 0 to 8") != NULL);
  INVALID(penstock_block(2, NULL, zero, one, &d));
  INVALID(penstock_block(2, ten, NULL, one, &d));
  INVALID(penstock_block(2, ten, zero, NULL, &d));
  INVALID(penstock_block(2, ten, zero, one, NULL));
  INVALID(penstock_block(2, minus, zero, zero, &d));
  INVALID(penstock_block(2, ten, minus, one, &d));
  INVALID(penstock_block(2, ten, zero, minus, &d));
  INVALID(penstock_block(2, ten, one, ten, &d));
  INVALID(penstock_block(1, ten, one, big, &d));
  INVALID(penstock_block(1, ten, big, one, &d));
  INVALID(penstock_block(3, huge, zero, one, &d));
  INVALID(penstock_grid(2, ten, NULL, 0, &d));
  INVALID(penstock_grid(2, ten, zero, 0, &d));
  INVALID(penstock_grid(2, ten, one, -1, &d));
  INVALID(penstock_grid(2, NULL, one, 0, &d));
  INVALID(penstock_boxes(2, ten, -1, zero, one, &d));
  INVALID(penstock_boxes(2, ten, 1, NULL, one, &d));
  INVALID(penstock_boxes(2, ten, 1, zero, NULL, &d));
  INVALID(penstock_boxes(2, ten, 1, ten, one, &d));
  INVALID(penstock_runs(1, ten, -1, zero, one, &d));
  INVALID(penstock_runs(1, ten, 1, NULL, one, &d));
  INVALID(penstock_runs(1, ten, 1, zero, NULL, &d));
  INVALID(penstock_runs(1, ten, 1, ten, one, &d));
  INVALID(penstock_runs(1, ten, 1, zero, minus, &d));
  INVALID(penstock_ragged(-1, 0, NULL, &d));
  INVALID(penstock_ragged(1, 2, NULL, &d));
  INVALID(penstock_ragged(1, 8, ten, &d));
  INVALID(penstock_ragged(1, 1, minus, &d));
  INVALID(penstock_ragged(INT64_MAX, 1, ten, &d));
  INVALID(penstock_replicated(1, NULL, &d));
  INVALID(penstock_replicated(1, ten, NULL));
  INVALID(penstock_per_rank(8, ten, &d));
  CHECK(d == NULL);
  CHECK(penstock_runs(1, ten, 2, zero, one, &d) == PENSTOCK_OVERLAP ||
        penstock_runs(1, ten, 2, zero, one, &d) == PENSTOCK_INVALID);
  CHECK(penstock_elements(NULL) <= 0);
}

/* The first mistake on a file is remembered: its commit fails. So each is made on a file of its own. */
static penstock_file *fresh(void) {
  penstock_file *f = NULL;
  CHECK_OK(penstock_create(world, in_folder("new.h5"), NULL, &f));
  return f;
}

#define MISTAKE(call)                              \
  do {                                             \
    penstock_file *f = fresh();                    \
    INVALID(call);                                 \
    CHECK_IS(penstock_close(f), PENSTOCK_INVALID); \
  } while (0)

static void files(void) {
  const double x = 1;
  double y[100];
  penstock_decomposition *d = NULL, *runs = NULL;
  penstock_file *f = NULL;
  CHECK_OK(penstock_replicated(0, NULL, &d));
  CHECK_OK(penstock_runs(1, ten, 1, zero, one, &runs));
  MISTAKE(penstock_put(f, NULL, PENSTOCK_DOUBLE, d, &x, NULL));
  MISTAKE(penstock_put(f, "", PENSTOCK_DOUBLE, d, &x, NULL));
  MISTAKE(penstock_put(f, "a//b", PENSTOCK_DOUBLE, d, &x, NULL));
  MISTAKE(penstock_put(f, "../x", PENSTOCK_DOUBLE, d, &x, NULL));
  MISTAKE(penstock_put(f, "_penstock/x", PENSTOCK_DOUBLE, d, &x, NULL));
  MISTAKE(penstock_put(f, "x", PENSTOCK_DOUBLE, NULL, &x, NULL));
  MISTAKE(penstock_put(f, "x", PENSTOCK_DOUBLE, d, NULL, NULL));
  MISTAKE(penstock_put(f, "x", (penstock_type)77, d, &x, NULL));
  MISTAKE(penstock_put(f, "x", (penstock_type)-1, d, &x, NULL));
  MISTAKE(penstock_put(f, "x", PENSTOCK_TEXT(0), d, &x, NULL));
  MISTAKE(penstock_put(f, "x", PENSTOCK_DOUBLE, runs, y, &(penstock_memory){.stride = one}));
  MISTAKE(penstock_lend(f, "x", PENSTOCK_DOUBLE, NULL, &x, NULL));
  MISTAKE(penstock_lend(f, "x", PENSTOCK_DOUBLE, d, NULL, NULL));
  MISTAKE(penstock_unlimited(f, NULL));
  MISTAKE(penstock_dataset_option(f, NULL, ""));
  MISTAKE(penstock_dataset_option(f, "a", NULL));
  MISTAKE(penstock_attribute(f, "x", NULL, "t"));
  MISTAKE(penstock_attribute(f, "x", "", "t"));
  MISTAKE(penstock_attribute(f, NULL, "a", "t"));
  MISTAKE(penstock_attribute(f, "x", "a", NULL));
  MISTAKE(penstock_attribute_array(f, "x", "a", PENSTOCK_DOUBLE, 2, NULL));
  MISTAKE(penstock_attribute_array(f, "x", "a", (penstock_type)99, 1, &x));
  MISTAKE(penstock_attribute_texts(f, "x", "a", 1, NULL));
  MISTAKE(penstock_attribute_texts(f, "x", "a", 1, (const char *[]){NULL}));
  MISTAKE(penstock_attribute_texts(f, "x", "a", -2, (const char *[]){"t"}));
  MISTAKE(penstock_remove(f, NULL));
  MISTAKE(penstock_remove(f, "x/"));
  MISTAKE(penstock_group(f, "g/"));
  MISTAKE(penstock_attribute(f, "g/", "a", "t"));
  MISTAKE(penstock_capture_bytes(f, -1));

  INVALID(penstock_create(world, NULL, NULL, &f));
  INVALID(penstock_create(world, in_folder("new.h5"), NULL, NULL));
  INVALID(penstock_open(world, NULL, NULL, &f));
  INVALID(penstock_reopen(world, NULL, NULL, &f));
  INVALID(penstock_commit(NULL));
  INVALID(penstock_close(NULL));
  INVALID(penstock_put(NULL, "x", PENSTOCK_DOUBLE, d, &x, NULL));
  INVALID(penstock_get(NULL, "x", PENSTOCK_DOUBLE, d, y, NULL));
  INVALID(penstock_attribute(NULL, "x", "a", "t"));
  INVALID(penstock_describe(NULL, "x", NULL, NULL, NULL, NULL));
  INVALID(penstock_attribute_info(NULL, "/", "a", NULL, NULL));
  INVALID(penstock_attribute_get(NULL, "/", "a", PENSTOCK_DOUBLE, y, 8));
  CHECK(penstock_count(NULL) <= 0);
  CHECK(penstock_name(NULL, 0) == NULL);
  CHECK(penstock_plan(NULL) == NULL);
  penstock_free(d), penstock_free(runs);
}

/* Empty parts may be NULL: a rank without anything need not have an address. */
static void nothing_needs_no_address(void) {
  penstock_file *f = fresh();
  penstock_decomposition *none = NULL, *all = NULL;
  double data[10] = {0};
  CHECK_OK(penstock_block(1, ten, zero, zero, &none));
  CHECK_OK(penstock_put(f, "x", PENSTOCK_DOUBLE, none, NULL, NULL));
  if (rank == 0) {
    CHECK_OK(penstock_block(1, ten, zero, ten, &all));
    CHECK_OK(penstock_put(f, "x", PENSTOCK_DOUBLE, all, data, NULL));
  }
  CHECK_OK(penstock_close(f));
  penstock_free(none), penstock_free(all);
}

int main(int argc, char **argv) {
  ranks_begin(&argc, &argv);
  decompositions();
  files();
  nothing_needs_no_address();
  return ranks_end("errors_arguments");
}
