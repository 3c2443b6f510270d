/* data.c: put, lend and get of arrays and sections of any rank, without a copy if their strides allow it. */
#include <stdio.h>
#include <stdlib.h>

#include "files.h"

typedef enum Operation { PUT, LEND, GET, GET_WIDENED } Operation;

static const char *const names[] = {"penstock_put", "penstock_lend", "penstock_get", "penstock_get_widened"};

/* One call: DOING begins its messages. */
typedef struct Call {
  File *file;
  Operation operation;
  const char *name;
  const char *doing;
} Call;

static penstock_status hand_over(const Call *call, const Array *a, const Part *part, const penstock_memory *memory) {
  switch (call->operation) {
    case PUT:
      return penstock_put(call->file->file, call->name, a->type, part->part, a->data, memory);
    case LEND:
      return penstock_lend(call->file->file, call->name, a->type, part->part, a->data, memory);
    case GET:
    case GET_WIDENED:
      break;
  }
  const penstock_status status =
      call->operation == GET ? penstock_get(call->file->file, call->name, a->type, part->part, a->data, memory)
                             : penstock_get_widened(call->file->file, call->name, a->type, part->part, a->data, memory);
  if (status == PENSTOCK_OK && a->text) return pad_when_filled(call->file, a);
  return status;
}

static penstock_status put_copy(const Call *call, const Array *a, const Part *part) {
  Array copy = *a;
  copy.data = packed(a);
  if (copy.data == NULL) return refuse(call->file, PENSTOCK_MEMORY, "%s: no memory for a copy", call->doing);
  const penstock_status status = hand_over(call, &copy, part, NULL);
  free(copy.data);
  return status;
}

/* Uses the data in place: STRIDE is its layout, in elements and in C order. */
static penstock_status hand_over_strided(const Call *call, const Array *a, const Part *part) {
  int64_t stride[MOST_DIMENSIONS];
  stride[0] = 1; /* of the one row of per_rank */
  const int first = part->rank - a->rank;
  for (int i = 0; i < a->rank; i++) {
    const int64_t bytes = a->extent[i] > 1 ? a->bytes[i] : a->element_bytes;
    if (bytes < 0)
      return refuse(call->file, PENSTOCK_INVALID,
                    "%s: the section runs backwards in dimension %d: take one that runs forwards", call->doing, i + 1);
    if (bytes % a->element_bytes != 0)
      return refuse(call->file, PENSTOCK_INVALID,
                    "%s: elements %lld bytes apart, which is no multiple of their %lld: use an "
                    "array of its own, not a component of derived types",
                    call->doing, (long long)bytes, (long long)a->element_bytes);
    stride[first + a->rank - 1 - i] = bytes / a->element_bytes;
  }
  return hand_over(call, a, part, &(penstock_memory){.stride = stride});
}

static bool has_forward_strides(const Array *a) {
  for (int i = 0; i < a->rank; i++)
    if (a->extent[i] > 1 && (a->bytes[i] < 0 || a->bytes[i] % a->element_bytes != 0)) return false;
  return true;
}

static penstock_status move_part(const Call *call, const Array *a, const Part *part) {
  if (call->operation == PUT && a->text) return put_copy(call, a, part); /* blanks become NULs */
  if (is_contiguous(a)) return hand_over(call, a, part, NULL);
  if (call->operation == PUT && (part->form == LIST || !has_forward_strides(a))) return put_copy(call, a, part);
  if (part->form == LIST)
    return refuse(call->file, PENSTOCK_INVALID,
                  "%s: boxes and runs lie one after another in memory: pass a contiguous array", call->doing);
  return hand_over_strided(call, a, part);
}

/* "(3,4)". */
static const char *extents(int rank, const int64_t *extent, char *text, size_t size) {
  size_t used = (size_t)snprintf(text, size, "(");
  for (int i = 0; i < rank && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, i ? ",%lld" : "%lld", (long long)extent[i]);
  if (used < size) snprintf(text + used, size - used, ")");
  return text;
}

/* Whether the extents of A are those of this rank's part PART, or factor the same elements in the same order. FITTING
 * is A with the extents of PART. If the part is empty, any array without elements fits. */
