/* profile.h: the library that `penstock profile` preloads: wrappers, frames, tables of bounded size.
 *
 * A wrapper has the name of a library function (pwrite, MPI_File_write_at, H5Dwrite, nc_get_vara_double). It begins a
 * frame, calls the original function, and ends the frame. The outermost frame of a thread is the program's own call:
 * its time and the place of the call form a row. Inner frames add their bytes and times to it.
 *
 * The library includes no header of MPI, HDF5 or netCDF: arguments are register words, for any kind of handle, so that
 * one library works with all of them (docs/decisions/0036-profiles.md). */
#ifndef PENSTOCK_PROFILE_H
#define PENSTOCK_PROFILE_H

#include <stddef.h>
#include <stdint.h>

typedef uintptr_t word;

enum interface { in_posix, in_stdio, in_mpiio, in_hdf5, in_netcdf, in_pnetcdf, interfaces };
enum { modules = 3 }; /* interfaces whose files are counted: the first three */
enum way { of_read, of_write, of_metadata };

struct frame;

/* One wrapped function; a static object of its wrapper. */
struct function {
  const char *name;
  enum interface interface;
  enum way way;
  int counter;                                       /* index into the counters of its interface, -1 if it has none */
  int argument;                                      /* position of the argument that a handler needs */
  void (*before)(struct frame *, const word *);      /* NULL: nothing */
  void (*after)(struct frame *, const word *, word); /* with the result */
  /* mpi4py tests for large-count functions and finds our wrappers. Without an original, the plain function handles
   * counts that fit an int. */
  struct function *plain;
  void *next;
  struct {
    const void *caller;
    void *target;
  } near[8]; /* if callers get different functions: one per caller */
};

/* A call in progress, on the stack of its thread. Times in nanoseconds since the start of the process. */
struct frame {
  struct function *function; /* NULL: not recorded */
  struct frame *outer;
  const void *from, *caller; /* the caller; in the outermost frame the program's call site */
  const word *arguments;
  int64_t entered, start, end;
  int64_t bytes[2][2]; /* [through MPI-IO or not][read or written] */
  int64_t below;       /* nanoseconds in POSIX or stdio */
  int32_t file, kept;  /* index of a path; data that `before` stores for `after` */
  int32_t skip;        /* not about a file: no row; no `after` if `before` sets it */
};

/* --- resolve.c --- */
/* The original of FUNCTION for CALLER; if there is none, a function that fails. */
void *next_of(struct function *function, const word *arguments, const void *caller);
/* The function NAME that code at CALLER would call; NULL if there is none. */
void *found_by(const char *name, const void *caller);
/* The first caller in the program's own code, outside of I/O and system libraries; may be CALLER; NULL if there is
 * none. */
const void *call_site(const void *caller);
struct place {
  const char *object, *symbol;
  uint64_t offset;
};
/* The location of ADDRESS: the file of its code, the offset in it, the nearest exported symbol or "". */
struct place place_of(const void *address);

/* --- frames.c --- */
/* Returns the function to call; follow it by END_FRAME with its result. */
void *begin_frame(struct frame *frame, struct function *function, const word *arguments, const void *caller);
word end_frame(struct frame *frame, word result);
int is_recording(void);
/* While set in this thread, nothing of it is recorded. Returns the previous value. */
int set_busy(int on);
void set_ranks(int rank, int ranks);
/* False in a child of vfork, which shares its parent's memory. */
int is_own_process(void);
/* Writes the profile. LAST: nothing follows. */
void save(int last);

/* --- tables.c: all under the lock, which frames.c holds around `after` and `before` --- */
enum { size_classes = 10, plain_counters = 24, powers = 32, common_values = 16, bins = 200 };

struct one_way {
  int64_t calls, bytes, sequential, consecutive, max_byte, last_byte, nanoseconds, longest, longest_bytes, first, last;
  int64_t sizes[size_classes];
};
struct common {
  int64_t value[common_values], count[common_values];
};
/* Counts of one file through one interface; saved as they are. */
struct counts {
  int64_t module, path;
  struct one_way ways[2];
  int64_t plain[plain_counters];
  int64_t metadata, opened_first, opened_last, closed_first, closed_last, switches, last_way, alignment;
  int64_t powers[powers];
  struct common sizes, strides[2];
};
/* The outermost calls of one function from one place to one file; saved as it is, except for the pointers. */
struct row {
  const struct function *function;
  const void *site;
  int64_t path, calls, nanoseconds, shortest, longest, read, written, below;
};
struct heat {
  int64_t width, bytes[2][bins];
};
/* The file behind a descriptor. */
struct descriptor {
  int32_t path; /* 0: not recorded */
  int32_t appends;
  int64_t position;
};

