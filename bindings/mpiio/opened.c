/* opened.c: the C library's functions that open files, in front of it: where files may be written in the background
 * (plan servers), whoever opens one waits until it is complete, in any process of the job that has this library, so
 * that serial readers and writers see what MPI_File_close promised. The locks are those of background.cpp. */
#define _GNU_SOURCE
#include "opened.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int (*penstock_inside)(void) = 0;

static int has_background(void) {
  static int known = -1;
  if (known < 0) {
    const char *plan = getenv("PENSTOCK_RUN_PLAN"), *run = getenv("PENSTOCK_RUN");
    known = plan != NULL && strstr(plan, "servers") != NULL && !(run != NULL && strcmp(run, "0") == 0);
  }
  return known && !(penstock_inside != 0 && penstock_inside());
}

static void wait_for(int fd) {
  struct stat info;
  const int before = errno;
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
    for (useconds_t pause = 50;; pause = pause < 2000 ? 2 * pause : pause) {
      const off_t base = (off_t)1 << 62;
      struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = base, .l_len = base / 2};
      if (fcntl(fd, F_OFD_GETLK, &lock) != 0 || lock.l_type == F_UNLCK || lock.l_start < base) break;
      usleep(pause);
    }
  errno = before;
}

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

typedef int opening(int, const char *, int, ...);

/* FLAGS cut the file off: what waits must be in it before, not after. */
static void wait_before(opening *original, int folder, const char *path, int flags) {
  if ((flags & O_TRUNC) == 0) return;
  const int before = errno;
  struct stat info;
  if (fstatat(folder, path, &info, 0) == 0 && S_ISREG(info.st_mode)) {
    const int fd = original(folder, path, O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
      wait_for(fd);
      close(fd);
    }
  }
  errno = before;
}

static int opened(int folder, const char *path, int flags, mode_t mode) {
  static opening *original;
  if (original == 0) *(void **)&original = next("openat64");
  if (!has_background() || (flags & (O_PATH | O_DIRECTORY)) != 0) return original(folder, path, flags, mode);
  wait_before(original, folder, path, flags);
  const int fd = original(folder, path, flags, mode);
  if (fd >= 0) wait_for(fd);
  return fd;
}

static mode_t mode_in(int flags, va_list more) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(more, mode_t) : 0;
}

#define OPEN(name, more_flags)                                 \
  int name(const char *path, int flags, ...) {                 \
    va_list more;                                              \
    va_start(more, flags);                                     \
    const mode_t mode = mode_in(flags, more);                  \
    va_end(more);                                              \
    return opened(AT_FDCWD, path, flags | (more_flags), mode); \
  }
#define OPENAT(name)                                       \
  int name(int folder, const char *path, int flags, ...) { \
    va_list more;                                          \
    va_start(more, flags);                                 \
    const mode_t mode = mode_in(flags, more);              \
    va_end(more);                                          \
    return opened(folder, path, flags, mode);              \
  }
OPEN(open, 0)
OPEN(open64, 0)
OPENAT(openat)
OPENAT(openat64)
int creat(const char *path, mode_t mode) { return opened(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return creat(path, mode); }
/* Of programs that were compiled with _FORTIFY_SOURCE. */
int __open_2(const char *path, int flags);
int __open_2(const char *path, int flags) { return opened(AT_FDCWD, path, flags, 0); }
int __open64_2(const char *path, int flags);
int __open64_2(const char *path, int flags) { return opened(AT_FDCWD, path, flags, 0); }

static FILE *stream(const char *name, const char *path, const char *mode) {
  FILE *(*original)(const char *, const char *) = 0;
  *(void **)&original = next(name);
  const int waits = has_background();
  if (waits && mode[0] == 'w') {
    opening *at = 0;
    *(void **)&at = next("openat64");
    wait_before(at, AT_FDCWD, path, O_TRUNC);
  }
  FILE *const file = original(path, mode);
  if (file != NULL && waits) wait_for(fileno(file));
  return file;
}
FILE *fopen(const char *path, const char *mode) { return stream("fopen", path, mode); }
FILE *fopen64(const char *path, const char *mode) { return stream("fopen64", path, mode); }
