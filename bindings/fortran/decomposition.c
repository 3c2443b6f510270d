/* decomposition.c: decompositions in Fortran's order of dimensions, counted from 1. */
#include <stdlib.h>
#include <string.h>

#include "glue.h"

static void reverse(int rank, const int64_t *from, int64_t *to) {
  for (int i = 0; i < rank; i++) to[i] = from[rank - 1 - i];
}

static penstock_status made(penstock_status status, Form form, int rank, const int64_t *start, const int64_t *count,
                            Part *part) {
  part->form = form;
  part->rank = rank;
  for (int i = 0; i < rank; i++) {
    part->start[i] = start != NULL ? start[i] : 1;
    part->count[i] = count[i];
  }
  return status;
}

/* Reports in Fortran's terms the errors that penstock_block reports in C's terms. */
static penstock_status check_block(File *file, const char *doing, int rank, const int64_t *shape, const int64_t *start,
                                   const int64_t *count) {
  for (int i = 0; i < rank; i++) {
    if (shape[i] < 0)
      return refuse(file, PENSTOCK_INVALID, "%s: shape(%d) is %lld: extents are not negative", doing, i + 1,
                    (long long)shape[i]);
    if (count[i] < 0)
      return refuse(file, PENSTOCK_INVALID, "%s: count(%d) is %lld: it cannot be negative", doing, i + 1,
                    (long long)count[i]);
    if (start[i] < 1)
      return refuse(file, PENSTOCK_INVALID, "%s: start(%d) is %lld: starts count from 1", doing, i + 1,
                    (long long)start[i]);
    if (count[i] > 0 && (start[i] > shape[i] || count[i] > shape[i] - start[i] + 1))
      return refuse(file, PENSTOCK_INVALID, "%s: %lld elements from start(%d)=%lld on do not fit into shape(%d)=%lld",
                    doing, (long long)count[i], i + 1, (long long)start[i], i + 1, (long long)shape[i]);
  }
  return PENSTOCK_OK;
}

penstock_status make_block(File *file, const char *doing, int rank, const int64_t *shape, const int64_t *start,
                           const int64_t *count, Part *part) {
  const penstock_status checked = check_block(file, doing, rank, shape, start, count);
  if (checked != PENSTOCK_OK) return checked;
  int64_t c_shape[MOST_DIMENSIONS], c_start[MOST_DIMENSIONS], c_count[MOST_DIMENSIONS];
  reverse(rank, shape, c_shape);
  reverse(rank, start, c_start);
  reverse(rank, count, c_count);
  for (int i = 0; i < rank; i++) c_start[i]--;
  const penstock_status status = penstock_block(rank, c_shape, c_start, c_count, &part->part);
  return status == PENSTOCK_OK ? made(status, BOX, rank, start, count, part)
                               : refuse(file, status, "%s: %s", doing, penstock_message());
}

penstock_status make_replicated(File *file, int rank, const int64_t *shape, Part *part) {
  int64_t c_shape[MOST_DIMENSIONS] = {0};
  reverse(rank, shape, c_shape);
  const penstock_status status = penstock_replicated(rank, c_shape, &part->part);
  return status == PENSTOCK_OK ? made(status, REPLICATED, rank, NULL, shape, part)
                               : refuse(file, status, "%s", penstock_message());
}

/* --- entry points: NUMBERS are lists of integers of either kind --- */

/* Stores the new decomposition in D if STATUS is ok. */
static void give(const Part *part, penstock_status status, Part **d, int *ierr) {
  *d = status == PENSTOCK_OK ? malloc(sizeof **d) : NULL;
  if (*d != NULL) {
    **d = *part;
  } else if (status == PENSTOCK_OK) {
    penstock_free(part->part);
    status = refuse(NULL, PENSTOCK_MEMORY, "no memory for a decomposition");
  }
  end_call(status, ierr);
}

/* The lists of one call; all must be as long as the first. */
typedef struct Lists {
  int64_t *list[3];
  int64_t length[3];
} Lists;

static void free_lists(Lists *lists) {
  for (int i = 0; i < 3; i++) free(lists->list[i]);
}

static penstock_status read_lists(const char *doing, const CFI_cdesc_t *a, const CFI_cdesc_t *b, const CFI_cdesc_t *c,
                                  Lists *lists) {
  const CFI_cdesc_t *given[3] = {a, b, c};
  *lists = (Lists){{NULL}, {0}};
  for (int i = 0; i < 3 && given[i] != NULL; i++) {
    lists->list[i] = numbers_of(given[i], &lists->length[i]);
    if (lists->list[i] == NULL) return refuse(NULL, PENSTOCK_MEMORY, "%s: no memory", doing);
  }
  return lists->length[0] <= MOST_DIMENSIONS
             ? PENSTOCK_OK
             : refuse(NULL, PENSTOCK_INVALID, "%s: %lld extents: datasets have 0 to %d dimensions", doing,
                      (long long)lists->length[0], MOST_DIMENSIONS);
}

