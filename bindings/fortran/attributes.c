/* attributes.c: reads and writes attributes from scalars and 1-D arrays of numbers or texts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"

/* The names in one call; DOING begins its messages. */
typedef struct Words {
  char *object, *name;
  char doing[300];
} Words;

static penstock_status read_words(const char *verb, File *file, const CFI_cdesc_t *object, const CFI_cdesc_t *name,
                                  Words *w) {
  w->object = text_of(object);
  w->name = text_of(name);
  const bool there = w->object != NULL && w->name != NULL;
  snprintf(w->doing, sizeof w->doing, "%s '%.100s' of '%.100s'", verb, there ? w->name : "", there ? w->object : "");
  return there ? PENSTOCK_OK : refuse(file, PENSTOCK_MEMORY, "%s: no memory", w->doing);
}

static void free_words(Words *w) {
  free(w->object);
  free(w->name);
}

static penstock_status one_dimension(File *file, const Words *w, const Array *a) {
  return a->rank <= 1
             ? PENSTOCK_OK
             : refuse(file, PENSTOCK_INVALID, "%s: an array of rank %d: attributes are scalars or have one dimension",
                      w->doing, a->rank);
}

/* Converts them to C strings. */
typedef struct Texts {
  char *bytes;
  const char **list;
} Texts;

static penstock_status make_texts(File *file, const char *doing, const Array *a, const char *values, Texts *texts) {
  const size_t count = (size_t)a->elements, length = (size_t)a->element_bytes;
  texts->bytes = calloc(count + 1, length + 1);
  texts->list = malloc((count + 1) * sizeof *texts->list);
  if (texts->bytes == NULL || texts->list == NULL) return refuse(file, PENSTOCK_MEMORY, "%s: no memory", doing);
  for (size_t i = 0; i < count; i++) {
    memcpy(texts->bytes + i * (length + 1), values + i * length, length);
    texts->list[i] = texts->bytes + i * (length + 1);
  }
  return PENSTOCK_OK;
}

static void free_texts(Texts *texts) {
  free(texts->bytes);
  free(texts->list);
}

static penstock_status set_texts(File *file, const Words *w, const Array *a, const char *values) {
  Texts texts;
  penstock_status status = make_texts(file, w->doing, a, values, &texts);
  if (status == PENSTOCK_OK)
    status = a->rank == 0 ? penstock_attribute(file->file, w->object, w->name, texts.list[0])
                          : penstock_attribute_texts(file->file, w->object, w->name, a->elements, texts.list);
  free_texts(&texts);
  return status;
}

static penstock_status set(File *file, const Words *w, const CFI_cdesc_t *value, const int *as) {
  Array a;
  /* An empty text cannot be an element of a dataset, but is a valid attribute. */
  if (value->type == CFI_type_char && value->elem_len == 0 && value->rank == 0)
    return penstock_attribute(file->file, w->object, w->name, "");
  penstock_status status = array_of(file, w->doing, value, as, &a);
  if (status == PENSTOCK_OK) status = one_dimension(file, w, &a);
  if (status != PENSTOCK_OK) return status;
  char *values = packed(&a);
  if (values == NULL) return refuse(file, PENSTOCK_MEMORY, "%s: no memory", w->doing);
  status =
      a.text ? set_texts(file, w, &a, values)
             : penstock_attribute_array(file->file, w->object, w->name, a.type, a.rank == 0 ? -1 : a.elements, values);
  free(values);
  return status;
}

void penstock_fortran_attribute(File **handle, const CFI_cdesc_t *object, const CFI_cdesc_t *name,
                                const CFI_cdesc_t *value, const int *as, int *ierr) {
  File *file = *handle;
  Words w;
  penstock_status status;
  if (file == NULL) {
    status = refuse_closed("penstock_attribute");
  } else {
    status = read_words("penstock_attribute", file, object, name, &w);
    if (status == PENSTOCK_OK) status = set(file, &w, value, as);
    free_words(&w);
  }
  end_local_call(file, status, ierr);
}

/* COUNT values of LENGTH bytes in the file; A must have room for them. */
static penstock_status fill(File *file, const Words *w, const Array *a, penstock_type type, int64_t count,
                            int64_t length) {
  const int64_t bytes = count * length;
  char *values = malloc((size_t)bytes + 1);
  char *mine = calloc(1, (size_t)(a->elements * a->element_bytes) + 1);
  penstock_status status = values != NULL && mine != NULL
                               ? penstock_attribute_get(file->file, w->object, w->name, type, values, bytes)
                               : refuse(NULL, PENSTOCK_MEMORY, "%s: no memory", w->doing);
  if (status == PENSTOCK_OK) {
    for (int64_t i = 0; i < count; i++) memcpy(mine + i * a->element_bytes, values + i * length, (size_t)length);
    if (a->text) pad_with_blanks(mine, count, a->element_bytes);
    unpack(a, mine);
  }
  free(values);
  free(mine);
  return status;
}

