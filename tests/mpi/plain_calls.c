/* plain_calls.c: file-system calls as a library may make them, one of each; its name makes it a traced library. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

int plain_calls(const char *path) {
  char text[16];
  struct iovec list[2] = {{text, 3}, {text + 3, 4}};
  const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  int good = fd >= 0;
  good = good && write(fd, "abcde", 5) == 5 && write(fd, "fgh", 3) == 3;
  good = good && lseek(fd, 2, SEEK_SET) == 2 && read(fd, text, 4) == 4 && read(fd, text, 1) == 1;
  good = good && pwrite(fd, "xyz", 3, 100) == 3 && pread(fd, text, 2, 101) == 2;
  good = good && pwritev(fd, list, 2, 200) == 7 && preadv(fd, list, 2, 203) == 4;
  good = good && fdatasync(fd) == 0 && ftruncate(fd, 50) == 0;
  return good && close(fd) == 0;
}
