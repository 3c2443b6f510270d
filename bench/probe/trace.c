/* trace.c: interposes the C library's file calls: the program exports them, so that every shared library finds these
 * first. */
#undef _FORTIFY_SOURCE
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): as glibc wants it */
#include "bench/probe/trace.h"

#include <aio.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static bool active;
static dev_t traced_device;
static ino_t traced_inode;
static int64_t counts[trace_fields];

void trace_start(dev_t device, ino_t inode) {
  memset(counts, 0, sizeof counts);
  counts[trace_first_written] = counts[trace_first_read] = -1;
  traced_device = device;
  traced_inode = inode;
  active = true;
}

void trace_stop(int64_t *result) {
  active = false;
  memcpy(result, counts, sizeof counts);
}

static bool is_traced(int fd) {
  struct stat state;
  if (!active) return false;
  const int kept = errno;
  const bool same = fstat(fd, &state) == 0 && state.st_dev == traced_device && state.st_ino == traced_inode;
  errno = kept;
  return same;
}

/* OFFSET -1: the descriptor's own offset, which has already advanced by BYTES. */
static ssize_t count(int fd, int which, ssize_t bytes, off_t offset) {
  if (bytes < 0 || !is_traced(fd)) return bytes;
  int64_t *of = counts + which;
  const int64_t at = offset >= 0 ? offset : syscall(SYS_lseek, fd, 0L, SEEK_CUR) - bytes;
  of[0] += 1;
  of[1] += bytes;
  if (bytes > of[2]) of[2] = bytes;
  if (bytes > 0 && (of[3] < 0 || at < of[3])) of[3] = at;
  if (at + bytes > of[4]) of[4] = at + bytes;
  if (syscall(SYS_fcntl, fd, F_GETFL) & O_DIRECT) ++counts[trace_direct];
  return bytes;
}

ssize_t write(int fd, const void *data, size_t n) {
  return count(fd, trace_writes, syscall(SYS_write, fd, data, n), -1);
}
ssize_t read(int fd, void *data, size_t n) { return count(fd, trace_reads, syscall(SYS_read, fd, data, n), -1); }
ssize_t pwrite(int fd, const void *data, size_t n, off_t at) {
  return count(fd, trace_writes, syscall(SYS_pwrite64, fd, data, n, at), at);
}
ssize_t pread(int fd, void *data, size_t n, off_t at) {
  return count(fd, trace_reads, syscall(SYS_pread64, fd, data, n, at), at);
}
ssize_t pwrite64(int fd, const void *data, size_t n, off64_t at) { return pwrite(fd, data, n, at); }
ssize_t pread64(int fd, void *data, size_t n, off64_t at) { return pread(fd, data, n, at); }
ssize_t writev(int fd, const struct iovec *pieces, int n) {
  return count(fd, trace_writes, syscall(SYS_writev, fd, pieces, n), -1);
}
ssize_t readv(int fd, const struct iovec *pieces, int n) {
  return count(fd, trace_reads, syscall(SYS_readv, fd, pieces, n), -1);
}
ssize_t pwritev(int fd, const struct iovec *pieces, int n, off_t at) { /* 64-bit: the offset's upper half goes unused */
  return count(fd, trace_writes, syscall(SYS_pwritev, fd, pieces, n, at, 0L), at);
}
ssize_t preadv(int fd, const struct iovec *pieces, int n, off_t at) {
  return count(fd, trace_reads, syscall(SYS_preadv, fd, pieces, n, at, 0L), at);
}
ssize_t pwritev64(int fd, const struct iovec *pieces, int n, off64_t at) { return pwritev(fd, pieces, n, at); }
ssize_t preadv64(int fd, const struct iovec *pieces, int n, off64_t at) { return preadv(fd, pieces, n, at); }

/* aio runs in threads of the C library that call the kernel directly, so requests are counted. */
static void count_request(const struct aiocb *request, int which) {
  (void)count(request->aio_fildes, which, (ssize_t)request->aio_nbytes, request->aio_offset);
}

static int forward(const char *name, struct aiocb *request) {
  int (*call)(struct aiocb *) = NULL;
  *(void **)&call = dlsym(RTLD_NEXT, name);
  if (call == NULL) return errno = ENOSYS, -1;
  return call(request);
}

int aio_write(struct aiocb *request) { return count_request(request, trace_writes), forward("aio_write", request); }
int aio_read(struct aiocb *request) { return count_request(request, trace_reads), forward("aio_read", request); }
int aio_write64(struct aiocb64 *request) { return aio_write((struct aiocb *)request); } /* one layout on 64 bits */
int aio_read64(struct aiocb64 *request) { return aio_read((struct aiocb *)request); }

int fsync(int fd) {
  if (is_traced(fd)) ++counts[trace_syncs];
  return (int)syscall(SYS_fsync, fd);
}

static int control(int fd, int command, void *argument) {
  if ((command == F_SETLK || command == F_SETLKW) && is_traced(fd) && ((struct flock *)argument)->l_type != F_UNLCK)
    ++counts[trace_locks];
  return (int)syscall(SYS_fcntl, fd, command, argument);
}

int fcntl(int fd, int command, ...) {
  va_list rest;
  va_start(rest, command);
  void *argument = va_arg(rest, void *);
  va_end(rest);
  return control(fd, command, argument);
}
int fcntl64(int fd, int command, ...) {
  va_list rest;
  va_start(rest, command);
  void *argument = va_arg(rest, void *);
  va_end(rest);
  return control(fd, command, argument);
}
