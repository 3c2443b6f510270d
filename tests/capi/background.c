/* background.c: a commit in three calls. What is put meanwhile belongs to the next commit. Errors come from the wait,
 * and are the same on all ranks. */
#include <sys/stat.h>
#include <unistd.h>

#include "ranks.h"

enum { rows = 1000 };

static penstock_decomposition *part(void) {
  penstock_decomposition *d = NULL;
  CHECK_OK(
      penstock_block(1, (int64_t[]){(int64_t)rows * size}, (int64_t[]){(int64_t)rows * rank}, (int64_t[]){rows}, &d));
  return d;
}

static void fill(double *data, int step) {
  for (int i = 0; i < rows; i++) data[i] = 1e6 * step + (double)rows * rank + i;
}

static void check_step(const char *path, int step) {
  penstock_file *f = NULL;
  penstock_decomposition *d = part();
  double data[rows], expected[rows];
  fill(expected, step);
  memset(data, 0, sizeof data);
  CHECK_OK(penstock_open(world, path, NULL, &f));
  CHECK_OK(penstock_get(f, "data", PENSTOCK_DOUBLE, d, data, NULL));
  CHECK_OK(penstock_close(f));
  CHECK(memcmp(data, expected, sizeof data) == 0);
  penstock_free(d);
}

/* Three checkpoints over one another in one open file, each put while the one before is on its way. */
static void steps(const char *plan, int wait) {
  const char *path = in_folder("steps.h5");
  penstock_file *f = NULL;
  penstock_decomposition *d = part();
  double data[rows];
  int done = -1;
  CHECK_OK(penstock_create(world, path, plan, &f));
  CHECK_OK(penstock_commit_wait(f)); /* nothing is under way */
  CHECK_OK(penstock_commit_test(f, &done));
  CHECK(done == 1);
  for (int step = 0; step < 3; step++) {
    fill(data, step);
    CHECK_OK(penstock_put(f, "data", PENSTOCK_DOUBLE, d, data, NULL));
    memset(data, 0, sizeof data); /* it was captured */
    CHECK_OK(penstock_commit_start(f));
    for (int turn = 0; turn < 5; turn++) CHECK_OK(penstock_commit_test(f, &done));
    if (wait) CHECK_OK(penstock_commit_wait(f));
    if (wait) check_step(path, step);
  }
  CHECK_OK(penstock_close(f)); /* ends what is under way */
  check_step(path, 2);
  penstock_free(d);
}

/* The folder goes away between start and wait: the same error on every rank, and again until the file is closed. */
static void lost_folder(const char *plan) {
  char sub[4096], path[4200], moved[4200];
  snprintf(sub, sizeof sub, "%s/sub", folder());
  snprintf(path, sizeof path, "%s/lost.h5", sub);
  snprintf(moved, sizeof moved, "%s/moved", folder());
  if (rank == 0) CHECK(mkdir(sub, 0700) == 0);
  barrier();
  penstock_file *f = NULL;
  penstock_decomposition *d = part();
  double data[rows];
  fill(data, 0);
  CHECK_OK(penstock_create(world, path, plan, &f));
  CHECK_OK(penstock_lend(f, "data", PENSTOCK_DOUBLE, d, data, NULL));
  CHECK_OK(penstock_commit_start(f));
  int done = 0;
  for (int turn = 0; turn < 2000 && !done; turn++) {
    CHECK_OK(penstock_commit_test(f, &done));
    usleep(100);
  }
  barrier();
  if (rank == 0) CHECK(rename(sub, moved) == 0);
  barrier();
  const penstock_status status = penstock_commit_wait(f);
  CHECK(status != PENSTOCK_OK);
  CHECK(lowest(status) == highest(status));
  CHECK(strstr(penstock_message(), "lost.h5") != NULL);
  CHECK_IS(penstock_commit_start(f), status);
  CHECK_IS(penstock_close(f), status);
  penstock_free(d);
  barrier();
  if (rank == 0) {
    char command[4300];
    snprintf(command, sizeof command, "rm -rf '%s'", moved);
    CHECK(system(command) == 0);
  }
  barrier();
}

/* Abandoned half-way: nothing is published, nothing is left over. */
static void abandoned(const char *plan) {
  const char *path = in_folder("never.h5");
  penstock_file *f = NULL;
  penstock_decomposition *d = part();
  double data[rows];
  fill(data, 0);
  CHECK_OK(penstock_create(world, path, plan, &f));
  CHECK_OK(penstock_put(f, "data", PENSTOCK_DOUBLE, d, data, NULL));
  CHECK_OK(penstock_commit_start(f));
  penstock_abandon(f);
  barrier();
  CHECK(access(path, F_OK) != 0);
  penstock_free(d);
}

int main(int argc, char **argv) {
  ranks_begin(&argc, &argv);
  static const char *plans[] = {"hdf5/two_phase", "hdf5/independent", "hdf5/two_phase:writers=1,buffer_bytes=4096"};
  for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
    steps(plans[i], 1);
    steps(plans[i], 0);
    lost_folder(plans[i]);
    abandoned(plans[i]);
  }
  CHECK_IS(penstock_commit_start(NULL), PENSTOCK_INVALID);
  CHECK_IS(penstock_commit_test(NULL, NULL), PENSTOCK_INVALID);
  CHECK_IS(penstock_commit_wait(NULL), PENSTOCK_INVALID);
  return ranks_end("background");
}
