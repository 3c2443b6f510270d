/* ranks.h: what the C tests share: ranks, counted checks, a fresh folder, cases of errors. C11, with or without MPI. */
#ifndef PENSTOCK_TESTS_RANKS_H
#define PENSTOCK_TESTS_RANKS_H

#include <penstock.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int rank, size;
extern penstock_comm world;

void ranks_begin(int *argc, char ***argv);
/* Collective. One line on rank 0; 0, or 1 where any check failed on any rank. */
int ranks_end(const char *program);
void barrier(void);
int64_t lowest(int64_t value), highest(int64_t value); /* collective, over all ranks */

void check_at(int condition, const char *what, const char *file, int line);
#define CHECK(condition) check_at((condition) != 0, #condition, __FILE__, __LINE__)
#define CHECK_OK(call) check_status((call), PENSTOCK_OK, #call, __FILE__, __LINE__)
#define CHECK_IS(call, code) check_status((call), (code), #call, __FILE__, __LINE__)
void check_status(penstock_status is, penstock_status wanted, const char *what, const char *file, int line);

/* A folder that rank 0 makes at the start and removes at the end. */
const char *folder(void);
/* "FOLDER/NAME"; four may be in use at once. */
const char *in_folder(const char *name);

/* A case of an error: all ranks call RUN, which must return STATUS on each of them. All have the same message, which
 * contains each of the words in SAID (NULL at the end). The bytes in the folder are the same afterwards. */
typedef struct Case {
  const char *name;
  penstock_status (*run)(void);
  penstock_status status;
  const char *said[5];
} Case;
void run_cases(const Case *cases, size_t count);

/* Collective. Makes a file with f64 "data" of shape (4 * size, 3), 4 rows for each rank; the value of an element is its
 * index; attribute "units" = "m". */
void make_file(const char *path);
/* The status of opening FILE, where that failed, else that of closing it. */
penstock_status finish(penstock_status opened, penstock_file **file);

#endif
