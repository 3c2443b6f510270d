/* lustre: preloaded into the one process of a program, makes its file system look like Lustre with one stripe a file.
 *
 * statfs says so, and the ioctls that read and set stripes are answered. A line of PENSTOCK_TEST_STRIPES is the number
 * of stripes that was set on a new file, 65535 for all; 16 are refused. Until all are set on one, fdatasync and fsync
 * of any file take a tenth of a second longer. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { all_targets = 0xFFFF, magic = 0x0BD10BD0 };

/* lov_user_md_v1 without its objects. */
struct layout {
  uint32_t magic, pattern;
  uint64_t object[2];
  uint32_t stripe_bytes;
  uint16_t stripe_count, stripe_offset;
};

static int stripes; /* of the newest file */

/* The function of this name that comes after ours. */
#define NEXT(name)               \
  static __typeof__(&name) next; \
  if (next == 0) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

int statfs(const char *path, struct statfs *result) {
  NEXT(statfs);
  const int status = next(path, result);
  result->f_type = 0x0BD00BD0;
  return status;
}

int statfs64(const char *path, struct statfs64 *result) { return statfs(path, (struct statfs *)result); }

int ioctl(int fd, unsigned long request, ...) {
  NEXT(ioctl);
  va_list arguments;
  va_start(arguments, request);
  void *argument = va_arg(arguments, void *);
  va_end(arguments);
  struct layout *layout = argument;
  if (request == _IOW('f', 155, long)) {
    *layout = (struct layout){.magic = magic, .pattern = 1, .stripe_bytes = 1 << 20, .stripe_count = 1};
    return 0;
  }
  if (request != _IOW('f', 154, long)) return next(fd, request, argument);
  if (layout->stripe_count == 16) {
    errno = EINVAL;
    return -1;
  }
  stripes = layout->stripe_count;
  FILE *said = fopen(getenv("PENSTOCK_TEST_STRIPES"), "a");
  if (said == 0) abort();
  fprintf(said, "%d\n", stripes);
  fclose(said);
  return 0;
}

/* A file that is created without delay has the folder's one stripe. */
static int opened(int (*next)(const char *, int, ...), const char *path, int flags, int mode) {
  const int delayed = O_NOCTTY | FASYNC;
  if ((flags & O_EXCL) != 0 && (flags & delayed) != delayed) stripes = 1;
  return next(path, flags, mode);
}

#define OPEN(name)                             \
  int name(const char *path, int flags, ...) { \
    NEXT(name);                                \
    va_list arguments;                         \
    va_start(arguments, flags);                \
    const int mode = va_arg(arguments, int);   \
    va_end(arguments);                         \
    return opened(next, path, flags, mode);    \
  }
OPEN(open)
OPEN(open64)

static void settle(void) {
  if (stripes != all_targets) usleep(100000);
}

int fdatasync(int fd) {
  NEXT(fdatasync);
  settle();
  return next(fd);
}

int fsync(int fd) {
  NEXT(fsync);
  settle();
  return next(fd);
}