static penstock_status alike(const char *doing, const Lists *lists) {
  for (int i = 1; i < 3 && lists->list[i] != NULL; i++)
    if (lists->length[i] != lists->length[0])
      return refuse(NULL, PENSTOCK_INVALID, "%s: its arrays have %lld and %lld numbers: one for each dimension each",
                    doing, (long long)lists->length[0], (long long)lists->length[i]);
  return PENSTOCK_OK;
}

void penstock_fortran_block(const CFI_cdesc_t *shape, const CFI_cdesc_t *start, const CFI_cdesc_t *count, Part **d,
                            int *ierr) {
  Lists l;
  Part part = {0};
  penstock_status status = read_lists("penstock_block", shape, start, count, &l);
  if (status == PENSTOCK_OK) status = alike("penstock_block", &l);
  if (status == PENSTOCK_OK)
    status = make_block(NULL, "penstock_block", (int)l.length[0], l.list[0], l.list[1], l.list[2], &part);
  free_lists(&l);
  give(&part, status, d, ierr);
}

/* Computes the box, which the C library does not return; the module's checks and the program need it. The first blocks
 * take the remainder. */
static void cut_grid(int rank, const int64_t *shape, const int64_t *grid, int process, Part *part) {
  int64_t rest = process, processes = 1;
  for (int i = 0; i < rank; i++) processes *= grid[i];
  for (int i = 0; i < rank; i++) {
    const int64_t at = rest % grid[i], share = shape[i] / grid[i], longer = shape[i] % grid[i];
    rest /= grid[i];
    const bool inside = process < processes;
    part->start[i] = inside ? at * share + (at < longer ? at : longer) + 1 : 1;
    part->count[i] = inside ? share + (at < longer) : 0;
  }
  part->form = BOX;
  part->rank = rank;
}

void penstock_fortran_grid(const CFI_cdesc_t *shape, const CFI_cdesc_t *process_grid, const int *process, Part **d,
                           int *ierr) {
  Lists l;
  Part part = {0};
  penstock_status status = read_lists("penstock_grid", shape, process_grid, NULL, &l);
  if (status == PENSTOCK_OK) status = alike("penstock_grid", &l);
  if (status == PENSTOCK_OK) {
    const int rank = (int)l.length[0];
    int64_t c_shape[MOST_DIMENSIONS], c_grid[MOST_DIMENSIONS];
    reverse(rank, l.list[0], c_shape);
    reverse(rank, l.list[1], c_grid);
    status = penstock_grid(rank, c_shape, c_grid, *process, &part.part);
    if (status == PENSTOCK_OK) cut_grid(rank, l.list[0], l.list[1], *process, &part);
  }
  free_lists(&l);
  give(&part, status, d, ierr);
}

void penstock_fortran_boxes(const CFI_cdesc_t *shape, const CFI_cdesc_t *starts, const CFI_cdesc_t *counts, Part **d,
                            int *ierr) {
  const char *doing = "penstock_boxes";
  Lists l;
  Part part = {0};
  penstock_status status = read_lists(doing, shape, starts, counts, &l);
  const int rank = (int)l.length[0];
  const int64_t boxes = starts->dim[1].extent;
  if (status == PENSTOCK_OK &&
      (starts->dim[0].extent != rank || counts->dim[0].extent != rank || counts->dim[1].extent != boxes))
    status = refuse(NULL, PENSTOCK_INVALID, "%s: starts and counts are arrays (%d, boxes), a column for each box",
                    doing, rank);
  for (int64_t i = 0; i < boxes && status == PENSTOCK_OK; i++)
    status = check_block(NULL, doing, rank, l.list[0], l.list[1] + i * rank, l.list[2] + i * rank);
  if (status == PENSTOCK_OK) {
    int64_t c_shape[MOST_DIMENSIONS], column[MOST_DIMENSIONS];
    reverse(rank, l.list[0], c_shape);
    for (int64_t i = 0; i < boxes; i++)
      for (int which = 1; which < 3; which++) {
        int64_t *numbers = l.list[which] + i * rank;
        reverse(rank, numbers, column);
        for (int k = 0; k < rank; k++) numbers[k] = column[k] - (which == 1);
      }
    status = penstock_boxes(rank, c_shape, boxes, l.list[1], l.list[2], &part.part);
    part.form = LIST;
  }
  free_lists(&l);
  give(&part, status, d, ierr);
}

