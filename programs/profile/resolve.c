/* resolve.c: finds the original function for a caller, and the program's call site. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <unwind.h>

#include "profile.h"

static word nowhere(void) {
  errno = ENOSYS;
  return (word)-1;
}
static word refuse(void) { return 2; } /* MPI_ERR_COUNT, of every MPI library */

/* A library opened with RTLD_LOCAL, such as h5py's HDF5 in Python, is visible only to its users. */
void *found_by(const char *name, const void *caller) {
  void *found = dlsym(RTLD_NEXT, name);
  Dl_info about;
  if (found != 0 || dladdr(caller, &about) == 0 || about.dli_fname == 0) return found;
  void *object = dlopen(about.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (object == 0) return 0;
  found = dlsym(object, name);
  dlclose(object);
  return found;
}

static void *look_up(struct function *function, const void *caller) {
  void *next = __atomic_load_n(&function->next, __ATOMIC_ACQUIRE);
  if (next != 0) return next;
  next = dlsym(RTLD_NEXT, function->name);
  if (next != 0) {
    __atomic_store_n(&function->next, next, __ATOMIC_RELEASE);
    return next;
  }
  const size_t at = ((word)caller >> 2) % (sizeof function->near / sizeof function->near[0]);
  if (__atomic_load_n(&function->near[at].caller, __ATOMIC_ACQUIRE) == caller) return function->near[at].target;
  next = found_by(function->name, caller);
  if (next == 0) next = (void *)nowhere;
  const void *none = 0; /* a used slot stays: no reader sees half of an entry */
  if (__atomic_compare_exchange_n(&function->near[at].caller, &none, (const void *)1, 0, __ATOMIC_ACQ_REL,
                                  __ATOMIC_RELAXED)) {
    function->near[at].target = next;
    __atomic_store_n(&function->near[at].caller, caller, __ATOMIC_RELEASE);
  }
  return next;
}

void *next_of(struct function *function, const word *arguments, const void *caller) {
  void *next = look_up(function, caller);
  if (next != (void *)nowhere || function->plain == 0) return next;
  return (int64_t)arguments[function->argument] > INT32_MAX ? (void *)refuse : look_up(function->plain, caller);
}

/* --- where a call comes from --- */

/* The start of the names of libraries that call on behalf of others. */
static const char *const between[] = {
    "libpenstock", "libmpi",      "libpmpi",   "libopen-",   "mca_",     "libhdf5",    "libnetcdf", "libpnetcdf",
    "libadios2",   "libgfortran", "libifcore", "libifport",  "libflang", "libFortran", "libc.so",   "libc-",
    "libm.so",     "libstdc++",   "libc++",    "libpthread", "ld-linux", "libgcc_s",   "libucp",    "libucs",
    "libpmix",     "libevent",    "libfabric", "libromio",   "libpsm",   "libsz",      "libaec",    "libz.so"};

static int is_between(const void *address) {
  static _Atomic(word)
      known[1024]; /* address, with the answer in its lowest bit: return addresses in the same object, so unambiguous */
  const size_t at = ((word)address >> 1) % 1024;
  const word seen = atomic_load_explicit(&known[at], memory_order_relaxed);
  if (seen >> 1 == (word)address) return (int)(seen & 1);
  Dl_info about;
  int answer = 1;
  if (dladdr(address, &about) != 0 && about.dli_fname != 0) {
    const char *slash = strrchr(about.dli_fname, '/'), *name = slash == 0 ? about.dli_fname : slash + 1;
    answer = 0;
    for (size_t i = 0; i < sizeof between / sizeof between[0] && !answer; ++i)
      answer = strncmp(name, between[i], strlen(between[i])) == 0;
  }
  atomic_store_explicit(&known[at], (word)address << 1 | (word)answer, memory_order_relaxed);
  return answer;
}

struct walk {
  const void *found;
  int frames;
};

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *data) {
  struct walk *walk = data;
  const void *address = (const void *)_Unwind_GetIP(context);
  if (address == 0 || ++walk->frames > 64) return _URC_END_OF_STACK;
  if (is_between(address)) return _URC_NO_REASON;
  walk->found = address;
  return _URC_END_OF_STACK;
}

const void *call_site(const void *caller) {
  if (!is_between(caller)) return caller;
  struct walk walk = {0, 0};
  _Unwind_Backtrace(step, &walk);
  return walk.found;
}

struct place place_of(const void *address) {
  struct place place = {"", "", 0};
  Dl_info about;
  struct link_map *map = 0;
  if (address == 0 || dladdr1((const char *)address - 1, &about, (void **)&map, RTLD_DL_LINKMAP) == 0) return place;
  place.object = map != 0 && map->l_name[0] != 0 ? map->l_name : "";
  place.symbol = about.dli_sname == 0 ? "" : about.dli_sname;
  place.offset = (uint64_t)((word)address - 1 - (map == 0 ? 0 : map->l_addr));
  return place;
}
