/* corrupt: preloaded into the ranks of a program, silently changes what one write leaves in a file.
 *
 * PENSTOCK_CORRUPT says how: zero, flip, shift, swap or stale. The first write of 512 bytes at or after offset 128 KiB
 * of a file is remembered. When the same place is written again, these bytes are changed, once: all zero; one bit
 * turned over; moved on by 8 bytes; their halves exchanged; or as they were before. With "read", what is read there has
 * a bit turned over instead; with "lost", nothing that is read from there on gets into memory. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { from = 128 << 10, changed = 512, max_vectors = 1024 };

static unsigned char before[changed];
static long place; /* 0 until it is known */
static int struck;

/* The function of this name that comes after ours. */
#define NEXT(name)               \
  static __typeof__(&name) next; \
  if (next == 0) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/* Of a method of penstock-bench, whose other files measure the device. */
static int is_meant(int fd) {
  char link[64], path[4096];
  struct stat about;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, path, sizeof path - 1);
  path[n < 0 ? 0 : n] = 0;
  return strstr(path, "/method") != 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
}

static void change(const char *how, unsigned char *at) {
  unsigned char half[changed / 2];
  if (strcmp(how, "zero") == 0) memset(at, 0, changed);
  if (strcmp(how, "flip") == 0) at[1] ^= 4;
  if (strcmp(how, "shift") == 0) memmove(at + 8, at, changed - 8);
  if (strcmp(how, "stale") == 0) memcpy(at, before, changed);
  if (strcmp(how, "swap") == 0) {
    memcpy(half, at, sizeof half);
    memcpy(at, at + sizeof half, sizeof half);
    memcpy(at + sizeof half, half, sizeof half);
  }
}

/* Where in LENGTH bytes at OFFSET of a file the change goes, from their start; -1 where they do not reach it. */
static long reached(size_t length, long offset) {
  const long at = offset > from ? offset : from;
  return at + changed <= offset + (long)length ? at - offset : -1;
}

/* Null, or a copy of BYTES with the change in it. */
static void *spoilt(int fd, const void *bytes, size_t length, long offset) {
  const char *how = getenv("PENSTOCK_CORRUPT");
  const long at = reached(length, offset);
  if (how == 0 || struck || strcmp(how, "read") == 0 || strcmp(how, "lost") == 0 || at < 0 || !is_meant(fd)) return 0;
  if (place == 0) {
    place = offset + at;
    memcpy(before, (const char *)bytes + at, changed);
    return 0;
  }
  if (place != offset + at) return 0;
  void *copy = malloc(length);
  if (copy == 0) return 0;
  memcpy(copy, bytes, length);
  change(how, (unsigned char *)copy + at);
  struck = 1;
  return copy;
}

#define PWRITE(name, type)                                                \
  ssize_t name(int fd, const void *bytes, size_t length, type offset) {   \
    NEXT(name);                                                           \
    void *copy = spoilt(fd, bytes, length, (long)offset);                 \
    const ssize_t n = next(fd, copy != 0 ? copy : bytes, length, offset); \
    free(copy);                                                           \
    return n;                                                             \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t write(int fd, const void *bytes, size_t length) {
  NEXT(write);
  void *copy = length >= changed && is_meant(fd) ? spoilt(fd, bytes, length, (long)lseek(fd, 0, SEEK_CUR)) : 0;
  const ssize_t n = next(fd, copy != 0 ? copy : bytes, length);
  free(copy);
  return n;
}

#define PWRITEV(name, type)                                                   \
  ssize_t name(int fd, const struct iovec *vectors, int count, type offset) { \
    NEXT(name);                                                               \
    struct iovec own[max_vectors];                                            \
    if (count > max_vectors) return next(fd, vectors, count, offset);         \
    memcpy(own, vectors, (size_t)count * sizeof *own);                        \
    void *copy = 0;                                                           \
    long at = (long)offset;                                                   \
    for (int i = 0; i < count && copy == 0; at += (long)own[i++].iov_len) {   \
      copy = spoilt(fd, own[i].iov_base, own[i].iov_len, at);                 \
      if (copy != 0) own[i].iov_base = copy;                                  \
    }                                                                         \
    const ssize_t n = next(fd, own, count, offset);                           \
    free(copy);                                                               \
    return n;                                                                 \
  }
PWRITEV(pwritev, off_t)
PWRITEV(pwritev64, off64_t)

#define PREAD(name, type)                                                                               \
  ssize_t name(int fd, void *bytes, size_t length, type offset) {                                       \
    NEXT(name);                                                                                         \
    const char *how = getenv("PENSTOCK_CORRUPT");                                                       \
    if (how != 0 && strcmp(how, "lost") == 0 && offset >= from && is_meant(fd)) return (ssize_t)length; \
    const ssize_t n = next(fd, bytes, length, offset);                                                  \
    const long at = n < 0 ? -1 : reached((size_t)n, (long)offset);                                      \
    if (how != 0 && strcmp(how, "read") == 0 && at >= 0 && !struck && is_meant(fd)) {                   \
      struck = 1;                                                                                       \
      change("flip", (unsigned char *)bytes + at);                                                      \
    }                                                                                                   \
    return n;                                                                                           \
  }
PREAD(pread, off_t)
PREAD(pread64, off64_t)
