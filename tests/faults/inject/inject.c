/* inject: preloaded into a process, makes one of its file-system calls below a folder fail, fall short, take long or be
 * its last.
 *
 * Which one is in a page of memory that it shares with the test: page.h. Without such a page all calls go through. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "page.h"

#if __has_include(<liburing.h>)
#include <liburing.h>
#define HAVE_URING 1
#endif

static struct fault_page *page;

/* The function of this name that comes after ours. */
#define NEXT(name)               \
  static __typeof__(&name) next; \
  if (next == 0) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

__attribute__((constructor)) static void map_page(void) {
  const char *prefix = getenv("PENSTOCK_FAULT_PAGES"), *rank = getenv("OMPI_COMM_WORLD_RANK");
  char path[page_path];
  if (prefix == 0) return;
  if (rank == 0) rank = getenv("PMI_RANK");
  snprintf(path, sizeof path, "%s.%s", prefix, rank == 0 ? "0" : rank);
  const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return;
  if (ftruncate(fd, sizeof *page) == 0) {
    void *at = mmap(0, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at != MAP_FAILED) page = at;
  }
  close(fd);
}

static int watching(void) { return page != 0 && __atomic_load_n(&page->active, __ATOMIC_ACQUIRE); }

/* --- which calls are meant --- */

static int is_below(const char *path) {
  const size_t n = strlen(page->folder);
  return n > 0 && strncmp(path, page->folder, n) == 0 && (path[n] == '/' || path[n] == 0);
}

static const char *path_of(int fd, char *room) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, room, page_path - 1);
  room[n < 0 ? 0 : n] = 0;
  return room;
}

static const char *whole(int folder, const char *path, char *room) {
  if (path[0] == '/') return path;
  if (folder == AT_FDCWD) {
    if (getcwd(room, page_path) == 0) return path;
  } else {
    path_of(folder, room);
  }
  const size_t n = strlen(room);
  snprintf(room + n, page_path - n, "/%s", path);
  return room;
}

/* --- what becomes of one --- */

enum strike { go_on, fail, cut, die_after };