static penstock_status fit(const Call *call, const Array *a, const Part *part, Array *fitting) {
  *fitting = *a;
  const int64_t elements = penstock_elements(part->part);
  bool fits = a->elements == elements;
  if (part->form == LIST && !fits)
    return refuse(call->file, PENSTOCK_INVALID, "%s: the array has %lld elements, the decomposition %lld", call->doing,
                  (long long)a->elements, (long long)elements);
  if (part->form != LIST && !(fits && elements == 0)) {
    const int rank = part->form == PER_RANK && a->rank == part->rank - 1 ? part->rank - 1 : part->rank;
    fits = a->rank == rank;
    for (int i = 0; fits && i < rank; i++) fits = a->extent[i] == part->count[i];
    if (a->rank != rank && a->elements == elements) fits = regroup(a, part->rank, part->count, fitting);
  }
  char is[200], wanted[200];
  return fits ? PENSTOCK_OK
              : refuse(call->file, PENSTOCK_MISMATCH, "%s: the array has the shape %s, the decomposition says %s here",
                       call->doing, extents(a->rank, a->extent, is, sizeof is),
                       extents(part->rank, part->count, wanted, sizeof wanted));
}

/* The strides of an array without elements do not matter, whatever its rank and shape. */
static Array as_empty(const Array *a) {
  static char nothing;
  Array empty = *a;
  empty.data = &nothing;
  empty.rank = 0;
  return empty;
}

static penstock_status move_checked(const Call *call, const Array *a, const Part *part) {
  Array fitting;
  const penstock_status status = fit(call, a, part, &fitting);
  if (status != PENSTOCK_OK) return status;
  const Array empty = as_empty(a);
  if (fitting.apart && call->operation == PUT) return put_copy(call, a, part);
  if (fitting.apart)
    return refuse(call->file, PENSTOCK_INVALID,
                  "%s: this section has gaps in memory: give it as many dimensions as the dataset has", call->doing);
  return move_part(call, a->elements == 0 ? &empty : &fitting, part);
}

/* If an array differs in rank from the dataset, a list of rows: the number of rows, provided that it has whole rows.
 * Whether rows of several elements leave the dataset is make_block's to say. */
static bool count_rows(const Array *a, int64_t rank, const int64_t *extent, const int64_t *first, int64_t *count) {
  if (rank < 1 || rank > MOST_DIMENSIONS || rank == a->rank) return false;
  const int last = (int)rank - 1;
  int64_t row = 1;
  for (int i = 0; i < last; i++) {
    if (first[i] != 1 || extent[i] < 1 || extent[i] > INT64_MAX / row) return false;
    count[i] = extent[i];
    row *= extent[i];
  }
  count[last] = a->elements / row;
  const bool fits = first[last] >= 1 && count[last] <= extent[last] - first[last] + 1;
  return a->elements % row == 0 && (rank > 1 || fits);
}

/* SHAPE and START are both present or both absent. If absent, every rank has the whole dataset. */
static penstock_status make_part(const Call *call, const Array *a, const CFI_cdesc_t *shape, const CFI_cdesc_t *start,
                                 Part *part) {
  if (shape == NULL) return make_replicated(call->file, a->rank, a->extent, part);
  int64_t extents_given, starts_given;
  int64_t *extent = numbers_of(shape, &extents_given), *first = numbers_of(start, &starts_given);
  int64_t rows[MOST_DIMENSIONS];
  penstock_status status;
  if (extent == NULL || first == NULL)
    status = refuse(call->file, PENSTOCK_MEMORY, "%s: no memory", call->doing);
  else if (extents_given == starts_given && count_rows(a, extents_given, extent, first, rows))
    status = make_block(call->file, call->doing, (int)extents_given, extent, first, rows, part);
  else if (extents_given != a->rank || starts_given != a->rank)
    status = refuse(call->file, PENSTOCK_MISMATCH,
                    "%s: the array has rank %d, shape has %lld numbers and start %lld: they must "
                    "be as many",
                    call->doing, a->rank, (long long)extents_given, (long long)starts_given);
  else
    status = make_block(call->file, call->doing, a->rank, extent, first, a->extent, part);
  free(extent);
  free(first);
  return status;
}