void penstock_fortran_runs(const CFI_cdesc_t *shape, const CFI_cdesc_t *offsets, const CFI_cdesc_t *lengths, Part **d,
                           int *ierr) {
  const char *doing = "penstock_runs";
  Lists l;
  Part part = {0};
  penstock_status status = read_lists(doing, shape, offsets, lengths, &l);
  if (status == PENSTOCK_OK && l.length[1] != l.length[2])
    status = refuse(NULL, PENSTOCK_INVALID, "%s: %lld offsets and %lld lengths: one of each for a run", doing,
                    (long long)l.length[1], (long long)l.length[2]);
  for (int64_t i = 0; i < l.length[1] && status == PENSTOCK_OK; i++)
    if (l.list[1][i]-- < 1)
      status = refuse(NULL, PENSTOCK_INVALID, "%s: offsets(%lld) is %lld: offsets count from 1", doing,
                      (long long)i + 1, (long long)l.list[1][i] + 1);
  if (status == PENSTOCK_OK) {
    int64_t c_shape[MOST_DIMENSIONS] = {0};
    reverse((int)l.length[0], l.list[0], c_shape);
    status = penstock_runs((int)l.length[0], c_shape, l.length[1], l.list[1], l.list[2], &part.part);
    part.form = LIST;
  }
  free_lists(&l);
  give(&part, status, d, ierr);
}

static void rows_of(const char *doing, Form form, int64_t rows, const CFI_cdesc_t *row, Part **d, int *ierr) {
  Lists l;
  Part part = {0};
  penstock_status status = read_lists(doing, row, NULL, NULL, &l);
  if (status == PENSTOCK_OK && l.length[0] == MOST_DIMENSIONS)
    status =
        refuse(NULL, PENSTOCK_INVALID, "%s: rows of %d dimensions: with that of the rows itself there is one too many",
               doing, MOST_DIMENSIONS);
  if (status == PENSTOCK_OK) {
    const int rank = (int)l.length[0];
    int64_t c_row[MOST_DIMENSIONS], count[MOST_DIMENSIONS];
    if (rank > 0) reverse(rank, l.list[0], c_row);
    status =
        form == RAGGED ? penstock_ragged(rows, rank, c_row, &part.part) : penstock_per_rank(rank, c_row, &part.part);
    if (rank > 0) memcpy(count, l.list[0], (size_t)rank * sizeof *count);
    count[rank] = rows;
    made(status, form, rank + 1, NULL, count, &part);
  }
  free_lists(&l);
  give(&part, status, d, ierr);
}

void penstock_fortran_ragged_int32(const int32_t *rows, Part **d, const CFI_cdesc_t *row, int *ierr) {
  rows_of("penstock_ragged", RAGGED, *rows, row, d, ierr);
}

void penstock_fortran_ragged_int64(const int64_t *rows, Part **d, const CFI_cdesc_t *row, int *ierr) {
  rows_of("penstock_ragged", RAGGED, *rows, row, d, ierr);
}

void penstock_fortran_per_rank(const CFI_cdesc_t *row, Part **d, int *ierr) {
  rows_of("penstock_per_rank", PER_RANK, 1, row, d, ierr);
}

void penstock_fortran_replicated(const CFI_cdesc_t *shape, Part **d, int *ierr) {
  Lists l;
  Part part = {0};
  penstock_status status = read_lists("penstock_replicated", shape, NULL, NULL, &l);
  if (status == PENSTOCK_OK) status = make_replicated(NULL, (int)l.length[0], l.list[0], &part);
  free_lists(&l);
  give(&part, status, d, ierr);
}

/* --- properties of a decomposition --- */

static const char NOT_MADE[] =
    "the decomposition was not made: call penstock_block, penstock_grid or another of them first";

int64_t penstock_fortran_elements(Part *const *d) {
  if (*d == NULL) end_call(refuse(NULL, PENSTOCK_INVALID, "penstock_elements: %s", NOT_MADE), NULL);
  return penstock_elements((*d)->part);
}

static void put_number(const CFI_cdesc_t *list, int i, int64_t number) {
  char *at = (char *)list->base_addr + i * list->dim[0].sm;
  if (list->elem_len == sizeof(int32_t))
    *(int32_t *)at = (int32_t)number;
  else
    *(int64_t *)at = number;
}

void penstock_fortran_box(Part *const *d, const CFI_cdesc_t *start, const CFI_cdesc_t *count, int *ierr) {
  const Part *part = *d;
  penstock_status status = PENSTOCK_OK;
  if (part == NULL)
    status = refuse(NULL, PENSTOCK_INVALID, "penstock_box: %s", NOT_MADE);
  else if (part->form != BOX)
    status = refuse(NULL, PENSTOCK_INVALID, "penstock_box: only those of penstock_block and penstock_grid are one box");
  else if (start->dim[0].extent != part->rank || count->dim[0].extent != part->rank)
    status = refuse(NULL, PENSTOCK_INVALID, "penstock_box: start and count need %d numbers each", part->rank);
  for (int i = 0; status == PENSTOCK_OK && i < part->rank; i++) {
    if (start->elem_len == sizeof(int32_t) && (part->start[i] > INT32_MAX || part->count[i] > INT32_MAX)) {
      status = refuse(NULL, PENSTOCK_INVALID, "penstock_box: the box needs integer(int64)");
      break;
    }
    put_number(start, i, part->start[i]);
    put_number(count, i, part->count[i]);
  }
  end_call(status, ierr);
}

void penstock_fortran_free(Part **d) {
  if (*d == NULL) return;
  penstock_free((*d)->part);
  free(*d);
  *d = NULL;
}
