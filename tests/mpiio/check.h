/* check.h: what the programs of these tests share: who they are, and how they say what is wrong. */
#pragma once

#include <mpi.h>
#include <stdio.h>

static int rank, ranks, failures;

#define CHECK(good, ...)                          \
  do {                                            \
    if (good) break;                              \
    printf("rank %d, line %d: ", rank, __LINE__); \
    printf(__VA_ARGS__);                          \
    printf("\n");                                 \
    ++failures;                                   \
  } while (0)
#define OK(call)                                                    \
  do {                                                              \
    const int error_ = (call);                                      \
    CHECK(error_ == MPI_SUCCESS, "%s: %s", #call, text_of(error_)); \
  } while (0)

static inline const char *text_of(int error) {
  static char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(error, text, &length);
  return text;
}

static inline int class_of(int error) {
  int found = MPI_SUCCESS;
  MPI_Error_class(error, &found);
  return found;
}