static penstock_status transfer(File *file, Operation operation, const CFI_cdesc_t *name, const CFI_cdesc_t *a,
                                const CFI_cdesc_t *shape, const CFI_cdesc_t *start, const Part *part, const int *as) {
  char *dataset = text_of(name), doing[300];
  snprintf(doing, sizeof doing, "%s '%.200s'", names[operation], dataset != NULL ? dataset : "");
  const Call call = {file, operation, dataset, doing};
  Array array;
  Part made = {0};
  penstock_status status =
      dataset != NULL ? array_of(file, doing, a, as, &array) : refuse(file, PENSTOCK_MEMORY, "%s: no memory", doing);
  if (status == PENSTOCK_OK && part == NULL) status = make_part(&call, &array, shape, start, &made);
  if (status == PENSTOCK_OK) status = move_checked(&call, &array, part != NULL ? part : &made);
  penstock_free(made.part);
  free(dataset);
  return status;
}

static void by_shape(File *file, Operation operation, const CFI_cdesc_t *name, const CFI_cdesc_t *a,
                     const CFI_cdesc_t *shape, const CFI_cdesc_t *start, const int *as, int *ierr) {
  const penstock_status status =
      file == NULL ? refuse_closed(names[operation]) : transfer(file, operation, name, a, shape, start, NULL, as);
  end_local_call(file, status, ierr);
}

static void by_part(File *file, Operation operation, const CFI_cdesc_t *name, const CFI_cdesc_t *a, const Part *part,
                    const int *as, int *ierr) {
  penstock_status status;
  if (file == NULL)
    status = refuse_closed(names[operation]);
  else if (part == NULL)
    status = refuse(file, PENSTOCK_INVALID,
                    "%s: the decomposition was not made: call penstock_block, penstock_grid or another "
                    "of them first",
                    names[operation]);
  else
    status = transfer(file, operation, name, a, NULL, NULL, part, as);
  end_local_call(file, status, ierr);
}

/* Entry points behind the interfaces of all types: the whole dataset, a block at START, or a decomposition. */
#define PUT_OR_LEND(verb, OPERATION)                                                                                   \
  void penstock_fortran_##verb##_whole(File **file, const CFI_cdesc_t *name, const CFI_cdesc_t *a, const int *as,      \
                                       int *ierr) {                                                                    \
    by_shape(*file, OPERATION, name, a, NULL, NULL, as, ierr);                                                         \
  }                                                                                                                    \
  void penstock_fortran_##verb##_block(File **file, const CFI_cdesc_t *name, const CFI_cdesc_t *a,                     \
                                       const CFI_cdesc_t *shape, const CFI_cdesc_t *start, const int *as, int *ierr) { \
    by_shape(*file, OPERATION, name, a, shape, start, as, ierr);                                                       \
  }                                                                                                                    \
  void penstock_fortran_##verb##_part(File **file, const CFI_cdesc_t *name, const CFI_cdesc_t *a, Part **d,            \
                                      const int *as, int *ierr) {                                                      \
    by_part(*file, OPERATION, name, a, *d, as, ierr);                                                                  \
  }
PUT_OR_LEND(put, PUT)
PUT_OR_LEND(lend, LEND)

#define GET_BY(verb, OPERATION)                                                                                        \
  void penstock_fortran_##verb##_whole(File **file, const CFI_cdesc_t *name, CFI_cdesc_t *a, const int *as,            \
                                       int *ierr) {                                                                    \
    by_shape(*file, OPERATION, name, a, NULL, NULL, as, ierr);                                                         \
  }                                                                                                                    \
  void penstock_fortran_##verb##_block(File **file, const CFI_cdesc_t *name, CFI_cdesc_t *a, const CFI_cdesc_t *shape, \
                                       const CFI_cdesc_t *start, const int *as, int *ierr) {                           \
    by_shape(*file, OPERATION, name, a, shape, start, as, ierr);                                                       \
  }                                                                                                                    \
  void penstock_fortran_##verb##_part(File **file, const CFI_cdesc_t *name, CFI_cdesc_t *a, Part **d, const int *as,   \
                                      int *ierr) {                                                                     \
    by_part(*file, OPERATION, name, a, *d, as, ierr);                                                                  \
  }
GET_BY(get, GET)
GET_BY(get_widened, GET_WIDENED)