static penstock_status get(File *file, const Words *w, const CFI_cdesc_t *value, const int *as) {
  Array a;
  penstock_type type;
  int64_t count;
  penstock_status status = array_of(NULL, w->doing, value, as, &a);
  if (status == PENSTOCK_OK) status = one_dimension(NULL, w, &a);
  if (status == PENSTOCK_OK) status = penstock_attribute_info(file->file, w->object, w->name, &type, &count);
  if (status != PENSTOCK_OK) return status;
  if (count < 0) count = 1;
  if (count != a.elements)
    return refuse(NULL, PENSTOCK_MISMATCH, "%s: it has %lld values, the argument has room for %lld", w->doing,
                  (long long)count, (long long)a.elements);
  int64_t length = a.element_bytes;
  if (a.text && type > PENSTOCK_TEXT(0)) {
    length = type - PENSTOCK_TEXT(0);
    if (length > a.element_bytes)
      return refuse(NULL, PENSTOCK_MISMATCH, "%s: it has %lld characters, the argument has room for %lld", w->doing,
                    (long long)length, (long long)a.element_bytes);
  }
  return fill(file, w, &a, a.type, count, length);
}

void penstock_fortran_attribute_get(File **handle, const CFI_cdesc_t *object, const CFI_cdesc_t *name,
                                    const CFI_cdesc_t *value, const int *as, int *ierr) {
  File *file = *handle;
  Words w;
  penstock_status status;
  if (file == NULL) {
    status = refuse_closed("penstock_attribute_get");
  } else {
    status = read_words("penstock_attribute_get", NULL, object, name, &w);
    if (status == PENSTOCK_OK) status = get(file, &w, value, as);
    free_words(&w);
  }
  end_call(status, ierr);
}

/* LENGTH: the length of its texts, 0 for numbers. */
void penstock_fortran_attribute_info(File **file, const CFI_cdesc_t *object, const CFI_cdesc_t *name, int *type,
                                     int64_t *count, int *length, int *ierr) {
  Words w;
  penstock_type found = PENSTOCK_INT8;
  penstock_status status;
  if (*file == NULL) {
    status = refuse_closed("penstock_attribute_info");
  } else {
    status = read_words("penstock_attribute_info", NULL, object, name, &w);
    if (status == PENSTOCK_OK) status = penstock_attribute_info((*file)->file, w.object, w.name, &found, count);
    free_words(&w);
  }
  if (status == PENSTOCK_OK) {
    *type = (int)found;
    *length = found > PENSTOCK_TEXT(0) ? (int)(found - PENSTOCK_TEXT(0)) : 0;
  }
  end_call(status, ierr);
}

static void reverse(const char **list, int64_t count) {
  for (int64_t i = 0; i < count / 2; i++) {
    const char *other = list[i];
    list[i] = list[count - 1 - i];
    list[count - 1 - i] = other;
  }
}

static penstock_status name_dimensions(File *file, const char *dataset, const CFI_cdesc_t *dims) {
  char doing[300];
  snprintf(doing, sizeof doing, "penstock_dimensions '%.200s'", dataset != NULL ? dataset : "");
  Array a;
  Texts texts = {NULL, NULL};
  penstock_status status = array_of(file, doing, dims, NULL, &a);
  if (status != PENSTOCK_OK) return status;
  char *values = packed(&a);
  status = values != NULL ? make_texts(file, doing, &a, values, &texts)
                          : refuse(file, PENSTOCK_MEMORY, "%s: no memory", doing);
  if (status == PENSTOCK_OK) {
    reverse(texts.list, a.elements);
    status = penstock_dimensions(file->file, dataset, (int)a.elements, texts.list);
  }
  free_texts(&texts);
  free(values);
  return status;
}

/* DIMS are in Fortran's order. */
void penstock_fortran_dimensions(File **handle, const CFI_cdesc_t *name, const CFI_cdesc_t *dims, int *ierr) {
  File *file = *handle;
  char *dataset = text_of(name);
  const penstock_status status =
      file == NULL ? refuse_closed("penstock_dimensions") : name_dimensions(file, dataset, dims);
  end_local_call(file, status, ierr);
  free(dataset);
}
