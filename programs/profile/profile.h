/* profile.h: what the library that `penstock profile` preloads is made of: wrappers, frames, tables of bounded size.
 *
 * A wrapper has the name of a function of others (pwrite, MPI_File_write_at, H5Dwrite, nc_get_vara_double). It begins a
 * frame, calls the function of that name which the caller would have got without us, and ends the frame. The outermost
 * frame of a thread is what the program called: its time, and the place of the call, make a row. Frames below it give
 * their bytes and times to it.
 *
 * No header of MPI, HDF5 or netCDF is seen: arguments are words of registers, whatever handle they are, so that one
 * library serves all of them (docs/decisions/0036-profiles.md). */
#ifndef PENSTOCK_PROFILE_H
#define PENSTOCK_PROFILE_H

#include <stddef.h>
#include <stdint.h>

typedef uintptr_t word;

enum interface { in_posix, in_stdio, in_mpiio, in_hdf5, in_netcdf, in_pnetcdf, interfaces };
enum { modules = 3 }; /* interfaces whose files are counted: the first three */
enum way { of_read, of_write, of_metadata };

struct frame;

/* One function of others; a static object of its wrapper. */
struct function {
  const char *name;
  enum interface interface;
  enum way way;
  int counter;                                  /* index into the counters of its interface, -1 where it has none */
  int argument;                                 /* where a handler finds what it needs; it knows what */
  void (*before)(struct frame *, const word *); /* NULL: nothing */
  void (*after)(struct frame *, const word *, word); /* with the result */
  /* mpi4py asks whether there is a function for large counts, and finds ours: then the plain one takes what fits an
   * int. */
  struct function *plain;
  void *next;
  struct {
    const void *caller;
    void *target;
  } near[8]; /* where the function is not one for all: what each caller gets */
};

/* A call under way, on the stack of its thread. Times in nanoseconds since the process's begin. */
struct frame {
  struct function *function; /* NULL: not recorded */
  struct frame *outer;
  const void *from, *caller; /* who called; the program's place of it, in the outermost frame */
  const word *arguments;
  int64_t entered, start, end;
  int64_t bytes[2][2]; /* [through MPI-IO or not][read or written] */
  int64_t below;       /* nanoseconds in POSIX or stdio */
  int32_t file, kept;  /* index of a path; whatever `before` keeps for `after` */
  int32_t skip;        /* it is not about a file: no row, no `after` if `before` sets it */
};

/* --- resolve.c --- */
/* What CALLER would have got for FUNCTION; where there is none, one that fails. */
void *next_of(struct function *function, const word *arguments, const void *caller);
/* The function NAME that code at CALLER would call; NULL where there is none. */
void *found_by(const char *name, const void *caller);
/* The first caller outside of libraries that are no program's own; CALLER itself where that is one; NULL where there is
 * none. */
const void *call_site(const void *caller);
struct place {
  const char *object, *symbol;
  uint64_t offset;
};
/* Where ADDRESS lies: the file of its code, the address in it, the nearest exported symbol or "". */
struct place place_of(const void *address);

/* --- frames.c --- */
/* The function to call; what follows is END_FRAME with its result. */
void *begin_frame(struct frame *frame, struct function *function, const word *arguments, const void *caller);
word end_frame(struct frame *frame, word result);
int is_recording(void);
/* While it is on in this thread, nothing of it is recorded. Returns what it was. */
int set_busy(int on);
void set_ranks(int rank, int ranks);
/* Not so in a child of vfork, which has its parent's memory. */
int is_own_process(void);
/* Writes what is known. LAST: nothing will come after. */
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
/* What this process did to one file through one interface; saved as it is. */
struct counts {
  int64_t module, path;
  struct one_way ways[2];
  int64_t plain[plain_counters];
  int64_t metadata, opened_first, opened_last, closed_first, closed_last, switches, last_way, alignment;
  int64_t powers[powers];
  struct common sizes, strides[2];
};
/* The outermost calls of one function from one place to one file; saved as it is, but for the pointers. */
struct row {
  const struct function *function;
  const void *site;
  int64_t path, calls, nanoseconds, shortest, longest, read, written, below;
};
struct heat {
  int64_t width, bytes[2][bins];
};
/* What a descriptor is open on. */
struct descriptor {
  int32_t path; /* 0: none of ours */
  int32_t appends;
  int64_t position;
};

int make_tables(void);
/* In a child: what its parent did is its parent's. */
void clear_tables(void);
/* The index of PATH, made absolute; 0 where it is not to be recorded; OTHERS where there is no more room. */
enum { others = 1 };
int path_index(const char *path);
const char *path_of(int index);
int path_count(void);
struct counts *counts_of(int module, int path);
struct descriptor *descriptor_of(int fd);
void set_descriptor(int fd, int path, int appends);
void add_row(const struct frame *outermost);
void add_access(int module, int path, enum way way, int64_t offset, int64_t bytes, const struct frame *frame);
/* META time of a file, and one more of COUNTER unless it is -1. */
void add_metadata(int module, int path, int counter, const struct frame *frame);
/* As Darshan has it, time of writing. */
void add_sync(int module, int path, int counter, const struct frame *frame);
/* More time of reading or writing, in the second call of two. */
void add_time(int module, int path, enum way way, const struct frame *frame);
struct tables {
  const struct counts *counts;
  const struct row *rows;
  const struct heat *heat;
  int64_t n_counts, n_rows, lost;
};
struct tables all_tables(void);

/* --- what is counted of each interface, by name --- */
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
