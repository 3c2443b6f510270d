/* inquiry.c: describes the contents of an open file, in Fortran's order of dimensions. */
#include <stdlib.h>

#include "files.h"

static penstock_file *opened(File *const *file, const char *doing) {
  if (*file != NULL) return (*file)->file;
  end_call(refuse_closed(doing), NULL);
  return NULL;
}

int64_t penstock_fortran_count(File *const *file) { return penstock_count(opened(file, "penstock_count")); }
const char *penstock_fortran_plan(File *const *file) { return penstock_plan(opened(file, "penstock_plan")); }
const char *penstock_fortran_path(File *const *file) { return penstock_path(opened(file, "penstock_path")); }
const char *penstock_fortran_warnings(File *const *file) {
  return penstock_warnings(opened(file, "penstock_warnings"));
}

/* INDEX counts from 1. */
const char *penstock_fortran_name(File *const *file, int64_t index) {
  const char *name = penstock_name(opened(file, "penstock_name"), index - 1);
  if (name == NULL)
    end_call(refuse(NULL, PENSTOCK_INVALID, "penstock_name: there is no dataset %lld: the file has %lld",
                    (long long)index, (long long)penstock_count((*file)->file)),
             NULL);
  return name;
}

void penstock_fortran_describe(File *const *file, const CFI_cdesc_t *name, int *rank, int64_t *shape, int *type,
                               int *length, int *unlimited, int *ierr) {
  penstock_type found = PENSTOCK_INT8;
  int64_t extent[MOST_DIMENSIONS];
  penstock_status status;
  *rank = 0;
  if (*file == NULL) {
    status = refuse_closed("penstock_describe");
  } else {
    char *dataset = text_of(name);
    status = penstock_describe((*file)->file, dataset, &found, rank, extent, unlimited);
    free(dataset);
  }
  if (status == PENSTOCK_OK) {
    for (int i = 0; i < *rank; i++) shape[i] = extent[*rank - 1 - i];
    *type = (int)found;
    *length = found > PENSTOCK_TEXT(0) ? (int)(found - PENSTOCK_TEXT(0)) : 0;
  }
  end_call(status, ierr);
}

/* INDEX counts from 1, in Fortran's order. */
const char *penstock_fortran_dimension(File *const *file, const CFI_cdesc_t *name, int index) {
  penstock_file *opened_file = opened(file, "penstock_dimension");
  char *dataset = text_of(name);
  int rank = 0;
  const bool there = penstock_describe(opened_file, dataset, NULL, &rank, NULL, NULL) == PENSTOCK_OK;
  const char *found = there ? penstock_dimension(opened_file, dataset, rank - index) : "";
  free(dataset);
  return found;
}
