/* mpiio.c: wrappers of MPI files, of any MPI library, and of its start and end. MPI's Fortran interface calls one of
 * the two names. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#include "posix.h"

/* --- queries of MPI --- */

/* PMPI's function NAME, cached after the first search. */
static void *asked(const char *name, void **kept, const void *caller) {
  if (*kept == 0) *kept = found_by(name, caller);
  return *kept;
}

static int64_t type_bytes(word type, const void *caller) {
  static void *large, *small;
  int64_t bytes = 0;
  int few = 0;
  int (*size_x)(word, int64_t *) = (int (*)(word, int64_t *))asked("PMPI_Type_size_x", &large, caller);
  if (size_x != 0) return size_x(type, &bytes) == 0 && bytes > 0 ? bytes : 0;
  int (*size)(word, int *) = (int (*)(word, int *))asked("PMPI_Type_size", &small, caller);
  return size != 0 && size(type, &few) == 0 && few > 0 ? few : 0;
}

static int number_of(const char *name, void **kept, word communicator, const void *caller) {
  int number = -1;
  int (*ask)(word, int *) = (int (*)(word, int *))asked(name, kept, caller);
  return ask != 0 && ask(communicator, &number) == 0 ? number : -1;
}

static void *rank_of, *size_of;

static void learn_ranks(const void *caller) {
  /* In Open MPI it is the address of an object, of which the program may have its own copy; in MPICH and its
   * derivatives a number. */
  void *world = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world");
  if (world == 0) world = found_by("ompi_mpi_comm_world", caller);
  const word communicator = world != 0 ? (word)world : 0x44000000;
  const int rank = number_of("PMPI_Comm_rank", &rank_of, communicator, caller);
  const int ranks = number_of("PMPI_Comm_size", &size_of, communicator, caller);
  if (rank >= 0 && ranks > rank) set_ranks(rank, ranks);
}

/* --- open files --- */

enum { max_open = 4096 };
static struct {
  word handle; /* 0: never used, 1: closed */
  int path;
} files[max_open];

static int *path_slot(word handle, int make) {
  if (handle <= 1) return 0;
  size_t free_at = max_open;
  for (size_t i = 0; i < max_open; ++i) {
    const size_t at = ((handle >> 4) + i) % max_open;
    if (files[at].handle == handle) return &files[at].path;
    if (files[at].handle <= 1 && free_at == max_open) free_at = at;
    if (files[at].handle == 0) break;
  }
  if (!make || free_at == max_open) return 0;
  files[free_at].handle = handle;
  return &files[free_at].path;
}

/* Inside another MPI-IO call it belongs to that call. */
static int is_inner(const struct frame *frame) {
  for (const struct frame *outer = frame->outer; outer != 0; outer = outer->outer)
    if (outer->function->interface == in_mpiio) return 1;
  return 0;
}

static const char *without_kind(const char *path) { /* "ufs:/scratch/x" */
  const char *colon = path == 0 ? 0 : strchr(path, ':'), *slash = path == 0 ? 0 : strchr(path, '/');
  return colon != 0 && colon - path > 1 && (slash == 0 || colon < slash) ? colon + 1 : path;
}

static void after_open(struct frame *frame, const word *a, word result) {
  frame->file = path_index(without_kind((const char *)a[1]));
  if ((int)result != 0 || frame->file == 0) return;
  int *slot = path_slot(*(const word *)a[4], 1);
  if (slot != 0) *slot = frame->file;
  if (is_inner(frame)) return;
  const int alone = number_of("PMPI_Comm_size", &size_of, a[0], frame->from) == 1;
  note_open(in_mpiio, frame->file, -1, alone ? m_indep_opens : m_coll_opens, frame);
}

static void know(struct frame *frame, word handle) {
  const int *slot = path_slot(handle, 0);
  frame->file = slot == 0 ? 0 : *slot;
}
static void before_handle(struct frame *frame, const word *a) { know(frame, a[0]); }
static void before_close(struct frame *frame, const word *a) {
  const word handle = a[0] == 0 ? 0 : *(const word *)a[0];
  know(frame, handle);
  int *slot = path_slot(handle, 0);
  if (slot == 0) return;
  for (size_t i = 0; i < max_open; ++i)
    if (&files[i].path == slot) files[i].handle = 1;
}
static void after_close(struct frame *frame, const word *a, word result) {
  (void)a, (void)result;
  if (frame->file != 0 && !is_inner(frame)) note_close(in_mpiio, frame);
}
static void after_metadata(struct frame *frame, const word *a, word result) {
  (void)a;
  if ((int)result != 0 || frame->file == 0 || is_inner(frame)) return;
  if (frame->function->counter == m_syncs)
    add_sync(in_mpiio, frame->file, m_syncs, frame);
  else
    add_metadata(in_mpiio, frame->file, frame->function->counter, frame);
}
static void after_delete(struct frame *frame, const word *a, word result) {
  frame->file = path_index(without_kind((const char *)a[0]));
  if ((int)result == 0 && frame->file != 0 && !is_inner(frame)) add_metadata(in_mpiio, frame->file, -1, frame);
}

/* The second half of a split call has time, but no bytes. */
static void after_end(struct frame *frame, const word *a, word result) {
  (void)a;
  if ((int)result == 0 && frame->file != 0 && !is_inner(frame))
    add_time(in_mpiio, frame->file, frame->function->way, frame);
}

