/* descriptor.c: reads descriptors of TS 29113: an array, section or expression of any rank, a text, a list of
 * integers. */
#include <stdlib.h>
#include <string.h>

#include "glue.h"

char *text_of(const CFI_cdesc_t *text) {
  if (text == NULL) return NULL;
  size_t length = text->elem_len;
  const char *chars = text->base_addr;
  while (length > 0 && chars[length - 1] == ' ') length--;
  char *copy = malloc(length + 1);
  if (copy == NULL) return NULL;
  if (length > 0) memcpy(copy, chars, length);
  copy[length] = '\0';
  return copy;
}

static bool is_integer(penstock_type type) { return type >= PENSTOCK_INT8 && type <= PENSTOCK_UINT64; }

/* Several C types may share one code in ISO_Fortran_binding.h, so the codes cannot be switch labels. */
static bool type_of(const CFI_cdesc_t *a, penstock_type *type) {
  const struct {
    CFI_type_t code;
    penstock_type type;
  } table[] = {{CFI_type_int8_t, PENSTOCK_INT8},
               {CFI_type_int16_t, PENSTOCK_INT16},
               {CFI_type_int32_t, PENSTOCK_INT32},
               {CFI_type_int64_t, PENSTOCK_INT64},
               {CFI_type_float, PENSTOCK_FLOAT},
               {CFI_type_double, PENSTOCK_DOUBLE},
               {CFI_type_float_Complex, PENSTOCK_COMPLEX_FLOAT},
               {CFI_type_double_Complex, PENSTOCK_COMPLEX_DOUBLE},
               {CFI_type_char, PENSTOCK_TEXT(a->elem_len)}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (table[i].code == a->type) {
      *type = table[i].type;
      return true;
    }
  return false;
}

/* gfortran also gives an empty constructor, [real ::], no address. Extents of an unallocated array are undefined. */
static bool is_empty(const CFI_cdesc_t *a) {
  bool empty = false;
  for (int i = 0; i < a->rank; i++) {
    if (a->dim[i].extent < 0) return false;
    empty = empty || a->dim[i].extent == 0;
  }
  return empty;
}

penstock_status array_of(File *file, const char *doing, const CFI_cdesc_t *a, const int *as, Array *array) {
  *array = (Array){.data = a->base_addr, .rank = a->rank, .elements = 1, .element_bytes = (int64_t)a->elem_len};
  array->text = a->type == CFI_type_char;
  if (!type_of(a, &array->type))
    return refuse(file, PENSTOCK_UNSUPPORTED, "%s: the compiler's type code %d is none that files have", doing,
                  a->type);
  if (array->text && (a->elem_len < 1 || a->elem_len > 1 << 24))
    return refuse(file, PENSTOCK_INVALID, "%s: texts of %zu characters: files have texts of 1 to 2^24", doing,
                  a->elem_len);
  if (array->data == NULL && !is_empty(a))
    return refuse(file, PENSTOCK_INVALID, "%s: the array is not allocated, or the pointer not associated", doing);
  if (as != NULL) {
    const penstock_type type = (penstock_type)*as;
    if (type != array->type && !(is_integer(array->type) && is_integer(type) && type % 4 == array->type % 4))
      return refuse(file, PENSTOCK_INVALID,
                    "%s: as=%d is no type of as many bytes as the argument: of integers it may say "
                    "PENSTOCK_UINT8 to PENSTOCK_UINT64",
                    doing, *as);
    array->type = type;
  }
  if (a->rank > MOST_DIMENSIONS)
    return refuse(file, PENSTOCK_INVALID, "%s: an array of rank %d: datasets have 0 to %d dimensions", doing, a->rank,
                  MOST_DIMENSIONS);
  for (int i = 0; i < a->rank; i++) {
    if (a->dim[i].extent == -1)
      return refuse(file, PENSTOCK_INVALID,
                    "%s: the last extent of an assumed-size array, dimension(*), is not known here: pass "
                    "a section that has one, such as a(:, 1:n)",
                    doing);
    array->extent[i] = a->dim[i].extent;
    array->bytes[i] = a->dim[i].sm;
    array->elements *= a->dim[i].extent;
  }
  return PENSTOCK_OK;
}

bool is_contiguous(const Array *a) {
  int64_t bytes = a->element_bytes;
  for (int i = 0; i < a->rank && a->elements > 1; i++) {
    if (a->extent[i] > 1 && a->bytes[i] != bytes) return false;
    bytes *= a->extent[i];
  }
  return true;
}

bool regroup(const Array *a, int rank, const int64_t *extent, Array *out) {
  const bool split = rank > a->rank;
  const int few = split ? a->rank : rank, many = split ? rank : a->rank;
  const int64_t *few_extent = split ? a->extent : extent, *many_extent = split ? extent : a->extent;
  *out = *a;
  out->rank = rank;
  for (int i = 0; i < rank; i++) {
    out->extent[i] = extent[i];
    out->bytes[i] = a->element_bytes;
  }
  int m = 0;
  for (int f = 0; f < few; f++) {
    int64_t product = 1, end = 0; /* where the next element of the joined dimension must be */
    while (m < many && product < few_extent[f]) {
      const int64_t bytes = split ? a->bytes[f] * product : a->bytes[m];
      if (split) out->bytes[m] = bytes;
      if (!split && many_extent[m] > 1) {
        if (product == 1) out->bytes[f] = bytes;
        if (product > 1 && bytes != end) out->apart = true;
        end = bytes * many_extent[m];
      }
      product *= many_extent[m++];
    }
    if (product != few_extent[f]) return false;
  }
  while (m < many && many_extent[m] == 1) m++;
  return m == many;
}

/* Moves each element between A and the contiguous OTHER, first dimension fastest. */
static void move(const Array *a, char *other, bool into) {
  int64_t index[MOST_DIMENSIONS] = {0};
  char *at = a->data;
  for (int64_t n = 0; n < a->elements; n++) {
    if (into)
      memcpy(at, other, (size_t)a->element_bytes);
    else
      memcpy(other, at, (size_t)a->element_bytes);
    other += a->element_bytes;
    for (int i = 0; i < a->rank; i++) {
      at += a->bytes[i];
      if (++index[i] < a->extent[i]) break;
      at -= a->bytes[i] * a->extent[i];
      index[i] = 0;
    }
  }
}

char *packed(const Array *a) {
  char *copy = malloc((size_t)(a->elements > 0 ? a->elements * a->element_bytes : 1));
  if (copy == NULL) return NULL;
  move(a, copy, false);
  for (int64_t n = 0; a->text && n < a->elements; n++) {
    char *text = copy + n * a->element_bytes;
    for (int64_t i = a->element_bytes; i > 0 && text[i - 1] == ' '; i--) text[i - 1] = '\0';
  }
  return copy;
}

void unpack(const Array *a, const char *packed) { move(a, (char *)packed, true); }

void pad_with_blanks(char *texts, int64_t count, int64_t length) {
  for (int64_t n = 0; n < count; n++) {
    char *end = texts + (n + 1) * length;
    for (int64_t i = 0; i < length && end[-1 - i] == '\0'; i++) end[-1 - i] = ' ';
  }
}

int64_t *numbers_of(const CFI_cdesc_t *a, int64_t *count) {
  Array list = {.data = a->base_addr, .rank = a->rank, .elements = 1, .element_bytes = (int64_t)a->elem_len};
  for (int i = 0; i < a->rank; i++) {
    list.extent[i] = a->dim[i].extent;
    list.bytes[i] = a->dim[i].sm;
    list.elements *= a->dim[i].extent;
  }
  *count = list.elements;
  char *small = packed(&list);
  int64_t *numbers = malloc((size_t)(list.elements + 1) * sizeof *numbers);
  for (int64_t i = 0; i < list.elements && small != NULL && numbers != NULL; i++)
    numbers[i] = a->elem_len == sizeof(int32_t) ? ((int32_t *)small)[i] : ((int64_t *)small)[i];
  if (small == NULL) {
    free(numbers);
    numbers = NULL;
  }
  free(small);
  return numbers;
}
