/* program.h: a program of several cases, of which one runs on one file. */
#pragma once

#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static const char *path;

static MPI_File opened(const char *name) {
  MPI_File file;
  OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
  return file;
}

/* Collective: byte AT of the file. */
static int byte_at(const char *name, long at) {
  MPI_Barrier(MPI_COMM_WORLD);
  unsigned char byte = 0;
  const int fd = open(name, O_RDONLY);
  const long got = pread(fd, &byte, 1, at);
  close(fd);
  MPI_Barrier(MPI_COMM_WORLD);
  return got == 1 ? byte : -1;
}

struct test_case {
  const char *name;
  void (*run)(void);
};

/* PROGRAM CASE FILE. The exit status is 1 if anything is wrong on any rank, or if there is no such case. Those with
 * several threads have that in their names. */
static int run_case(int argc, char **argv, const struct test_case *cases, size_t count) {
  int provided = 0, failed = 1;
  const int level = strstr(argv[1], "threads") != NULL ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED;
  MPI_Init_thread(&argc, &argv, level, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  path = argv[2];
  for (size_t i = 0; i < count; ++i)
    if (strcmp(cases[i].name, argv[1]) == 0) {
      cases[i].run();
      failed = failures > 0;
    }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) remove(path);
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return failed;
}