static void die(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

/* Nothing reaches the disk from here on, least of all the journal. By calls of the C library itself, not ours. */
static void cut_power(void) {
  static int (*next_open)(const char *, int, ...);
  static int (*next_close)(int);
  if (next_open == 0) next_open = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
  if (next_close == 0) next_close = (int (*)(int))dlsym(RTLD_NEXT, "close");
  const int fd = next_open(page->folder, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return; /* it is cut */
  ioctl(fd, power_ioctl, &(uint32_t){power_without_log});
  next_close(fd);
}

static enum strike meet(unsigned call, const char *path) {
  const int64_t number = __atomic_fetch_add(&page->logged, 1, __ATOMIC_RELAXED);
  if (number < page_log) page->log[number] = (uint16_t)call;
  if (call == call_write) {
    const int owed = __atomic_exchange_n(&page->owed, 0, __ATOMIC_RELAXED);
    if (owed != 0) {
      errno = owed;
      return fail;
    }
  }
  if ((page->calls & call) == 0) return go_on;
  const int64_t at = page->at, here = __atomic_add_fetch(&page->counted, 1, __ATOMIC_RELAXED);
  if (at == 0 || here < at || (here > at && !page->sticky)) return go_on;
  if (__atomic_fetch_add(&page->struck, 1, __ATOMIC_RELAXED) == 0) {
    page->struck_call = (int32_t)call;
    snprintf(page->struck_path, page_path, "%s", path);
  }
  switch (page->fault) {
    case fault_kill_before:
      die();
      return fail;
    case fault_kill_after:
      return die_after;
    case fault_command:
      if (system(page->command) != 0) die();
      return go_on;
    case fault_power:
      cut_power();
      return go_on;
    case fault_power_kill:
      cut_power();
      die();
      return fail;
    case fault_short:
      return cut;
    case fault_slow:
      usleep((useconds_t)page->slow_microseconds);
      return go_on;
    case fault_error:
      errno = page->error;
      return fail;
    default:
      return go_on;
  }
}

static enum strike meet_fd(unsigned call, int fd) {
  char room[page_path];
  if (!watching() || fd < 0) return go_on;
  return is_below(path_of(fd, room)) ? meet(call, room) : go_on;
}

static enum strike meet_path(unsigned call, int folder, const char *path) {
  char room[page_path];
  if (!watching()) return go_on;
  path = whole(folder, path, room);
  return is_below(path) ? meet(call, path) : go_on;
}

/* Of writes to disks without a page cache, whole sectors. */
static size_t shortened(size_t n) { return n >= 1024 ? n / 2 / 512 * 512 : n > 1 ? n / 2 : n; }

#define FINISH(type, strike, failure, action) \
  if ((strike) == fail) return failure;       \
  const type result = action;                 \
  if ((strike) == die_after) die();           \
  return result

/* --- the calls --- */

static mode_t mode_of(int flags, va_list list) {
  return (flags & (O_CREAT | __O_TMPFILE)) != 0 ? (mode_t)va_arg(list, unsigned) : 0;
}

static enum strike meet_open(int folder, const char *path, int flags) {
  return meet_path((flags & O_CREAT) != 0 ? call_create : call_open, folder, path);
}

#define OPEN(name)                                          \
  int name(const char *path, int flags, ...) {              \
    va_list list;                                           \
    va_start(list, flags);                                  \
    const mode_t mode = mode_of(flags, list);               \
    va_end(list);                                           \
    NEXT(name);                                             \
    const enum strike s = meet_open(AT_FDCWD, path, flags); \
    FINISH(int, s, -1, next(path, flags, mode));            \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                       \
  int name(int folder, const char *path, int flags, ...) { \
    va_list list;                                          \
    va_start(list, flags);                                 \
    const mode_t mode = mode_of(flags, list);              \
    va_end(list);                                          \
    NEXT(name);                                            \
    const enum strike s = meet_open(folder, path, flags);  \
    FINISH(int, s, -1, next(folder, path, flags, mode));   \
  }
OPENAT(openat)
OPENAT(openat64)

#define CREAT(name)                                               \
  int name(const char *path, mode_t mode) {                       \
    NEXT(name);                                                   \
    const enum strike s = meet_path(call_create, AT_FDCWD, path); \
    FINISH(int, s, -1, next(path, mode));                         \
  }
CREAT(creat)
CREAT(creat64)

/* What fortified callers use. */
#define OPEN_2(name)                                        \
  int name(const char *path, int flags);                    \
  int name(const char *path, int flags) {                   \
    NEXT(name);                                             \
    const enum strike s = meet_open(AT_FDCWD, path, flags); \
    FINISH(int, s, -1, next(path, flags));                  \
  }
OPEN_2(__open_2)
OPEN_2(__open64_2)

/* A direct write may not be cut anywhere: then it is not. */
#define WRITE(name, parameters, whole_call, cut_call) \
  ssize_t name parameters {                           \
    NEXT(name);                                       \
    const enum strike s = meet_fd(call_write, fd);    \
    if (s == cut) {                                   \
      const ssize_t n = cut_call;                     \
      if (n >= 0 || errno != EINVAL) return n;        \
    }                                                 \
    FINISH(ssize_t, s, -1, whole_call);               \
  }
WRITE(write, (int fd, const void *bytes, size_t n_bytes), next(fd, bytes, n_bytes), next(fd, bytes, shortened(n_bytes)))
#define PWRITE(name, offset_type)                                                                        \
  WRITE(name, (int fd, const void *bytes, size_t n_bytes, offset_type at), next(fd, bytes, n_bytes, at), \
        next(fd, bytes, shortened(n_bytes), at))
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

static struct iovec first_half(const struct iovec *list) {
  return (struct iovec){list->iov_base, shortened(list->iov_len)};
}
WRITE(writev, (int fd, const struct iovec *list, int count), next(fd, list, count),
      next(fd, &(struct iovec){first_half(list).iov_base, first_half(list).iov_len}, 1))
#define PWRITEV(name, offset_type)                                                                      \
  WRITE(name, (int fd, const struct iovec *list, int count, offset_type at), next(fd, list, count, at), \
        next(fd, &(struct iovec){first_half(list).iov_base, first_half(list).iov_len}, 1, at))
PWRITEV(pwritev, off_t)
PWRITEV(pwritev64, off64_t)
#define PWRITEV2(name, offset_type)                                                     \
  WRITE(name, (int fd, const struct iovec *list, int count, offset_type at, int flags), \
        next(fd, list, count, at, flags),                                               \
        next(fd, &(struct iovec){first_half(list).iov_base, first_half(list).iov_len}, 1, at, flags))
PWRITEV2(pwritev2, off_t)
PWRITEV2(pwritev64v2, off64_t)

#define ON_FD(name, call, parameters, action) \
  int name parameters {                       \
    NEXT(name);                               \
    const enum strike s = meet_fd(call, fd);  \
    FINISH(int, s, -1, action);               \
  }
ON_FD(fallocate, call_allocate, (int fd, int mode, off_t at, off_t bytes), next(fd, mode, at, bytes))
ON_FD(fallocate64, call_allocate, (int fd, int mode, off64_t at, off64_t bytes), next(fd, mode, at, bytes))
ON_FD(ftruncate, call_allocate, (int fd, off_t bytes), next(fd, bytes))
ON_FD(ftruncate64, call_allocate, (int fd, off64_t bytes), next(fd, bytes))
ON_FD(fsync, call_sync, (int fd), next(fd))
ON_FD(fdatasync, call_sync, (int fd), next(fd))

/* These return the error. */
#define POSIX_FALLOCATE(name, offset_type)              \
  int name(int fd, offset_type at, offset_type bytes) { \
    NEXT(name);                                         \
    const enum strike s = meet_fd(call_allocate, fd);   \
    FINISH(int, s, errno, next(fd, at, bytes));         \
  }
POSIX_FALLOCATE(posix_fallocate, off_t)
POSIX_FALLOCATE(posix_fallocate64, off64_t)

/* Whatever close(2) says, the descriptor is gone. */
int close(int fd) {
  NEXT(close);
  if (!watching()) return next(fd);
  const int flags = fcntl(fd, F_GETFL);
  const int writes = flags >= 0 && (flags & O_PATH) == 0 && (flags & O_ACCMODE) != O_RDONLY;
  const enum strike s = meet_fd(writes ? call_close : call_close_read, fd);
  const int error = errno, result = next(fd);
  if (s == die_after) die();
  if (s != fail) return result;
  errno = error;
  return -1;
}

#define ON_PATH(name, call, folder, parameters, action)  \
  int name parameters {                                  \
    NEXT(name);                                          \
    const enum strike s = meet_path(call, folder, path); \
    FINISH(int, s, -1, action);                          \
  }
ON_PATH(truncate, call_allocate, AT_FDCWD, (const char *path, off_t bytes), next(path, bytes))
ON_PATH(truncate64, call_allocate, AT_FDCWD, (const char *path, off64_t bytes), next(path, bytes))
ON_PATH(unlink, call_unlink, AT_FDCWD, (const char *path), next(path))
ON_PATH(unlinkat, call_unlink, folder, (int folder, const char *path, int flags), next(folder, path, flags))
ON_PATH(remove, call_unlink, AT_FDCWD, (const char *path), next(path))
ON_PATH(rename, call_rename, AT_FDCWD, (const char *path, const char *to), next(path, to))
ON_PATH(renameat, call_rename, folder, (int folder, const char *path, int other, const char *to),
        next(folder, path, other, to))
ON_PATH(renameat2, call_rename, folder, (int folder, const char *path, int other, const char *to, unsigned flags),
        next(folder, path, other, to, flags))
ON_PATH(link, call_rename, AT_FDCWD, (const char *path, const char *to), next(path, to))
ON_PATH(linkat, call_rename, folder, (int folder, const char *path, int other, const char *to, int flags),
        next(folder, path, other, to, flags))

#define MMAP(name, offset_type)                                                                \
  void *name(void *address, size_t bytes, int protection, int flags, int fd, offset_type at) { \
    NEXT(name);                                                                                \
    const enum strike s = meet_fd(call_map, (flags & MAP_ANONYMOUS) != 0 ? -1 : fd);           \
    if (s == fail) return MAP_FAILED;                                                          \
    void *result = next(address, bytes, protection, flags, fd, at);                            \
    if (s == die_after) die();                                                                 \
    return result;                                                                             \
  }
MMAP(mmap, off_t)
MMAP(mmap64, off64_t)

#ifdef HAVE_URING
/* What is about to go to the kernel. A request that is to fail gets no descriptor; whoever then repeats it by a plain
    call meets the error there. */
int io_uring_submit_and_wait(struct io_uring *ring, unsigned wait) {
  NEXT(io_uring_submit_and_wait);
  int last = 0;
  for (unsigned i = ring->sq.sqe_head; watching() && i != ring->sq.sqe_tail; ++i) {
    struct io_uring_sqe *request = &ring->sq.sqes[i & *ring->sq.kring_mask];
    if (request->opcode != IORING_OP_WRITE) continue;
    switch (meet_fd(call_write, request->fd)) {
      case go_on:
        break;
      case cut:
        request->len = (unsigned)shortened(request->len);
        break;
      case die_after:
        last = 1;
        break;
      case fail:
        request->fd = -1;
        if (errno != EINTR) page->owed = errno;
        break;
    }
  }
  const int result = next(ring, wait);
  if (last) die();
  return result;
}
#endif
