/* ranks.c: the ground that the C tests stand on. */
#define _GNU_SOURCE
#include "ranks.h"

#include <dirent.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

int rank = 0, size = 1;
#if PENSTOCK_HAVE_MPI
penstock_comm world = MPI_COMM_NULL;
#else
penstock_comm world = PENSTOCK_ALONE;
#endif
static long checks = 0, failures = 0;
static char base[512] = "";
static const char *current = "";

static void share(void *bytes, int n) {
#if PENSTOCK_HAVE_MPI
  MPI_Bcast(bytes, n, MPI_BYTE, 0, MPI_COMM_WORLD);
#else
  (void)bytes, (void)n;
#endif
}

void barrier(void) {
#if PENSTOCK_HAVE_MPI
  MPI_Barrier(MPI_COMM_WORLD);
#endif
}

int64_t lowest(int64_t value) {
#if PENSTOCK_HAVE_MPI
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
#endif
  return value;
}

int64_t highest(int64_t value) { return -lowest(-value); }

void ranks_begin(int *argc, char ***argv) {
#if PENSTOCK_HAVE_MPI
  /* PENSTOCK_TEST_THREADS: single (the default), funneled, multiple */
  const char *threads = getenv("PENSTOCK_TEST_THREADS");
  const int level = threads == NULL                    ? MPI_THREAD_SINGLE
                    : strcmp(threads, "multiple") == 0 ? MPI_THREAD_MULTIPLE
                                                       : MPI_THREAD_FUNNELED;
  int provided = 0;
  MPI_Init_thread(argc, argv, level, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  world = MPI_COMM_WORLD;
#else
  (void)argc, (void)argv;
#endif
  if (rank == 0) {
    if (!getcwd(base, sizeof base - 32)) exit(1);
    strcat(base, "/penstock-capi-XXXXXX");
    if (!mkdtemp(base)) perror(base);
  }
  share(base, sizeof base);
}

static int remove_one(const char *path, const struct stat *info, int flag, struct FTW *walk) {
  (void)info, (void)flag, (void)walk;
  return remove(path);
}

int ranks_end(const char *program) {
  const int64_t failed = highest(failures);
  if (rank == 0) {
    nftw(base, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    printf("%s: %d ranks, %ld checks on rank 0, %s\n", program, size, checks, failed ? "FAILED" : "all well");
  }
#if PENSTOCK_HAVE_MPI
  MPI_Finalize();
#endif
  return failed != 0;
}

void check_at(int condition, const char *what, const char *file, int line) {
  checks++;
  if (condition || failures++ > 20) return;
  fprintf(stderr, "%s:%d: rank %d: %s: %s\n", file, line, rank, current, what);
}

void check_status(penstock_status is, penstock_status wanted, const char *what, const char *file, int line) {
  checks++;
  if (is == wanted || failures++ > 20) return;
  fprintf(stderr, "%s:%d: rank %d: %s: %s: is '%s', not '%s': %s\n", file, line, rank, current, what,
          penstock_status_name(is), penstock_status_name(wanted), penstock_message());
}

const char *folder(void) { return base; }

const char *in_folder(const char *name) {
  static char paths[4][1024];
  static int next = 0;
  char *path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", base, name);
  return path;
}

/* A sum over names and bytes of all that is in the folder; rank 0 only. */
static uint64_t picture;
static int look(const char *path, const struct stat *info, int flag, struct FTW *walk) {
  uint64_t hash = 14695981039346656037u; /* FNV-1a */
  (void)walk;
  for (const char *c = path; *c; c++) hash = (hash ^ (unsigned char)*c) * 1099511628211u;
  hash ^= (uint64_t)flag << 56;
  FILE *file = flag == FTW_F && S_ISREG(info->st_mode) ? fopen(path, "rb") : NULL;
  for (int c; file && (c = fgetc(file)) != EOF;) hash = (hash ^ (unsigned)c) * 1099511628211u;
  if (file) fclose(file);
  picture += hash;
  return 0;
}

static uint64_t take_picture(void) {
  picture = 0;
  barrier();
  if (rank == 0) nftw(base, look, 16, FTW_PHYS);
  barrier();
  return picture;
}

void run_cases(const Case *cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const Case *c = &cases[i];
    current = c->name;
    const uint64_t before = take_picture();
    const penstock_status status = c->run();
    char mine[4096] = "", first[4096] = "";
    if (status) snprintf(mine, sizeof mine, "%s", penstock_message());
    memcpy(first, mine, sizeof first);
    share(first, sizeof first);
    if (status != c->status) check_status(status, c->status, "status of the case", __FILE__, __LINE__);
    if (lowest(status) != highest(status)) check_at(0, "not the same status on all ranks", __FILE__, __LINE__);
    check_at(!strcmp(mine, first), mine, __FILE__, __LINE__); /* one message on all ranks */
    for (const char *const *word = c->said; *word; word++)
      if (!strstr(mine, *word)) {
        fprintf(stderr, "'%s' is not in the message: %s\n", *word, mine);
        check_at(0, "a word is missing", __FILE__, __LINE__);
      }
    if (take_picture() != before) check_at(0, "the folder has changed", __FILE__, __LINE__);
    if (rank == 0 && getenv("VERBOSE")) printf("%s: %s: %s\n", c->name, penstock_status_name(status), mine);
  }
  current = "";
}

void make_file(const char *path) {
  double data[12];
  penstock_file *f = NULL;
  penstock_decomposition *d = NULL;
  for (int i = 0; i < 12; i++) data[i] = 12.0 * rank + i;
  CHECK_OK(penstock_create(world, path, NULL, &f));
  CHECK_OK(penstock_block(2, (int64_t[]){4 * size, 3}, (int64_t[]){4 * rank, 0}, (int64_t[]){4, 3}, &d));
  CHECK_OK(penstock_put(f, "data", PENSTOCK_DOUBLE, d, data, NULL));
  CHECK_OK(penstock_attribute(f, "data", "units", "m"));
  CHECK_OK(penstock_close(f));
  penstock_free(d);
}

penstock_status finish(penstock_status opened, penstock_file **file) { return opened ? opened : penstock_close(*file); }
