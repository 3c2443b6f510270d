/* calls.c: a known number of calls on files, in two threads and a child: tests/python/test_profile.py counts them. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char bytes[4096];

static void *write_pieces(void *name) {
  const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  for (int i = 0; i < 100; ++i)
    if (write(fd, bytes, 1000) != 1000) return name;
  close(fd);
  return 0;
}

int main(int argc, char **argv) {
  pthread_t threads[2];
  pthread_create(&threads[0], 0, write_pieces, "a.dat");
  pthread_create(&threads[1], 0, write_pieces, "b.dat");
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], 0);
  const int fd = open("a.dat", O_RDWR);
  if (pread(fd, bytes, 50, 500) != 50 || pwrite(fd, bytes, 4096, 1 << 20) != 4096) return 1;
  fsync(fd);
  close(fd);
  if (fork() == 0) _exit(write_pieces("child.dat") == 0 ? 0 : 1);
  wait(0);
  if (argc > 1 && strcmp(argv[1], "killed") == 0) raise(SIGKILL);
  puts("its own words");
  return 3;
}
