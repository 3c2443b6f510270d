/* checkpoint.c: all calls of penstock in the solver. */
#include "checkpoint.h"

#include <penstock.h>

/* A call that fails on one rank makes the collective close fail on all of them, so only close is checked. */

/* This rank's block of the plate, and its place between the ghost cells. */
static penstock_status block(const Plate *p, penstock_decomposition **d) {
  return penstock_block(2, (int64_t[]){p->n, p->n}, (int64_t[]){p->y0, p->x0}, (int64_t[]){p->ny, p->nx}, d);
}

#define INSIDE_GHOSTS(p) \
  (&(penstock_memory){.shape = (int64_t[]){(p)->ny + 2, (p)->nx + 2}, .start = (int64_t[]){1, 1}})

int checkpoint_write(const char *path, const char *plan, const Plate *p) {
  penstock_file *file;
  penstock_decomposition *d = NULL;
  penstock_status status = penstock_create(p->comm, path, plan, &file);
  if (status) return status;

  block(p, &d);
  penstock_lend(file, "temperature", PENSTOCK_DOUBLE, d, p->now, INSIDE_GHOSTS(p)); /* no copy is made */
  penstock_attribute(file, "temperature", "units", "K");
  penstock_attribute_array(file, "/", "step", PENSTOCK_INT64, -1, &p->step);
  penstock_attribute_array(file, "/", "residual", PENSTOCK_DOUBLE, -1, &p->residual);
  penstock_attribute_array(file, "/", "time", PENSTOCK_DOUBLE, -1, &p->time);
  penstock_free(d);
  return penstock_close(file); /* the whole new file, or the old one */
}

int checkpoint_size(MPI_Comm comm, const char *path, int64_t *n) {
  penstock_file *file;
  int64_t shape[8] = {0};
  penstock_status status = penstock_open(comm, path, NULL, &file);
  if (status) return status;
  status = penstock_describe(file, "temperature", NULL, NULL, shape, NULL);
  *n = shape[0];
  if (status)
    penstock_abandon(file); /* the same on all ranks, since all of them know the contents */
  else
    status = penstock_close(file);
  return status;
}

int checkpoint_read(const char *path, const char *plan, Plate *p) {
  penstock_file *file;
  penstock_decomposition *d = NULL;
  penstock_status status = penstock_open(p->comm, path, plan, &file);
  if (status) return status;

  block(p, &d);
  penstock_get(file, "temperature", PENSTOCK_DOUBLE, d, p->now, INSIDE_GHOSTS(p));
  penstock_attribute_get(file, "/", "step", PENSTOCK_INT64, &p->step, sizeof p->step);
  penstock_attribute_get(file, "/", "residual", PENSTOCK_DOUBLE, &p->residual, sizeof p->residual);
  penstock_attribute_get(file, "/", "time", PENSTOCK_DOUBLE, &p->time, sizeof p->time);
  penstock_free(d);
  return penstock_close(file);
}

const char *checkpoint_message(void) { return penstock_message(); }
