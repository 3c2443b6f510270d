/* posix.c: wrappers of the C library's calls on descriptors and paths. Descriptors that were not opened as files are
 * ignored. */
#define _GNU_SOURCE
#include <aio.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "posix.h"

/* PATH relative to the folder with descriptor FOLDER. */
static int path_in(int folder, const char *path) {
  char link[64], whole[4096];
  if (folder == AT_FDCWD || path == 0 || path[0] == '/') return path_index(path);
  snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
  const ssize_t n = readlink(link, whole, sizeof whole / 2);
  if (n <= 0) return 0;
  snprintf(whole + n, sizeof whole - (size_t)n, "/%s", path);
  return path_index(whole);
}

void note_descriptor(int fd, int path, int appends) {
  if (is_own_process()) set_descriptor(fd, path, appends);
}

void note_open(int module, int path, int fd, int counter, const struct frame *frame) {
  struct stat about;
  add_metadata(module, path, counter, frame);
  struct counts *counts = counts_of(module, path);
  if (counts->opened_first == 0) counts->opened_first = frame->start;
  counts->opened_last = frame->end;
  if (counts->alignment == 0 && fd >= 0 && fstat(fd, &about) == 0) counts->alignment = about.st_blksize;
}

void note_close(int module, const struct frame *frame) {
  struct counts *counts = counts_of(module, frame->file);
  add_metadata(module, frame->file, -1, frame);
  if (counts->closed_first == 0) counts->closed_first = frame->start;
  counts->closed_last = frame->end;
}

/* --- paths --- */

static void opened(struct frame *frame, int path, int fd, int flags) {
  frame->file = path;
  frame->skip = path == 0;
  if (fd < 0) return;
  note_descriptor(fd, path, (flags & O_APPEND) != 0);
  if (path != 0) note_open(in_posix, path, fd, c_opens, frame);
}
static void after_open(struct frame *frame, const word *a, word result) {
  opened(frame, path_index((const char *)a[0]), (int)result, (int)a[1]);
}
static void after_creat(struct frame *frame, const word *a, word result) {
  opened(frame, path_index((const char *)a[0]), (int)result, 0);
}
static void after_openat(struct frame *frame, const word *a, word result) {
  opened(frame, path_in((int)a[0], (const char *)a[1]), (int)result, (int)a[2]);
}
static void done_to(struct frame *frame, int path, word result) {
  frame->file = path;
  frame->skip = path == 0;
  if (path != 0 && (int)result == 0) add_metadata(in_posix, path, frame->function->counter, frame);
}
static void after_path(struct frame *frame, const word *a, word result) {
  done_to(frame, path_index((const char *)a[frame->function->argument]), result);
}
static void after_path_at(struct frame *frame, const word *a, word result) {
  done_to(frame, path_in((int)a[0], (const char *)a[1]), result);
}

#define OPEN(n, name, handler) WRAP(n, name, .interface = in_posix, .way = of_metadata, .after = handler)
OPEN(3, open, after_open)
OPEN(3, open64, after_open)
OPEN(2, __open_2, after_open)
OPEN(2, __open64_2, after_open)
OPEN(2, creat, after_creat)
OPEN(2, creat64, after_creat)
OPEN(4, openat, after_openat)
OPEN(4, openat64, after_openat)
OPEN(3, __openat_2, after_openat)
OPEN(3, __openat64_2, after_openat)
#define ON_PATH(n, name, count, at) \
  WRAP(n, name, .interface = in_posix, .way = of_metadata, .counter = count, .argument = at, .after = after_path)
ON_PATH(2, stat, c_stats, 0)
ON_PATH(2, stat64, c_stats, 0)
ON_PATH(2, lstat, c_stats, 0)
ON_PATH(2, lstat64, c_stats, 0)
ON_PATH(3, __xstat, c_stats, 1)
ON_PATH(3, __xstat64, c_stats, 1)
ON_PATH(3, __lxstat, c_stats, 1)
ON_PATH(3, __lxstat64, c_stats, 1)
ON_PATH(2, access, -1, 0)
ON_PATH(2, truncate, -1, 0)
ON_PATH(2, truncate64, -1, 0)
ON_PATH(1, unlink, -1, 0)
ON_PATH(1, remove, -1, 0)
ON_PATH(2, rename, -1, 0)
ON_PATH(2, mkdir, -1, 0)
ON_PATH(1, rmdir, -1, 0)
#define ON_PATH_AT(n, name, count) \
  WRAP(n, name, .interface = in_posix, .way = of_metadata, .counter = count, .after = after_path_at)