int make_tables(void);
/* In a child: clears the parent's records. */
void clear_tables(void);
/* The index of PATH, made absolute; 0 if it is not recorded; OTHERS if the table is full. */
enum { others = 1 };
int path_index(const char *path);
const char *path_of(int index);
int path_count(void);
struct counts *counts_of(int module, int path);
struct descriptor *descriptor_of(int fd);
void set_descriptor(int fd, int path, int appends);
void add_row(const struct frame *outermost);
void add_access(int module, int path, enum way way, int64_t offset, int64_t bytes, const struct frame *frame);
/* Adds metadata time of a file, and one to COUNTER unless it is -1. */
void add_metadata(int module, int path, int counter, const struct frame *frame);
/* Counts it as write time, like Darshan. */
void add_sync(int module, int path, int counter, const struct frame *frame);
/* Adds read or write time, in the second of two calls. */
void add_time(int module, int path, enum way way, const struct frame *frame);
struct tables {
  const struct counts *counts;
  const struct row *rows;
  const struct heat *heat;
  int64_t n_counts, n_rows, lost;
};
struct tables all_tables(void);

/* --- counters of each interface, by name --- */
enum posix_counter { c_opens, c_dups, c_seeks, c_stats, c_mmaps, c_fsyncs, c_fdsyncs };
enum stdio_counter { s_opens, s_fdopens, s_seeks, s_flushes };
enum mpiio_counter {
  m_indep_opens,
  m_coll_opens,
  m_syncs,
  m_views,
  m_indep_reads,
  m_coll_reads,
  m_nb_reads,
  m_split_reads,
  m_indep_writes,
  m_coll_writes,
  m_nb_writes,
  m_split_writes
};

/* --- wrappers --- */
#define EXPORT __attribute__((visibility("default")))
#define WRAP(n, symbol, ...) WRAP_##n(symbol, __VA_ARGS__)
#define WRAP_(symbol, declared, given, ...)                                                                \
  static struct function function_##symbol = {.name = #symbol, __VA_ARGS__};                               \
  word wrapped_##symbol declared __asm__(#symbol);                                                         \
  EXPORT word wrapped_##symbol declared {                                                                  \
    const word arguments[] = {LIST given};                                                                 \
    struct frame frame;                                                                                    \
    word(*next) declared =                                                                                 \
        (word(*) declared)begin_frame(&frame, &function_##symbol, arguments, __builtin_return_address(0)); \
    return end_frame(&frame, next given);                                                                  \
  }
#define LIST(...) __VA_ARGS__
#define WRAP_1(symbol, ...) WRAP_(symbol, (word a), (a), __VA_ARGS__)
#define WRAP_2(symbol, ...) WRAP_(symbol, (word a, word b), (a, b), __VA_ARGS__)
#define WRAP_3(symbol, ...) WRAP_(symbol, (word a, word b, word c), (a, b, c), __VA_ARGS__)
#define WRAP_4(symbol, ...) WRAP_(symbol, (word a, word b, word c, word d), (a, b, c, d), __VA_ARGS__)
#define WRAP_5(symbol, ...) WRAP_(symbol, (word a, word b, word c, word d, word e), (a, b, c, d, e), __VA_ARGS__)
#define WRAP_6(symbol, ...) \
  WRAP_(symbol, (word a, word b, word c, word d, word e, word f), (a, b, c, d, e, f), __VA_ARGS__)
#define WRAP_7(symbol, ...) \
  WRAP_(symbol, (word a, word b, word c, word d, word e, word f, word g), (a, b, c, d, e, f, g), __VA_ARGS__)
#define WRAP_8(symbol, ...) \
  WRAP_(symbol, (word a, word b, word c, word d, word e, word f, word g, word h), (a, b, c, d, e, f, g, h), __VA_ARGS__)
#define WRAP_9(symbol, ...)                                                                                            \
  WRAP_(symbol, (word a, word b, word c, word d, word e, word f, word g, word h, word i), (a, b, c, d, e, f, g, h, i), \
        __VA_ARGS__)

#endif
