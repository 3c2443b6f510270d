/* after.c: every process passes its own data; no process holds more than that. */
#include <penstock.h>
#include <stdio.h>

#include "output.h"

static int failed(const Table *t) {
  int rank;
  MPI_Comm_rank(t->comm, &rank);
  if (rank == 0) fprintf(stderr, "%s\n", penstock_message());
  return 1;
}

static penstock_decomposition *own_rows(const Table *t) {
  penstock_decomposition *d = NULL;
  penstock_block(2, (int64_t[]){t->rows, t->columns}, (int64_t[]){t->first, 0}, (int64_t[]){t->count, t->columns}, &d);
  return d;
}

int write_output(const Table *t) {
  char name[40];
  penstock_file *f;
  snprintf(name, sizeof name, "table_%03lld.h5", (long long)t->step);
  if (penstock_create(t->comm, name, NULL, &f)) return failed(t);
  penstock_decomposition *d = own_rows(t);
  penstock_lend(f, "table", PENSTOCK_DOUBLE, d, t->values, NULL); /* what fails here fails close, on all processes */
  penstock_attribute_array(f, "/", "step", PENSTOCK_INT64, -1, &t->step);
  penstock_free(d);
  return penstock_close(f) ? failed(t) : 0;
}

int read_output(int step, Table *t) {
  char name[40];
  penstock_file *f;
  snprintf(name, sizeof name, "table_%03d.h5", step);
  if (penstock_open(t->comm, name, NULL, &f)) return failed(t);
  penstock_decomposition *d = own_rows(t);
  penstock_attribute_get(f, "/", "step", PENSTOCK_INT64, &t->step, sizeof t->step);
  penstock_get(f, "table", PENSTOCK_DOUBLE, d, t->values, NULL);
  penstock_free(d);
  return penstock_close(f) ? failed(t) : 0;
}