static void moved(struct frame *frame, int64_t count, word type, word result) {
  if ((int)result != 0 || frame->file == 0) return;
  const enum way way = frame->function->way;
  const int64_t bytes = count > 0 ? count * type_bytes(type, frame->from) : 0;
  frame->bytes[1][way] = bytes;
  if (is_inner(frame)) return;
  add_access(in_mpiio, frame->file, way, -1, bytes, frame);
  ++counts_of(in_mpiio, frame->file)->plain[frame->function->counter];
}
static void after_bytes(struct frame *frame, const word *a, word result) {
  const int at = frame->function->argument;
  moved(frame, (int)a[at], a[at + 1], result);
}
static void after_bytes_c(struct frame *frame, const word *a, word result) { /* counts of 64 bits */
  const int at = frame->function->argument;
  moved(frame, (int64_t)a[at], a[at + 1], result);
}

#define BOTH(n, name, ...)         \
  WRAP(n, MPI_##name, __VA_ARGS__) \
  WRAP(n, PMPI_##name, __VA_ARGS__)
#define ON_FILE(n, name, count, early, late) \
  BOTH(n, File_##name, .interface = in_mpiio, .way = of_metadata, .counter = count, .before = early, .after = late)
ON_FILE(5, open, -1, 0, after_open)
ON_FILE(1, close, -1, before_close, after_close)
ON_FILE(2, delete, -1, 0, after_delete)
ON_FILE(6, set_view, m_views, before_handle, after_metadata)
ON_FILE(1, sync, m_syncs, before_handle, after_metadata)
ON_FILE(2, set_size, -1, before_handle, after_metadata)
ON_FILE(2, get_size, -1, before_handle, after_metadata)
ON_FILE(2, preallocate, -1, before_handle, after_metadata)
ON_FILE(3, seek, -1, before_handle, after_metadata)
ON_FILE(3, seek_shared, -1, before_handle, after_metadata)
ON_FILE(2, set_info, -1, before_handle, after_metadata)
ON_FILE(2, set_atomicity, -1, before_handle, after_metadata)

#define MOVE_1(n, name, direction, count, at, late)                                               \
  BOTH(n, File_##name, .interface = in_mpiio, .way = direction, .counter = count, .argument = at, \
       .before = before_handle, .after = late)
#define LARGE(n, symbol, direction, count, at)                                                   \
  WRAP(n, symbol##_c, .interface = in_mpiio, .way = direction, .counter = count, .argument = at, \
       .before = before_handle, .after = after_bytes_c, .plain = &function_##symbol)
#define MOVE(n, name, direction, count, at)          \
  MOVE_1(n, name, direction, count, at, after_bytes) \
  LARGE(n, MPI_File_##name, direction, count, at)    \
  LARGE(n, PMPI_File_##name, direction, count, at)
#define WAYS(verb, direction, indep, coll, nb, split)       \
  MOVE(5, verb, direction, indep, 2)                        \
  MOVE(6, verb##_at, direction, indep, 3)                   \
  MOVE(5, verb##_shared, direction, indep, 2)               \
  MOVE(5, verb##_all, direction, coll, 2)                   \
  MOVE(6, verb##_at_all, direction, coll, 3)                \
  MOVE(5, verb##_ordered, direction, coll, 2)               \
  MOVE(5, i##verb, direction, nb, 2)                        \
  MOVE(6, i##verb##_at, direction, nb, 3)                   \
  MOVE(5, i##verb##_shared, direction, nb, 2)               \
  MOVE(5, i##verb##_all, direction, nb, 2)                  \
  MOVE(6, i##verb##_at_all, direction, nb, 3)               \
  MOVE(4, verb##_all_begin, direction, split, 2)            \
  MOVE(5, verb##_at_all_begin, direction, split, 3)         \
  MOVE(4, verb##_ordered_begin, direction, split, 2)        \
  MOVE_1(3, verb##_all_end, direction, -1, 0, after_end)    \
  MOVE_1(3, verb##_at_all_end, direction, -1, 0, after_end) \
  MOVE_1(3, verb##_ordered_end, direction, -1, 0, after_end)
WAYS(read, of_read, m_indep_reads, m_coll_reads, m_nb_reads, m_split_reads)
WAYS(write, of_write, m_indep_writes, m_coll_writes, m_nb_writes, m_split_writes)

/* --- start and end: file access of MPI itself does not belong to the program --- */

#define BEGINS(n, symbol, declared, given)                                           \
  static struct function function_##symbol = {.name = #symbol};                      \
  word wrapped_##symbol declared __asm__(#symbol);                                   \
  EXPORT word wrapped_##symbol declared {                                            \
    const void *caller = __builtin_return_address(0);                                \
    word(*next) declared = (word(*) declared)next_of(&function_##symbol, 0, caller); \
    const int was = set_busy(1);                                                     \
    const word result = next given;                                                  \
    if (n > 0) learn_ranks(caller);                                                  \
    set_busy(was);                                                                   \
    if (n == 0) save(0);                                                             \
    return result;                                                                   \
  }
BEGINS(1, MPI_Init, (word a, word b), (a, b))
BEGINS(1, PMPI_Init, (word a, word b), (a, b))
BEGINS(1, MPI_Init_thread, (word a, word b, word c, word d), (a, b, c, d))
BEGINS(1, PMPI_Init_thread, (word a, word b, word c, word d), (a, b, c, d))
BEGINS(0, MPI_Finalize, (void), ())
BEGINS(0, PMPI_Finalize, (void), ())

/* Ends without running the destructors of libraries. */
#define ENDS(symbol)                                                                                \
  static struct function function_##symbol = {.name = #symbol};                                     \
  void wrapped_##symbol(int status) __asm__(#symbol);                                               \
  EXPORT void wrapped_##symbol(int status) {                                                        \
    void (*next)(int) = (void (*)(int))next_of(&function_##symbol, 0, __builtin_return_address(0)); \
    save(1);                                                                                        \
    next(status);                                                                                   \
    __builtin_unreachable();                                                                        \
  }
ENDS(_exit)
ENDS(_Exit)
