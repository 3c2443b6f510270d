/* stdio.c: wrappers of the C library's streams if they are files; the program's printed output is not counted. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "posix.h"

static int fd_of(word stream) { return stream == 0 ? -1 : fileno((FILE *)stream); }

static void opened(struct frame *frame, int path, const char *mode, word result) {
  frame->file = path;
  frame->skip = path == 0;
  if (result == 0) return;
  note_descriptor(fd_of(result), path, mode != 0 && mode[0] == 'a');
  if (path != 0) note_open(in_stdio, path, fd_of(result), frame->function->counter, frame);
}
static void after_fopen(struct frame *frame, const word *a, word result) {
  opened(frame, path_index((const char *)a[0]), (const char *)a[1], result);
}
static void before_fdopen(struct frame *frame, const word *a) { know_descriptor(frame, (int)a[0]); }
static void after_fdopen(struct frame *frame, const word *a, word result) {
  (void)a;
  if (result != 0) note_open(in_stdio, frame->file, -1, s_fdopens, frame);
}
static void before_close(struct frame *frame, const word *a) {
  const int fd = fd_of(a[0]);
  know_descriptor(frame, fd);
  if (!frame->skip) note_descriptor(fd, 0, 0);
}
static void after_close(struct frame *frame, const word *a, word result) {
  (void)a, (void)result;
  note_close(in_stdio, frame);
}

#define STREAM(n, name, count, at, early, late)                                                               \
  WRAP(n, name, .interface = in_stdio, .way = of_metadata, .counter = count, .argument = at, .before = early, \
       .after = late)
STREAM(2, fopen, s_opens, 0, 0, after_fopen)
STREAM(2, fopen64, s_opens, 0, 0, after_fopen)
STREAM(3, freopen, s_opens, 0, 0, after_fopen)
STREAM(3, freopen64, s_opens, 0, 0, after_fopen)
STREAM(2, fdopen, s_fdopens, 0, before_fdopen, after_fdopen)
STREAM(1, fclose, -1, 0, before_close, after_close)

/* --- bytes --- */

static void before_stream(struct frame *frame, const word *a) {
  know_descriptor(frame, fd_of(a[frame->function->argument]));
}

static void moved(struct frame *frame, word stream, int64_t bytes) {
  struct descriptor *found = descriptor_of(fd_of(stream));
  const enum way way = frame->function->way;
  if (bytes < 0 || found == 0) return;
  frame->bytes[0][way] = bytes;
  add_access(in_stdio, frame->file, way, found->position, bytes, frame);
  found->position += bytes;
}
static void after_items(struct frame *frame, const word *a, word result) { /* ..., size, count, stream */
  const int at = frame->function->argument;
  moved(frame, a[at], (int64_t)(result * a[at - 2]));
}
static void after_puts(struct frame *frame, const word *a, word result) {
  if ((int)result >= 0) moved(frame, a[1], (int64_t)strlen((const char *)a[0]));
}
static void after_gets(struct frame *frame, const word *a, word result) {
  moved(frame, a[frame->function->argument], result == 0 ? 0 : (int64_t)strlen((const char *)result));
}
static void after_line(struct frame *frame, const word *a, word result) {
  moved(frame, a[frame->function->argument], (int64_t)result < 0 ? 0 : (int64_t)result);
}
static void after_print(struct frame *frame, const word *a, word result) {
  moved(frame, a[frame->function->argument], (int)result);
}

#define BYTES(n, name, direction, at, late)                                                                      \
  WRAP(n, name, .interface = in_stdio, .way = direction, .counter = -1, .argument = at, .before = before_stream, \
       .after = late)
BYTES(4, fread, of_read, 3, after_items)
BYTES(4, fread_unlocked, of_read, 3, after_items)
BYTES(5, __fread_chk, of_read, 4, after_items)
BYTES(5, __fread_unlocked_chk, of_read, 4, after_items)
BYTES(4, fwrite, of_write, 3, after_items)
BYTES(4, fwrite_unlocked, of_write, 3, after_items)
BYTES(2, fputs, of_write, 1, after_puts)
BYTES(2, fputs_unlocked, of_write, 1, after_puts)
BYTES(3, fgets, of_read, 2, after_gets)
BYTES(4, __fgets_chk, of_read, 3, after_gets)
BYTES(3, getline, of_read, 2, after_line)
BYTES(4, getdelim, of_read, 3, after_line)
BYTES(4, __getdelim, of_read, 3, after_line)

/* When passed on, a va_list is a pointer to it. */
BYTES(3, vfprintf, of_write, 0, after_print)
BYTES(4, __vfprintf_chk, of_write, 0, after_print)
static struct function function_fprintf = {.name = "fprintf",
                                           .interface = in_stdio,
                                           .way = of_write,
                                           .counter = -1,
                                           .before = before_stream,
                                           .after = after_print};
static word print(const void *caller, FILE *stream, const char *format, va_list list) {
  const word arguments[] = {(word)stream};
  struct frame frame;
  begin_frame(&frame, &function_fprintf, arguments, caller);
  const int was = set_busy(1), written = vfprintf(stream, format, list);
  set_busy(was);
  return end_frame(&frame, (word)written);
}
int wrapped_fprintf(FILE *stream, const char *format, ...) __asm__("fprintf");
EXPORT int wrapped_fprintf(FILE *stream, const char *format, ...) {
  va_list list;
  va_start(list, format);
  const int written = (int)print(__builtin_return_address(0), stream, format, list);
  va_end(list);
  return written;
}
int wrapped_fprintf_chk(FILE *stream, int flag, const char *format, ...) __asm__("__fprintf_chk");
EXPORT int wrapped_fprintf_chk(FILE *stream, int flag, const char *format, ...) {
  (void)flag;
  va_list list;
  va_start(list, format);
  const int written = (int)print(__builtin_return_address(0), stream, format, list);
  va_end(list);
  return written;
}

/* --- places --- */

static void after_seek(struct frame *frame, const word *a, word result) {
  struct descriptor *found = descriptor_of(fd_of(a[0]));
  if ((int)result != 0) return;
  add_metadata(in_stdio, frame->file, s_seeks, frame);
  if (found != 0) found->position = ftello((FILE *)a[0]);
}
static void after_flush(struct frame *frame, const word *a, word result) {
  (void)a;
  if ((int)result == 0) add_sync(in_stdio, frame->file, s_flushes, frame);
}
STREAM(3, fseek, s_seeks, 0, before_stream, after_seek)
STREAM(3, fseeko, s_seeks, 0, before_stream, after_seek)
STREAM(3, fseeko64, s_seeks, 0, before_stream, after_seek)
STREAM(1, fflush, s_flushes, 0, before_stream, after_flush)