ON_PATH_AT(4, fstatat, c_stats)
ON_PATH_AT(4, fstatat64, c_stats)
ON_PATH_AT(5, statx, c_stats)
ON_PATH_AT(3, unlinkat, -1)
ON_PATH_AT(4, renameat, -1)
ON_PATH_AT(5, renameat2, -1)
ON_PATH_AT(3, mkdirat, -1)

/* --- descriptors --- */

void know_descriptor(struct frame *frame, int fd) {
  const struct descriptor *found = descriptor_of(fd);
  frame->file = found == 0 ? 0 : found->path;
  frame->skip = found == 0;
}
static void before_fd(struct frame *frame, const word *a) { know_descriptor(frame, (int)a[0]); }
static void before_map(struct frame *frame, const word *a) { know_descriptor(frame, (int)a[4]); }
static void before_close(struct frame *frame, const word *a) {
  know_descriptor(frame, (int)a[0]); /* forgotten before its number can be reused */
  if (!frame->skip) note_descriptor((int)a[0], 0, 0);
}
static void after_close(struct frame *frame, const word *a, word result) {
  (void)a, (void)result;
  note_close(in_posix, frame);
}
static void after_fd(struct frame *frame, const word *a, word result) {
  (void)a;
  if ((int)result == 0) add_metadata(in_posix, frame->file, frame->function->counter, frame);
}
static void after_map(struct frame *frame, const word *a, word result) {
  (void)a;
  if ((int64_t)result != -1) add_metadata(in_posix, frame->file, c_mmaps, frame);
}
static void after_seek(struct frame *frame, const word *a, word result) {
  struct descriptor *found = descriptor_of((int)a[0]);
  if ((int64_t)result < 0) return;
  if (found != 0) found->position = (int64_t)result;
  add_metadata(in_posix, frame->file, c_seeks, frame);
}
static void after_sync(struct frame *frame, const word *a, word result) {
  (void)a;
  if ((int)result == 0) add_sync(in_posix, frame->file, frame->function->counter, frame);
}
static void copied(struct frame *frame, int from, int to) {
  const struct descriptor *source = descriptor_of(from);
  if (to < 0) return;
  if (source == 0) {
    if (descriptor_of(to) != 0) note_descriptor(to, 0, 0);
    return;
  }
  note_descriptor(to, source->path, source->appends);
  if (is_own_process()) descriptor_of(to)->position = source->position;
  add_metadata(in_posix, source->path, c_dups, frame);
}
static void before_dup(struct frame *frame, const word *a) {
  know_descriptor(frame, (int)a[0]);
  if (frame->skip && descriptor_of((int)a[1]) != 0) note_descriptor((int)a[1], 0, 0); /* another file replaces it */
}
static void after_dup(struct frame *frame, const word *a, word result) { copied(frame, (int)a[0], (int)result); }
static void after_fcntl(struct frame *frame, const word *a, word result) {
  if ((int)a[1] == F_DUPFD || (int)a[1] == F_DUPFD_CLOEXEC)
    copied(frame, (int)a[0], (int)result);
  else
    add_metadata(in_posix, frame->file, -1, frame); /* locks */
}
static void before_close_range(struct frame *frame, const word *a) {
  frame->skip = 1;
  for (unsigned fd = (unsigned)a[0]; fd <= (unsigned)a[1] && fd < 1u << 16; ++fd)
    if (descriptor_of((int)fd) != 0) note_descriptor((int)fd, 0, 0);
}

#define ON_FD(n, name, count, early, late) \
  WRAP(n, name, .interface = in_posix, .way = of_metadata, .counter = count, .before = early, .after = late)
