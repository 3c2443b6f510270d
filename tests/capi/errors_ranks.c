/* errors_ranks.c: mistakes that ranks make together: definitions that differ, holes, overlaps. If one rank makes a
 * mistake, all ranks get the error. */
#include "ranks.h"

static int last(void) { return rank == size - 1; }

static penstock_status create(penstock_file **f) { return penstock_create(world, in_folder("new.h5"), NULL, f); }

/* Puts COUNT doubles from START of SHAPE, and commits. */
static penstock_status put_block(int64_t shape, int64_t start, int64_t count, penstock_type type) {
  static const double zeros[4096];
  penstock_file *f = NULL;
  penstock_decomposition *d = NULL;
  penstock_status status = create(&f);
  if (status) return status;
  penstock_block(1, &shape, &start, &count, &d);
  penstock_put(f, "rho", type, d, zeros, NULL);
  penstock_free(d);
  return penstock_close(f);
}

static penstock_status type_differs(void) {
  return put_block(10 * size, 10 * rank, 10, last() ? PENSTOCK_FLOAT : PENSTOCK_DOUBLE);
}
static penstock_status shape_differs(void) {
  return put_block(10 * size + (last() ? 1 : 0), 10 * rank, 10, PENSTOCK_DOUBLE);
}
static penstock_status hole(void) { return put_block(10 * size + 7, 10 * rank, 10, PENSTOCK_DOUBLE); }
static penstock_status overlap(void) { return put_block(10 * size - 1, rank ? 10 * rank - 1 : 0, 10, PENSTOCK_DOUBLE); }
/* Element 5 twice, element 15 not at all: the count is right. */
static penstock_status hole_and_overlap(void) {
  return put_block(10 * size, rank == 1 ? 5 : 10 * rank, 10, PENSTOCK_DOUBLE);
}

static penstock_status two_blocks(int64_t second, penstock_type type) {
  static const double zeros[8];
  penstock_file *f = NULL;
  penstock_decomposition *a = NULL, *b = NULL;
  penstock_status status = create(&f);
  if (status) return status;
  penstock_block(1, (int64_t[]){8}, (int64_t[]){0}, (int64_t[]){rank == 0 ? 4 : 0}, &a);
  penstock_block(1, (int64_t[]){8}, (int64_t[]){second}, (int64_t[]){rank == 0 ? 4 : 0}, &b);
  penstock_put(f, "rho", PENSTOCK_DOUBLE, a, zeros, NULL);
  if (rank == 0) penstock_put(f, "rho", type, b, zeros, NULL);
  penstock_free(a), penstock_free(b);
  return penstock_close(f);
}

static penstock_status one_rank_twice(void) { return two_blocks(2, PENSTOCK_DOUBLE); }
static penstock_status one_rank_two_types(void) { return two_blocks(4, PENSTOCK_INT64); }

static penstock_status attribute_differs(void) {
  penstock_file *f = NULL;
  penstock_status status = create(&f);
  if (!status) penstock_attribute(f, "/", "units", last() ? "cm" : "m");
  return finish(status, &f);
}

/* COUNT numbers, of which the one before the last differs; below 0 one number. */
static penstock_status numbers_differ(int64_t count) {
  double numbers[20] = {0};
  numbers[count < 0 ? 0 : count - 2] = last() ? 0.25 : 0.5;
  penstock_file *f = NULL;
  penstock_status status = create(&f);
  if (!status) penstock_attribute_array(f, "/", "time", PENSTOCK_DOUBLE, count, numbers);
  return finish(status, &f);
}

static penstock_status number_differs(void) { return numbers_differ(-1); }
static penstock_status list_differs(void) { return numbers_differ(20); }

static penstock_status attribute_types_differ(void) {
  penstock_file *f = NULL;
  penstock_status status = create(&f);
  if (!status)
    penstock_attribute_array(f, "/", "step", last() ? PENSTOCK_INT64 : PENSTOCK_INT32, -1,
                             last() ? (const void *)&(int64_t){4} : &(int32_t){4});
  return finish(status, &f);
}

static penstock_status replicas_differ(void) {
  double data[6] = {1, 2, 3, 4, 5, last() ? 7 : 6};
  penstock_file *f = NULL;
  penstock_decomposition *d = NULL;
  penstock_status status = create(&f);
  if (status) return status;
  penstock_replicated(1, (int64_t[]){6}, &d);
  penstock_put(f, "grid", PENSTOCK_DOUBLE, d, data, NULL);
  penstock_free(d);
  return penstock_close(f);
}

