/* entry.c: libpenstock_mpiio.so, which is preloaded or linked: MPI's functions on files by both of their names, for
 * programs of any language. It stands on the C library alone, so that it may be in every process that a job script
 * starts. In a process that uses this build's MPI it loads the library beside it that does the work. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "opened.h"

typedef intptr_t word;
/* MPI's have at most six arguments, none in floating point. */
typedef word (*function)(word, word, word, word, word, word);

#define FUNCTION(name) at_##name,
#define LARGE(name) at_##name##_c,
enum {
#include "functions.h"
  count
};
#undef FUNCTION
#undef LARGE
#define FUNCTION(name) "PMPI_" #name,
#define LARGE(name) "PMPI_" #name "_c",
static const char *const names[count] = {
#include "functions.h"
};
#undef FUNCTION
#undef LARGE

static function targets[count]; /* ours, or MPI's own */
static function originals[count];

static word absent(word a, word b, word c, word d, word e, word f) {
  (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
  return 15; /* MPI_ERR_OTHER or close to it in every library: this MPI has no such function */
}

static int is_mpi(struct dl_phdr_info *object, size_t bytes, void *found) {
  (void)bytes;
  const char *slash = strrchr(object->dlpi_name, '/'), *name = slash == 0 ? object->dlpi_name : slash + 1;
  if (strncmp(name, "libmpi.so", 9) != 0 && strncmp(name, "libmpich.so", 11) != 0 && strncmp(name, "libmpi_", 7) != 0)
    return 0;
  void *library = dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
  if (library == 0 || dlsym(library, "PMPI_File_open") == 0) return 0;
  *(void **)found = library;
  return 1;
}

/* MPI's own function. Its library may be visible to its users only, as in Python. */
static void *original(const char *name) {
  static void *library;
  void *found = dlsym(RTLD_NEXT, name);
  if (found != 0) return found;
  if (library == 0) dl_iterate_phdr(is_mpi, &library);
  return library == 0 ? 0 : dlsym(library, name);
}

static void say_other_mpi(void) {
  const char *folder = getenv("PENSTOCK_RUN_REPORT");
  char path[4096], host[256] = "host";
  if (folder == 0) return;
  gethostname(host, sizeof host - 1);
  if (snprintf(path, sizeof path, "%s/%s-%ld.json", folder, host, (long)getpid()) >= (int)sizeof path) return;
  FILE *file = fopen(path, "w");
  if (file == 0) return;
  fputs("{\"warnings\": [\"the program's MPI is not " PENSTOCK_MPI_FLAVOUR
        ", for which this Penstock was built: its calls went to its own MPI library\"]}\n",
        file);
  fclose(file);
}

static int has_our_mpi(void) {
  const int openmpi = original("ompi_mpi_comm_world") != 0;
  return openmpi == (strcmp(PENSTOCK_MPI_FLAVOUR, "openmpi") == 0);
}

/* The library that does the work, from the folder of this one; null where it does not apply. */
static void *worker(void) {
  Dl_info here;
  char path[4096];
  if (getenv("PENSTOCK_RUN") != 0 && strcmp(getenv("PENSTOCK_RUN"), "0") == 0) return 0;
  if (dladdr((void *)worker, &here) == 0 || here.dli_fname == 0) return 0;
  const char *slash = strrchr(here.dli_fname, '/');
  const int folder = slash == 0 ? 0 : (int)(slash - here.dli_fname) + 1;
  const int length = snprintf(path, sizeof path, "%.*slibpenstock_mpiio_core.so", folder, here.dli_fname);
  return length < (int)sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : 0;
}

static void start(void) {
  int some = 0;
  for (int i = 0; i < count; ++i) {
    void *found = original(names[i]);
    some = some || found != 0;
    originals[i] = found != 0 ? (function)found : absent;
  }
  function const *ours = 0;
  if (some && has_our_mpi()) {
    void *library = worker();
    function const *(*take)(function const *) = 0;
    /* Other MPI libraries have the same names for other things. */
    if (library != 0 && dlsym(library, "PMPI_File_get_amode") != original("PMPI_File_get_amode")) {
      say_other_mpi();
      library = 0;
    }
    if (library != 0) *(void **)&take = dlsym(library, "penstock_mpiio_take");
    if (take != 0) {
      ours = take(originals);
      *(void **)&penstock_inside = dlsym(library, "penstock_mpiio_inside");
    }
  } else if (some) {
    say_other_mpi();
  }
  for (int i = 0; i < count; ++i)
    __atomic_store_n(&targets[i], ours != 0 && ours[i] != 0 ? ours[i] : originals[i], __ATOMIC_RELEASE);
}

static function target(int at) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  function found = __atomic_load_n(&targets[at], __ATOMIC_ACQUIRE);
  if (found != 0) return found;
  pthread_once(&once, start);
  return targets[at];
}

/* MPI's Fortran interface calls one of the two names; a wrapper before this library, like Darshan's, the second. */
#define HOOK(name, at)                                                                                      \
  word PMPI_##name(word a, word b, word c, word d, word e, word f) { return target(at)(a, b, c, d, e, f); } \
  word MPI_##name(word a, word b, word c, word d, word e, word f) __attribute__((alias("PMPI_" #name)));
#define FUNCTION(name) HOOK(name, at_##name)
#define LARGE(name) HOOK(name##_c, at_##name##_c)
#include "functions.h"
