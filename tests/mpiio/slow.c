/* slow.c: preloaded: a file system that is slow for all threads but the first, so that what a program hands over to one
 * is not in its file yet when it goes on. Each write takes SLOW_MS, waits until the file SLOW_GATE is there, and fails
 * with the number SLOW_ERRNO, if they are set. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
  if (syscall(SYS_gettid) != getpid()) {
    const char *pause = getenv("SLOW_MS"), *gate = getenv("SLOW_GATE"), *number = getenv("SLOW_ERRNO");
    if (pause != NULL) usleep((useconds_t)atoi(pause) * 1000);
    while (gate != NULL && access(gate, F_OK) != 0) usleep(1000);
    if (number != NULL) {
      errno = atoi(number);
      return -1;
    }
  }
  return syscall(SYS_pwrite64, file, bytes, count, offset);
}
ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) __attribute__((alias("pwrite64")));