static penstock_status sharing_differs(void) {
  double data[6] = {0};
  penstock_file *f = NULL;
  penstock_decomposition *d = NULL;
  penstock_status status = create(&f);
  if (status) return status;
  if (last())
    penstock_ragged(6, 0, NULL, &d);
  else
    penstock_replicated(1, (int64_t[]){6}, &d);
  penstock_put(f, "grid", PENSTOCK_DOUBLE, d, data, NULL);
  penstock_free(d);
  return penstock_close(f);
}

/* One rank makes a mistake in a local call, gets the error at once, and goes on. Then commit fails on all ranks with
 * its cause. */
static penstock_status mistake_of_one(void) {
  double data[4] = {0};
  penstock_file *f = NULL;
  penstock_decomposition *d = NULL;
  penstock_status status = create(&f);
  if (status) return status;
  status = penstock_block(1, (int64_t[]){4 * size}, (int64_t[]){4 * rank}, (int64_t[]){last() ? 40 : 4}, &d);
  CHECK(status == (last() ? PENSTOCK_INVALID : PENSTOCK_OK));
  status = penstock_put(f, "rho", PENSTOCK_DOUBLE, d, data, NULL);
  CHECK(status == (last() ? PENSTOCK_INVALID : PENSTOCK_OK));
  penstock_free(d);
  return penstock_close(f);
}

static penstock_status capture_limit(void) {
  static double data[1000];
  penstock_file *f = NULL;
  penstock_decomposition *d = NULL;
  penstock_status status = create(&f);
  if (status) return status;
  penstock_capture_bytes(f, last() ? 1000 : 100000);
  penstock_block(1, (int64_t[]){1000 * size}, (int64_t[]){1000 * rank}, (int64_t[]){1000}, &d);
  status = penstock_put(f, "rho", PENSTOCK_DOUBLE, d, data, NULL);
  CHECK(status == (last() ? PENSTOCK_MEMORY : PENSTOCK_OK));
  penstock_free(d);
  return penstock_close(f);
}

/* Lending is not captured, so no limit stops it. */
static penstock_status lend_has_no_limit(void) {
  static double data[1000];
  penstock_file *f = NULL;
  penstock_decomposition *d = NULL;
  penstock_status status = create(&f);
  if (status) return status;
  penstock_capture_bytes(f, 0);
  penstock_block(1, (int64_t[]){1000 * size}, (int64_t[]){1000 * rank}, (int64_t[]){1000}, &d);
  CHECK_OK(penstock_lend(f, "rho", PENSTOCK_DOUBLE, d, data, NULL));
  penstock_free(d);
  status = penstock_close(f);
  barrier();
  if (rank == 0) remove(in_folder("new.h5"));
  return status;
}

static penstock_status after_a_failed_commit(void) {
  double data[4] = {0};
  penstock_file *f = NULL;
  penstock_decomposition *d = NULL;
  penstock_status status = create(&f);
  if (status) return status;
  penstock_block(1, (int64_t[]){4 * size + 1}, (int64_t[]){4 * rank}, (int64_t[]){4}, &d);
  penstock_put(f, "rho", PENSTOCK_DOUBLE, d, data, NULL);
  CHECK_IS(penstock_commit(f), PENSTOCK_INCOMPLETE);
  CHECK(penstock_put(f, "rho", PENSTOCK_DOUBLE, d, data, NULL) != PENSTOCK_OK);
  CHECK(strlen(penstock_message()) > 0);
  CHECK(penstock_commit(f) != PENSTOCK_OK);
  penstock_free(d);
  return penstock_close(f);
}

static penstock_status dataset_and_group(void) {
  double one = 1;
  penstock_file *f = NULL;
  penstock_decomposition *d = NULL;
  penstock_status status = create(&f);
  if (status) return status;
  penstock_replicated(0, NULL, &d);
  penstock_put(f, last() ? "fluid" : "fluid/rho", PENSTOCK_DOUBLE, d, &one, NULL);
  if (size == 1) penstock_put(f, "fluid/rho", PENSTOCK_DOUBLE, d, &one, NULL);
  penstock_free(d);
  return penstock_close(f);
}

static penstock_status paths_differ(void) {
  penstock_file *f = NULL;
  return finish(penstock_create(world, in_folder(last() ? "this.h5" : "that.h5"), NULL, &f), &f);
}

static penstock_status plans_differ(void) {
  penstock_file *f = NULL;
  return finish(penstock_create(world, in_folder("new.h5"), last() ? "hdf5/independent" : "hdf5/two_phase", &f), &f);
}

