/* series.c: series (output over time, with steps counted from 1) and provenance. */
#include <stdlib.h>
#include <string.h>

#include "files.h"

static penstock_status refuse_no_series(const char *doing) {
  return refuse(NULL, PENSTOCK_INVALID,
                "%s: the series is not open: call penstock_series_create or penstock_series_open first", doing);
}

static penstock_series *opened(penstock_series *const *series, const char *doing) {
  if (*series == NULL) end_call(refuse_no_series(doing), NULL);
  return *series;
}

void penstock_fortran_series_create(const Handle *handle, const CFI_cdesc_t *pattern, penstock_series **series,
                                    const CFI_cdesc_t *plan, const CFI_cdesc_t *options, int *ierr) {
  penstock_comm comm;
  *series = NULL;
  penstock_status status = communicator_of(handle, &comm);
  if (status == PENSTOCK_OK) {
    char *names = text_of(pattern), *how = text_of(plan), *rules = text_of(options);
    status = penstock_series_create(comm, names, how, rules, series);
    free(names);
    free(how);
    free(rules);
  }
  end_call(status, ierr);
}

static void open_series(const Handle *handle, const CFI_cdesc_t *pattern, penstock_series **series, int *ierr) {
  penstock_comm comm;
  *series = NULL;
  penstock_status status = communicator_of(handle, &comm);
  if (status == PENSTOCK_OK) {
    char *names = text_of(pattern);
    status = penstock_series_open(comm, names, series);
    free(names);
  }
  end_call(status, ierr);
}

void penstock_fortran_series_open(const Handle *comm, const CFI_cdesc_t *pattern, penstock_series **series, int *ierr) {
  open_series(comm, pattern, series, ierr);
}

void penstock_fortran_series_open_alone(const CFI_cdesc_t *pattern, penstock_series **series, int *ierr) {
  open_series(NULL, pattern, series, ierr);
}

void penstock_fortran_due(penstock_series *const *series, int64_t iteration, double time, int *due, int *ierr) {
  *due = 0;
  end_call(*series == NULL ? refuse_no_series("penstock_due") : penstock_due(*series, iteration, time, due), ierr);
}

/* --- files of steps: MADE, which may be NULL, becomes FILE if STATUS is ok --- */

static void give(File *made, penstock_status status, File **file, int *ierr) {
  *file = status == PENSTOCK_OK ? made : NULL;
  if (*file == NULL) free(made);
  end_call(status, ierr);
}

void penstock_fortran_series_step(penstock_series *const *series, int64_t iteration, double time, File **file,
                                  int *ierr) {
  File *made = calloc(1, sizeof *made);
  give(made,
       *series == NULL ? refuse_no_series("penstock_series_step")
                       : penstock_series_step(*series, iteration, time, made != NULL ? &made->file : NULL),
       file, ierr);
}

/* INDEX as in C; -1 if there is no such step, so that the call rejects it on all ranks and none waits. */
static int64_t from_0(const penstock_series *series, int64_t index) {
  return index >= 1 && index <= penstock_series_steps(series) ? index - 1 : -1;
}

static penstock_status refuse_index(const penstock_series *series, const char *doing, int64_t index) {
  return refuse(NULL, PENSTOCK_INVALID, "%s: there is no step %lld: the series has %lld, from 1", doing,
                (long long)index, (long long)penstock_series_steps(series));
}

void penstock_fortran_series_open_step(penstock_series *const *series, int64_t index, File **file,
                                       const CFI_cdesc_t *plan, int *ierr) {
  const char *doing = "penstock_series_open_step";
  penstock_status status;
  File *made = calloc(1, sizeof *made);
  if (*series == NULL) {
    status = refuse_no_series(doing);
  } else {
    char *how = text_of(plan);
    const int64_t at = from_0(*series, index);
    status = penstock_series_open_step(*series, at, how, made != NULL ? &made->file : NULL);
    if (at < 0) status = refuse_index(*series, doing, index);
    free(how);
  }
  give(made, status, file, ierr);
}

/* --- which steps there are --- */

int64_t penstock_fortran_series_steps(penstock_series *const *series) {
  return penstock_series_steps(opened(series, "penstock_series_steps"));
}

const char *penstock_fortran_series_warnings(penstock_series *const *series) {
  return penstock_series_warnings(opened(series, "penstock_series_warnings"));
}

/* MOST and LATEST: the largest values of the caller's integer and real. PATH is NULL if there is no such step. */
void penstock_fortran_series_describe(penstock_series *const *series, int64_t index, int64_t most, double latest,
                                      int64_t *iteration, double *time, const char **path, int *ierr) {
  const char *doing = "penstock_series_describe";
  int64_t number = 0;
  double moment = 0;
  penstock_status status;
  *path = NULL;
  *iteration = 0;
  *time = 0;
  if (*series == NULL)
    status = refuse_no_series(doing);
  else if (from_0(*series, index) < 0)
    status = refuse_index(*series, doing, index);
  else
    status = penstock_series_describe(*series, from_0(*series, index), &number, &moment, path);
  if (status == PENSTOCK_OK && number > most)
    status = refuse(NULL, PENSTOCK_INVALID, "%s: iteration %lld needs integer(int64)", doing, (long long)number);
  if (status == PENSTOCK_OK && (moment > latest || moment < -latest))
    status = refuse(NULL, PENSTOCK_INVALID, "%s: time %g needs real(real64)", doing, moment);
  if (status == PENSTOCK_OK) {
    *iteration = number;
    *time = moment;
  }
  end_call(status, ierr);
}

void penstock_fortran_series_close(penstock_series **series, int *ierr) {
  const penstock_status status =
      *series == NULL ? refuse_no_series("penstock_series_close") : penstock_series_close(*series);
  *series = NULL;
  end_call(status, ierr);
}

/* --- provenance --- */

/* A C text ends at its first NUL; a text that a program read from a file may contain one. */
static penstock_status refuse_nul(File *file, const char *key, const char *text) {
  return refuse(file, PENSTOCK_INVALID, "penstock_provenance '%.100s': character %zu is a NUL: a text has none", key,
                strlen(text) + 1);
}

void penstock_fortran_provenance(File *const *file, const CFI_cdesc_t *key, const CFI_cdesc_t *text, int *ierr) {
  penstock_status status;
  if (*file == NULL) {
    status = refuse_closed("penstock_provenance");
  } else {
    char *name = text_of(key), *value = text_of(text);
    if (name != NULL && value != NULL && text->elem_len > 0 && memchr(text->base_addr, 0, text->elem_len) != NULL)
      status = refuse_nul(*file, name, value);
    else
      status = penstock_provenance((*file)->file, name, value);
    free(name);
    free(value);
  }
  end_local_call(*file, status, ierr);
}

void penstock_fortran_provenance_collect(File *const *file, int *ierr) {
  end_local_call(
      *file, *file == NULL ? refuse_closed("penstock_provenance_collect") : penstock_provenance_collect((*file)->file),
      ierr);
}
