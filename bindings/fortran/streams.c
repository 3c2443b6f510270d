/* streams.c: byte streams, written and read as arrays of any type. */
#include <stdlib.h>

#include "files.h"

static penstock_status refuse_no_stream(const char *doing) {
  return refuse(NULL, PENSTOCK_INVALID,
                "%s: the stream is not open: call penstock_stream_create or penstock_stream_open first", doing);
}

typedef enum Direction { WRITE, READ } Direction;

static void open_with(Direction direction, const Handle *handle, const CFI_cdesc_t *path, const CFI_cdesc_t *options,
                      penstock_stream **stream, int *ierr) {
  penstock_comm comm;
  *stream = NULL;
  penstock_status status = communicator_of(handle, &comm);
  if (status == PENSTOCK_OK) {
    char *where = text_of(path), *how = text_of(options);
    status = direction == WRITE ? penstock_stream_create(comm, where, how, stream)
                                : penstock_stream_open(comm, where, stream);
    free(where);
    free(how);
  }
  end_call(status, ierr);
}

void penstock_fortran_stream_create(const Handle *comm, const CFI_cdesc_t *path, penstock_stream **stream,
                                    const CFI_cdesc_t *options, int *ierr) {
  open_with(WRITE, comm, path, options, stream, ierr);
}

void penstock_fortran_stream_open(const Handle *comm, const CFI_cdesc_t *path, penstock_stream **stream, int *ierr) {
  open_with(READ, comm, path, NULL, stream, ierr);
}

void penstock_fortran_stream_open_alone(const CFI_cdesc_t *path, penstock_stream **stream, int *ierr) {
  open_with(READ, NULL, path, NULL, stream, ierr);
}

/* An array of a type that files do not support is treated as bytes. */
static penstock_status bytes_of(const char *doing, const CFI_cdesc_t *data, Array *a) {
  if (data->type == CFI_type_char && data->elem_len == 0) {
    *a = (Array){.elements = 0};
    return PENSTOCK_OK;
  }
  return array_of(NULL, doing, data, NULL, a);
}

static penstock_status write_array(penstock_stream *stream, const Array *a) {
  if (is_contiguous(a)) return penstock_stream_write(stream, a->data, a->elements * a->element_bytes);
  Array bytes = *a;
  bytes.text = false; /* keep trailing blanks */
  char *copy = packed(&bytes);
  const penstock_status status = penstock_stream_write(stream, copy, a->elements * a->element_bytes);
  free(copy);
  return status;
}

void penstock_fortran_stream_write(penstock_stream **handle, const CFI_cdesc_t *data, int *ierr) {
  penstock_stream *stream = *handle;
  const char *doing = "penstock_stream_write";
  if (stream == NULL) {
    end_call(refuse_no_stream(doing), ierr);
    return;
  }
  Array a;
  penstock_status status = bytes_of(doing, data, &a);
  if (status == PENSTOCK_OK) {
    status = write_array(stream, &a);
  } else {
    penstock_stream_write(stream, NULL, 1); /* makes close fail, on all ranks */
    bytes_of(doing, data, &a);              /* restores this rank's message */
  }
  if (ierr != NULL) *ierr = (int)status;
}

static void read_stream(penstock_stream *stream, int process, int64_t pos, const CFI_cdesc_t *data, int64_t *got,
                        int *ierr) {
  const char *doing = "penstock_stream_read";
  *got = 0;
  Array a;
  penstock_status status = stream != NULL ? bytes_of(doing, data, &a) : refuse_no_stream(doing);
  if (status == PENSTOCK_OK && pos < 1)
    status = refuse(NULL, PENSTOCK_INVALID, "%s: pos is %lld: positions count from 1", doing, (long long)pos);
  if (status == PENSTOCK_OK) {
    a.text = false;
    const int64_t bytes = a.elements * a.element_bytes;
    char *copy = is_contiguous(&a) ? NULL : packed(&a);
    if (copy == NULL && !is_contiguous(&a))
      status = refuse(NULL, PENSTOCK_MEMORY, "%s: no memory", doing);
    else
      status = penstock_stream_read(stream, process, pos - 1, copy != NULL ? copy : a.data, bytes, got);
    if (copy != NULL) unpack(&a, copy);
    free(copy);
  }
  end_call(status, ierr);
}

void penstock_fortran_stream_read_int32(penstock_stream **stream, const int *process, const int32_t *pos,
                                        const CFI_cdesc_t *data, int64_t *got, int *ierr) {
  read_stream(*stream, *process, *pos, data, got, ierr);
}

void penstock_fortran_stream_read_int64(penstock_stream **stream, const int *process, const int64_t *pos,
                                        const CFI_cdesc_t *data, int64_t *got, int *ierr) {
  read_stream(*stream, *process, *pos, data, got, ierr);
}

int64_t penstock_fortran_streams(penstock_stream *const *stream) {
  if (*stream == NULL) end_call(refuse_no_stream("penstock_streams"), NULL);
  return penstock_streams(*stream);
}

int64_t penstock_fortran_stream_bytes(penstock_stream *const *stream, const int *process, int *ierr) {
  int64_t bytes = 0;
  end_call(
      *stream == NULL ? refuse_no_stream("penstock_stream_bytes") : penstock_stream_bytes(*stream, *process, &bytes),
      ierr);
  return bytes;
}

void penstock_fortran_stream_close(penstock_stream **stream, int *ierr) {
  const penstock_status status =
      *stream == NULL ? refuse_no_stream("penstock_stream_close") : penstock_stream_close(*stream);
  *stream = NULL;
  end_call(status, ierr);
}

void penstock_fortran_stream_abandon(penstock_stream **stream) {
  penstock_stream_abandon(*stream);
  *stream = NULL;
}