static penstock_status a_bad_plan_on_one(void) {
  penstock_file *f = NULL;
  return finish(penstock_create(world, in_folder("new.h5"), last() ? "hdf5/hyperspace" : NULL, &f), &f);
}

static penstock_status no_path_on_one(void) {
  penstock_file *f = NULL;
  return finish(penstock_create(world, last() ? NULL : in_folder("new.h5"), NULL, &f), &f);
}

static penstock_status ragged_overflows(void) {
  penstock_file *f = NULL;
  penstock_decomposition *d = NULL;
  penstock_status status = create(&f);
  if (status) return status;
  /* Nothing so long can be lent truthfully; the sum is refused before a byte is looked at. */
  penstock_ragged(INT64_MAX / 16, 0, NULL, &d);
  penstock_lend(f, "list", PENSTOCK_DOUBLE, d, &d, NULL);
  penstock_lend(f, "list", PENSTOCK_DOUBLE, d, &d, NULL);
  penstock_free(d);
  return penstock_close(f);
}

/* Each rank's communicator is itself, but its block is a part of what all ranks have. */
static penstock_status communicator_of_one(void) {
#if PENSTOCK_HAVE_MPI
  const penstock_comm everybody = world;
  world = MPI_COMM_SELF;
  const penstock_status status = put_block(10 * size, 0, 10, PENSTOCK_DOUBLE);
  world = everybody;
  return status;
#else
  return PENSTOCK_INCOMPLETE;
#endif
}

static const Case alone[] = {
    {"a hole", hole, PENSTOCK_INCOMPLETE, {"rho"}},
    {"one rank puts elements twice", one_rank_twice, PENSTOCK_OVERLAP, {"rho", "(2)", "rank 0"}},
    {"one rank puts two types", one_rank_two_types, PENSTOCK_MISMATCH, {"rho", "f64", "i64"}},
    {"a mistake in a local call", mistake_of_one, PENSTOCK_INVALID, {NULL}},
    {"the capture limit", capture_limit, PENSTOCK_MEMORY, {"lend"}},
    {"lending has no limit", lend_has_no_limit, PENSTOCK_OK, {NULL}},
    {"after a failed commit", after_a_failed_commit, PENSTOCK_INCOMPLETE, {NULL}},
    {"a name is a dataset and a group", dataset_and_group, PENSTOCK_INVALID, {"fluid"}},
    {"a ragged list of more than 63 bits", ragged_overflows, PENSTOCK_INVALID, {"list"}},
};

static const Case together[] = {
    {"types differ", type_differs, PENSTOCK_MISMATCH, {"rho", "f64", "f32"}},
    {"shapes differ", shape_differs, PENSTOCK_MISMATCH, {"rho"}},
    {"attributes differ", attribute_differs, PENSTOCK_MISMATCH, {"units", "'m'", "'cm'"}},
    {"numbers of attributes differ", number_differs, PENSTOCK_MISMATCH, {"'time'", "is 0.5 on", "but 0.25 on"}},
    {"lists of attributes differ", list_differs, PENSTOCK_MISMATCH, {"is 0.5 at (18) on", "but 0.25 at (18) on"}},
    {"types of attributes differ", attribute_types_differ, PENSTOCK_MISMATCH, {"is i32 4 on", "but i64 4 on"}},
    {"replicated data differ", replicas_differ, PENSTOCK_MISMATCH, {"grid"}},
    {"decompositions of two kinds", sharing_differs, PENSTOCK_MISMATCH, {"grid", "ragged", "replicated"}},
    {"two ranks claim an element", overlap, PENSTOCK_OVERLAP, {"rho", "(9)", "0 and 1"}},
    {"a hole and an overlap", hole_and_overlap, PENSTOCK_OVERLAP, {"rho", "(5)"}},
    {"paths differ", paths_differ, PENSTOCK_MISMATCH, {"this.h5", "that.h5"}},
    {"plans differ", plans_differ, PENSTOCK_MISMATCH, {"independent", "two_phase"}},
    {"a plan of unknown words on one rank", a_bad_plan_on_one, PENSTOCK_MISMATCH, {"hyperspace"}},
    {"no path on one rank", no_path_on_one, PENSTOCK_MISMATCH, {"new.h5"}},
    {"MPI_COMM_SELF", communicator_of_one, PENSTOCK_INCOMPLETE, {"rho", "has 1 of the program's"}},
};

int main(int argc, char **argv) {
  ranks_begin(&argc, &argv);
  run_cases(alone, sizeof alone / sizeof *alone);
  if (size > 1) run_cases(together, sizeof together / sizeof *together);
  return ranks_end("errors_ranks");
}