ON_FD(1, close, -1, before_close, after_close)
ON_FD(3, close_range, -1, before_close_range, 0)
ON_FD(2, fstat, c_stats, before_fd, after_fd)
ON_FD(2, fstat64, c_stats, before_fd, after_fd)
ON_FD(2, ftruncate, -1, before_fd, after_fd)
ON_FD(2, ftruncate64, -1, before_fd, after_fd)
ON_FD(4, fallocate, -1, before_fd, after_fd)
ON_FD(4, fallocate64, -1, before_fd, after_fd)
ON_FD(3, posix_fallocate, -1, before_fd, after_fd)
ON_FD(3, posix_fallocate64, -1, before_fd, after_fd)
ON_FD(2, flock, -1, before_fd, after_fd)
ON_FD(3, lseek, c_seeks, before_fd, after_seek)
ON_FD(3, lseek64, c_seeks, before_fd, after_seek)
ON_FD(1, fsync, c_fsyncs, before_fd, after_sync)
ON_FD(1, fdatasync, c_fdsyncs, before_fd, after_sync)
ON_FD(1, dup, c_dups, before_fd, after_dup)
ON_FD(2, dup2, c_dups, before_dup, after_dup)
ON_FD(3, dup3, c_dups, before_dup, after_dup)
ON_FD(3, fcntl, -1, before_fd, after_fcntl)
ON_FD(3, fcntl64, -1, before_fd, after_fcntl)
ON_FD(6, mmap, c_mmaps, before_map, after_map)
ON_FD(6, mmap64, c_mmaps, before_map, after_map)

/* --- bytes --- */

static void after_bytes(struct frame *frame, const word *a, word result) {
  const int64_t moved = (int64_t)result;
  const int at = frame->function->argument;
  const enum way way = frame->function->way;
  struct descriptor *found = descriptor_of((int)a[0]);
  if (moved < 0) return;
  int64_t offset = at >= 0 ? (int64_t)a[at] : -1;
  if (offset < 0 && found != 0) {
    if (found->appends && way == of_write) found->position = lseek((int)a[0], 0, SEEK_CUR) - moved;
    offset = found->position;
    found->position += moved;
  }
  frame->bytes[0][way] = moved;
  add_access(in_posix, frame->file, way, offset, moved, frame);
}

#define BYTES(n, name, direction, at)                                                                        \
  WRAP(n, name, .interface = in_posix, .way = direction, .counter = -1, .argument = at, .before = before_fd, \
       .after = after_bytes)
BYTES(3, read, of_read, -1)
BYTES(4, __read_chk, of_read, -1)
BYTES(4, pread, of_read, 3)
BYTES(4, pread64, of_read, 3)
BYTES(5, __pread_chk, of_read, 3)
BYTES(5, __pread64_chk, of_read, 3)
BYTES(3, readv, of_read, -1)
BYTES(4, preadv, of_read, 3)
BYTES(4, preadv64, of_read, 3)
BYTES(5, preadv2, of_read, 3)
BYTES(5, preadv64v2, of_read, 3)
BYTES(3, write, of_write, -1)
BYTES(4, pwrite, of_write, 3)
BYTES(4, pwrite64, of_write, 3)
BYTES(3, writev, of_write, -1)
BYTES(4, pwritev, of_write, 3)
BYTES(4, pwritev64, of_write, 3)
BYTES(5, pwritev2, of_write, 3)
BYTES(5, pwritev64v2, of_write, 3)

/* The requested bytes, with the time of the request. */
static void before_aio(struct frame *frame, const word *a) {
  know_descriptor(frame, ((const struct aiocb *)a[0])->aio_fildes);
}
static void after_aio(struct frame *frame, const word *a, word result) {
  const struct aiocb *request = (const struct aiocb *)a[0];
  if ((int)result != 0) return;
  frame->bytes[0][frame->function->way] = (int64_t)request->aio_nbytes;
  add_access(in_posix, frame->file, frame->function->way, request->aio_offset, (int64_t)request->aio_nbytes, frame);
}
#define AIO(name, direction) \
  WRAP(1, name, .interface = in_posix, .way = direction, .counter = -1, .before = before_aio, .after = after_aio)
AIO(aio_read, of_read)
AIO(aio_read64, of_read)
AIO(aio_write, of_write)
AIO(aio_write64, of_write)
