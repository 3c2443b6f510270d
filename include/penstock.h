/* penstock.h: the C interface: parallel arrays into one portable file, and back, on any decomposition. */
#ifndef PENSTOCK_H
#define PENSTOCK_H

#include <stddef.h>
#include <stdint.h>

#include <penstock/config.h> /* PENSTOCK_HAVE_MPI, PENSTOCK_VERSION */

#if PENSTOCK_HAVE_MPI
#include <mpi.h>
typedef MPI_Comm penstock_comm; /* MPI_COMM_NULL: this process alone, MPI need not be initialised */
#else
typedef int penstock_comm;
#endif
#if PENSTOCK_HAVE_MPI
#define PENSTOCK_ALONE MPI_COMM_NULL
#else
#define PENSTOCK_ALONE 0
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Every function returns a status; penstock_message() is the thread's last error in words. Nothing prints, aborts
 * or exits. Functions are local (no communication) unless called collective: those are called by all ranks of the
 * file's communicator in the same order, and return the same error on all of them. NULL for a handle or a required
 * pointer is PENSTOCK_INVALID. */
typedef enum penstock_status {
  PENSTOCK_OK = 0,
  PENSTOCK_INVALID = 1,      /* an argument that cannot be */
  PENSTOCK_NOT_FOUND = 2,    /* no such file, folder, dataset or attribute */
  PENSTOCK_EXISTS = 3,       /* something is in the way */
  PENSTOCK_DENIED = 4,       /* permissions, or a read-only file system */
  PENSTOCK_NO_SPACE = 5,     /* disk or quota full */
  PENSTOCK_IO = 6,           /* the file system failed */
  PENSTOCK_MISMATCH = 7,     /* ranks, or caller and file, disagree on a definition */
  PENSTOCK_OVERLAP = 8,      /* an element was put more than once */
  PENSTOCK_INCOMPLETE = 9,   /* an element was put by nobody */
  PENSTOCK_UNSUPPORTED = 10, /* this build, format or file system cannot do it */
  PENSTOCK_MEMORY = 11,      /* a memory limit was reached */
  PENSTOCK_DAMAGED = 12,     /* the bytes in a file are not what a writer left there */
  PENSTOCK_TIMEOUT = 13,     /* no progress within the limit */
  PENSTOCK_IN_DOUBT = 14,    /* it cannot be known whether the commit happened */
  PENSTOCK_ELSEWHERE = 15,   /* another rank failed */
  PENSTOCK_INTERNAL = 16     /* a fault of penstock */
} penstock_status;

typedef enum penstock_type {
  PENSTOCK_INT8 = 0,
  PENSTOCK_INT16,
  PENSTOCK_INT32,
  PENSTOCK_INT64,
  PENSTOCK_UINT8,
  PENSTOCK_UINT16,
  PENSTOCK_UINT32,
  PENSTOCK_UINT64,
  PENSTOCK_FLOAT,
  PENSTOCK_DOUBLE,
  PENSTOCK_COMPLEX_FLOAT,
  PENSTOCK_COMPLEX_DOUBLE,
  /* No types: they make every int a value of the enumeration, in C++ too, so that texts are. */
  PENSTOCK_TYPE_LEAST = INT32_MIN,
  PENSTOCK_TYPE_MOST = INT32_MAX
} penstock_type;
/* Texts of a fixed length of 1 to 2^24 bytes, NUL-padded. */
#define PENSTOCK_TEXT(bytes) ((penstock_type)(0x1000000 + (bytes)))

typedef struct penstock_file penstock_file;
typedef struct penstock_decomposition penstock_decomposition;

/* How the elements of a block lie in memory, for decompositions of at most one box. NULL: contiguous. Either a box
 * inside an array of SHAPE at START (ghost cells around it; row-major), or STRIDE elements per dimension; the
 * pointers not used are NULL. Each points to as many numbers as the block has dimensions. */
typedef struct penstock_memory {
  const int64_t *shape, *start;
  const int64_t *stride;
} penstock_memory;

/* --- files ------------------------------------------------------------------------------------------------------- */

/* Collective. A new file; under PATH there is nothing, or the old file, until commit. PLAN: how the data travels, such
 * as "hdf5/two_phase:writers=2"; NULL: the default of PATH's extension (.h5 .hdf5 .he5 .hdf .nc4 .vtkhdf, none or a
 * number: hdf5; .nc .cdf: netcdf; .raw .json: raw), which ":durability=none" changes in that alone. With another
 * extension PLAN names the format. */
penstock_status penstock_create(penstock_comm comm, const char *path, const char *plan, penstock_file **file);
/* Collective. To read; the format is recognised. PLAN may name a transport; NULL: the default. */
penstock_status penstock_open(penstock_comm comm, const char *path, const char *plan, penstock_file **file);
/* Collective. To read: of the files that match PATTERN (as in a shell: "run/chk-*.h5") the one that was committed last, is
 * whole and agrees with its checksums, all of which are compared. Those passed over, and why, are in
 * penstock_warnings, and in the message where there is none: PENSTOCK_NOT_FOUND. */
penstock_status penstock_open_latest(penstock_comm comm, const char *pattern, const char *plan, penstock_file **file);
/* Collective. To read, change, add and grow; commit publishes a new file in place of the old one. */
penstock_status penstock_reopen(penstock_comm comm, const char *path, const char *plan, penstock_file **file);
/* Collective. A new file TO with all that is in FROM, moved in bounded pieces: makes one file of a set of files, a set of a
 * file, another format, or with engine phdf5 other chunks and compression. PLAN: of the new file. All or nothing. */
penstock_status penstock_copy(penstock_comm comm, const char *from, const char *to, const char *plan);
/* Collective. A new file at PATH that begins with all that is in TEMPLATE_PATH, a file or set, which is not touched: constant
 * metadata and data, to which the rest is put. penstock_commit or penstock_close publishes all of it at once. PLAN: of the new
 * file, with placement single or parts. */
penstock_status penstock_clone(penstock_comm comm, const char *template_path, const char *path, const char *plan,
                               penstock_file **file);
/* Collective. Reads all of the file or set at PATH and compares it with the checksums that were committed with it.
 * PENSTOCK_OK: all agrees; PENSTOCK_DAMAGED: the message names the first dataset and elements that do not, and counts the
 * others; PENSTOCK_NOT_FOUND: there is no such file, or it has no checksums. */
penstock_status penstock_verify(penstock_comm comm, const char *path);
/* Collective. Of a set that was written with parity=1 in its plan: makes the one file again that is missing or not what was
 * committed, bit for bit. PENSTOCK_OK: all is as it was committed, now or before; PENSTOCK_DAMAGED, PENSTOCK_NOT_FOUND: something is
 * lost and cannot be made again, the message says what. A file that was changed after the commit is kept beside it.
 * Without parity it only looks. */
penstock_status penstock_repair(penstock_comm comm, const char *path);
/* Collective. Makes new checksums for a file or set that another tool changed on purpose, and new parity where it has that.
 * PENSTOCK_DAMAGED where nobody has written to it since its commit, so that what differs is damage; FORCE (not 0) does it all the
 * same. */
penstock_status penstock_seal(penstock_comm comm, const char *path, int force);
/* Collective. Publishes what was put, all or nothing; fills what was asked for by get. The file stays open. With transport
 * servers it returns when the data is handed over: the next commit, penstock_commit_wait or penstock_close publishes it, and
 * returns what went wrong. */
penstock_status penstock_commit(penstock_file *file);
/* The same in three steps, so that the program computes meanwhile. penstock_commit_start, collective: what was put
 * (copied) or lent (alive and unchanged until penstock_commit_wait) is on its way when it returns, and what is put from
 * now on belongs to the next commit; gets are filled already. The data moves in a thread of the library's where the
 * rank has nothing to send or receive (independent, per_process; two_phase on one node, whose ranks share memory), or where
 * MPI runs with MPI_THREAD_MULTIPLE; with transport servers it goes on by itself; two_phase with messages and mpiio with
 * synchronism=nonblocking move it in calls of penstock_commit_test, which send and receive what they can without waiting; the rest of mpiio, and engines, inside penstock_commit_wait. While an
 * engine or mpiio is at work in a thread, this library's own calls of HDF5, netCDF, PnetCDF and MPI-IO wait for it, and the
 * program should make none. */
penstock_status penstock_commit_start(penstock_file *file);
/* Local: never waits for another rank. DONE: 0 while data moves behind the program or more calls will move it, else 1: time
 * for penstock_commit_wait. */
penstock_status penstock_commit_test(penstock_file *file, int *done);
/* Collective. Waits and publishes; errors of the movement arrive here. Nothing under way: PENSTOCK_OK. commit,
 * commit_start and close call it first. */
penstock_status penstock_commit_wait(penstock_file *file);
/* Collective. Commits what is pending and frees FILE, whatever the status. */
penstock_status penstock_close(penstock_file *file);
/* Collective. As penstock_close, but what is published is the newest of RETAIN restart files. PATTERN, in FILE's folder, has a # where
 * the index goes: "run/restart#.h5" is restart0.h5, the newest, restart1.h5, ...; "restart##.h5" restart00.h5, ... Those that are
 * there move one index up; what would get index RETAIN goes, with its parts; higher indices are left alone. What was not committed
 * yet goes straight to index 0, whatever path FILE has; what was is renamed. At every moment index 0 is there, old or new and whole
 * (on a file system without links it may be absent while files move; index 1 is there then). An error leaves all that were there; of
 * wrong arguments too, and FILE is dropped. */
penstock_status penstock_close_restart(penstock_file *file, const char *pattern, int64_t retain);
/* Local. Frees FILE and drops what was not committed. On all ranks, or on none. Dropping a commit under way that sends
 * messages keeps one MPI communicator until the program ends, since some may still come. */
void penstock_abandon(penstock_file *file);

/* --- I/O servers ------------------------------------------------------------------------------------------------- */

/* Collective over COMM. Some of its ranks become I/O servers for plans "servers:kind=ranks": as many as
 * PENSTOCK_SERVER_RANKS says, by default one of 16, spread over the nodes. Compute ranks get their own communicator, for
 * their files and for everything else they do together. On a server the call serves, and returns with MPI_COMM_NULL when
 * all compute ranks have called penstock_unsplit or MPI_Finalize. PENSTOCK_UNSUPPORTED in a build without MPI. */
penstock_status penstock_split(penstock_comm comm, penstock_comm *compute);
/* Collective over COMPUTE, when its files are closed. Dismisses the servers, frees COMPUTE and makes it MPI_COMM_NULL. */
penstock_status penstock_unsplit(penstock_comm *compute);

/* --- decompositions: which part this rank owns; immutable, any number of puts may use one; free with penstock_free  */

/* One box; SHAPE is the dataset's. All pointers to RANK numbers, slowest dimension first. */
penstock_status penstock_block(int rank, const int64_t *shape, const int64_t *start, const int64_t *count,
                               penstock_decomposition **d);
/* The box of process PROCESS when SHAPE is cut evenly over PROCESS_GRID (row-major; the first blocks take the
 * remainder). */
penstock_status penstock_grid(int rank, const int64_t *shape, const int64_t *process_grid, int process,
                              penstock_decomposition **d);
/* BOXES boxes, STARTS and COUNTS of BOXES * RANK numbers; memory holds them one after another. BOXES may be 0. */
penstock_status penstock_boxes(int rank, const int64_t *shape, int64_t boxes, const int64_t *starts,
                               const int64_t *counts, penstock_decomposition **d);
/* RUNS runs of the row-major element sequence of SHAPE; memory holds them one after another. */
penstock_status penstock_runs(int rank, const int64_t *shape, int64_t runs, const int64_t *offsets,
                              const int64_t *lengths, penstock_decomposition **d);
/* ROWS rows of shape ROW (ROW_RANK numbers; 0: scalars); ranks follow one another, sizes are summed at commit. */
penstock_status penstock_ragged(int64_t rows, int row_rank, const int64_t *row, penstock_decomposition **d);
/* The whole dataset, the same on every rank: written once after its agreement was checked; read once and
 * broadcast. */
penstock_status penstock_replicated(int rank, const int64_t *shape, penstock_decomposition **d);
/* One row of shape ROW for each rank: a dataset of (ranks, ROW...). */
penstock_status penstock_per_rank(int row_rank, const int64_t *row, penstock_decomposition **d);
/* Elements of this rank. */
int64_t penstock_elements(const penstock_decomposition *d);
void penstock_free(penstock_decomposition *d);

/* --- data: local, deferred to commit; any number of blocks, any order, different on each rank -------------------- */

/* A call of this part that fails makes the next commit fail with its error, on all ranks: nothing is lost silently.
 * D may be freed as soon as the call returns. */

/* Copies DATA before it returns. NAME may have groups: "fluid/rho", which "/fluid/rho" is too; no slash at its end. */
penstock_status penstock_put(penstock_file *file, const char *name, penstock_type type, const penstock_decomposition *d,
                             const void *data, const penstock_memory *memory);
/* Borrows DATA: it stays alive and unchanged until commit returns. */
penstock_status penstock_lend(penstock_file *file, const char *name, penstock_type type,
                              const penstock_decomposition *d, const void *data, const penstock_memory *memory);
/* DATA is filled when commit (or close) returns. */
penstock_status penstock_get(penstock_file *file, const char *name, penstock_type type, const penstock_decomposition *d,
                             void *data, const penstock_memory *memory);
/* As penstock_get, but TYPE may be any that holds all values of the dataset's: double of float, int64 of uint32, double
 * of int32. */
penstock_status penstock_get_widened(penstock_file *file, const char *name, penstock_type type,
                                     const penstock_decomposition *d, void *data, const penstock_memory *memory);
/* What the COUNT dimensions of dataset NAME are called, slowest first, as xarray and netCDF show them; HDF5 has them as
 * dimension scales. "y" stands for one length in the whole file, "level_1/y" is group level_1's own; a list of numbers
 * with the name of a dimension has its coordinates. What does not fit makes the commit fail with PENSTOCK_INVALID. */
penstock_status penstock_dimensions(penstock_file *file, const char *name, int count, const char *const *dimensions);
/* Makes group NAME, though nothing be put into it. */
penstock_status penstock_group(penstock_file *file, const char *name);
/* The first extent of NAME may grow when the file is reopened. */
penstock_status penstock_unlimited(penstock_file *file, const char *name);
/* Elements that nobody puts are zero, instead of an error at commit. */
penstock_status penstock_partial(penstock_file *file, int partial);
/* One rank that says so is enough. Commits of HDF5 files write a file for ParaView and VisIt beside: heat.xmf of heat.h5, of the meshes that
 * attributes "mesh" describe (docs/meshes.md); a description that does not fit makes the commit fail with PENSTOCK_INVALID. */
penstock_status penstock_xdmf(penstock_file *file, int xdmf);
/* One rank that says so is enough. Commits write what CONVENTION wants besides: "CF" of netCDF files (names of dimensions, coordinates of meshes),
 * "openPMD" of HDF5 files whose datasets are named as it has them, "" none (docs/conventions.md). The commit fails with PENSTOCK_INVALID where
 * the file has nothing that it could describe, with PENSTOCK_UNSUPPORTED in another format. */
penstock_status penstock_conventions(penstock_file *file, const char *convention);
/* The most that captured puts of this rank may hold, in bytes. */
penstock_status penstock_capture_bytes(penstock_file *file, int64_t bytes);
/* Fails with STATUS and MESSAGE, and so makes the next commit of FILE fail, as any call of this part does: for checks of the
 * program's own, and of bindings. FILE may be NULL: then only penstock_message is set. Returns STATUS. */
penstock_status penstock_fail(penstock_file *file, penstock_status status, const char *message);

/* --- attributes: OBJECT is "/" for the file, else a group or dataset --------------------------------------------- */

/* At commit OBJECT is in the file, or put, or a group of what is, or made by penstock_group; else commit fails with
 * PENSTOCK_NOT_FOUND. An attribute "mesh" makes the group that it describes. */

penstock_status penstock_attribute(penstock_file *file, const char *object, const char *name, const char *text);
/* COUNT values of TYPE; COUNT < 0: one scalar. */
penstock_status penstock_attribute_array(penstock_file *file, const char *object, const char *name, penstock_type type,
                                         int64_t count, const void *values);
penstock_status penstock_attribute_texts(penstock_file *file, const char *object, const char *name, int64_t count,
                                         const char *const *texts);
/* Type and number of values (-1: scalar) of an attribute that is in the file. */
penstock_status penstock_attribute_info(penstock_file *file, const char *object, const char *name, penstock_type *type,
                                        int64_t *count);
/* Copies it; VALUES has room for BYTES bytes. A text is NUL-terminated where there is room. TYPE must be its own. */
penstock_status penstock_attribute_get(penstock_file *file, const char *object, const char *name, penstock_type type,
                                       void *values, int64_t bytes);

/* --- what is in an opened file ----------------------------------------------------------------------------------- */

int64_t penstock_count(penstock_file *file);
/* The name of dataset INDEX, in file order; lives as long as FILE. NULL past the end. */
const char *penstock_name(penstock_file *file, int64_t index);
/* Each of TYPE, RANK, SHAPE (8 numbers) and UNLIMITED may be NULL. */
penstock_status penstock_describe(penstock_file *file, const char *name, penstock_type *type, int *rank, int64_t *shape,
                                  int *unlimited);
/* The name of dimension INDEX of dataset NAME; "" where it has none, or there is no such dataset. Lives as long as
 * FILE. */
const char *penstock_dimension(penstock_file *file, const char *name, int index);
/* The plan that is used, with its parameters; lives as long as FILE. */
const char *penstock_plan(penstock_file *file);
/* The file that FILE stands for, with links resolved; lives as long as FILE. */
const char *penstock_path(penstock_file *file);
/* What the last open or commit had to say that is no error, one per line, "" for nothing; lives until the next call with
 * FILE. */
const char *penstock_warnings(penstock_file *file);

/* --- streams: opaque bytes, one stream for each rank, in a few files for all ------------------------------------- */

typedef struct penstock_stream penstock_stream;

/* Collective. A container with one stream for each rank, to write; under PATH there is nothing, or the old file, until
 * close. OPTIONS, "files=4,chunk_bytes=4MiB", or NULL for what is named here:
 *   files=node           in how many files the streams lie, ranks in contiguous groups; node: as many as nodes
 *   chunk_bytes=1MiB     what a rank gets at a time, rounded up to the file system's block: ranks share none
 *   buffer_bytes=1MiB    memory in which small writes are collected
 *   io=buffered          or direct
 *   durability=full      or none, which leaves out the syncs and nothing else */
penstock_status penstock_stream_create(penstock_comm comm, const char *path, const char *options,
                                       penstock_stream **stream);
/* Collective. To read, on any number of ranks. */
penstock_status penstock_stream_open(penstock_comm comm, const char *path, penstock_stream **stream);
/* Appends to this rank's stream; any number of calls, of any size. A write that fails makes close fail with its error,
 * on all ranks. */
penstock_status penstock_stream_write(penstock_stream *stream, const void *data, int64_t bytes);
/* Reads stream RANK from OFFSET on, as pread. RANK -1: all streams, one after another in the order of ranks. *GOT is
 * less than BYTES at the end only. What is read from its first byte to its last without a gap is verified: the read
 * that reaches the end is PENSTOCK_DAMAGED where the checksum is another. */
penstock_status penstock_stream_read(penstock_stream *stream, int64_t rank, int64_t offset, void *buffer, int64_t bytes,
                                     int64_t *got);
/* How many streams there are. */
int64_t penstock_streams(const penstock_stream *stream);
/* The length of stream RANK, -1 for all together; while writing, of this rank's own only. */
penstock_status penstock_stream_bytes(penstock_stream *stream, int64_t rank, int64_t *bytes);
/* Collective. Publishes what was written, all or nothing, and frees STREAM, whatever the status. */
penstock_status penstock_stream_close(penstock_stream *stream);
/* Frees STREAM and drops what was written. On all ranks, or on none. */
void penstock_stream_abandon(penstock_stream *stream);

/* --- series: output over time, one file for each step ------------------------------------------------------------- */

typedef struct penstock_series penstock_series;

/* Collective, to write. PATTERN has one '*' in its file name: "run/out-*.h5" is run/out-00000100.h5 at iteration 100. A series
 * that is there is continued: a step that is written at iteration N replaces all of N and later that an earlier run left.
 * PLAN: of the files, or NULL. OPTIONS, "steps=100,keep_last=3", or NULL for what is named here:
 *   steps=0         due when a multiple of so many iterations is reached or passed
 *   times=          due when a multiple of this time of the simulation is
 *   at=             due at these times: at=0:0.1:0.25
 *   seconds=        due when the last step was begun so many seconds ago, by rank 0's clock
 *   io_budget=      10%: not due where writing would take more than this share of the time since create
 *   keep_last=0     only the last so many steps stay
 *   keep_every=0    but every so manieth step for good
 *   xdmf=false      true: beside the index a file for ParaView and VisIt, of HDF5 files
 * Without steps, times, at and seconds every step is due; without keep_last and keep_every all stay. */
penstock_status penstock_series_create(penstock_comm comm, const char *pattern, const char *plan, const char *options,
                                       penstock_series **series);
/* Collective, to read. PENSTOCK_NOT_FOUND where there is no step. */
penstock_status penstock_series_open(penstock_comm comm, const char *pattern, penstock_series **series);
/* Collective, with the same arguments on all ranks. DUE: 1 where a step is to be written now, else 0; the same on all ranks, and
 * the same when asked again. Only seconds and io_budget communicate: one small broadcast. */
penstock_status penstock_due(penstock_series *series, int64_t iteration, double time, int *due);
/* Collective. A new FILE to put into, with attributes "iteration" and "time". Its penstock_close publishes it; then the index has
 * it, and what is no longer kept is removed. FILE may be closed after SERIES. */
penstock_status penstock_series_step(penstock_series *series, int64_t iteration, double time, penstock_file **file);
/* How many steps there are: at create or open, and written since. */
int64_t penstock_series_steps(const penstock_series *series);
/* Step INDEX from 0, ascending in iterations. Each of ITERATION, TIME and PATH may be NULL; PATH lives until the next call with
 * SERIES. */
penstock_status penstock_series_describe(penstock_series *series, int64_t index, int64_t *iteration, double *time,
                                         const char **path);
/* Collective. To read step INDEX; PLAN as for penstock_open. */
penstock_status penstock_series_open_step(penstock_series *series, int64_t index, const char *plan,
                                          penstock_file **file);
/* Files that match and are no steps, or cannot be read, one per line; "" for nothing. Lives until the next call with SERIES. */
const char *penstock_series_warnings(penstock_series *series);
/* Local. Frees SERIES; nothing is pending. */
penstock_status penstock_series_close(penstock_series *series);

/* --- provenance: attributes of the group "provenance" -------------------------------------------------------------- */

/* Rank 0's TEXT is stored under KEY: an input file, the version of the code, ...; other ranks may call it too, and do not
 * count. A text of more than 16 KiB becomes a dataset "provenance/KEY" of its bytes. */
penstock_status penstock_provenance(penstock_file *file, const char *key, const char *text);
/* What rank 0 can find out: user, host, date (UTC), machine, directory, command_line, job (of a batch system), and the
 * versions of penstock, hdf5 and mpi. */
penstock_status penstock_provenance_collect(penstock_file *file);

/* --- errors ------------------------------------------------------------------------------------------------------ */

/* The message of this thread's last failed call: what, where, and what to do. Valid until its next penstock call. */
const char *penstock_message(void);
/* For how long a wait for other ranks, or for I/O servers, may see nothing move: then it ends in PENSTOCK_TIMEOUT on the
 * ranks that wait, whose message names those that are missing; their communicator, and the files on it, can only be closed
 * then. 0: no limit. It is 600 s, or what the environment's PENSTOCK_TIMEOUT says, until it is set. Local; ranks may
 * differ: the shortest patience decides. PENSTOCK_INVALID for what is no number of seconds. */
penstock_status penstock_set_timeout(double seconds);
/* Local. From now on TELL is called, on each rank that waits and by the thread that does, once nothing has moved for
 * SECONDS: WHAT is "waiting for rank 3 (of 4) in commit of 'heat.h5' for 10 s: ...", IDLE for how long; and again when
 * it has been twice as long, and so on. The library itself never prints. TELL must not call it. NULL: nobody is told,
 * as it is until this is called. All ranks should call it, since they ask each other. */
typedef void (*penstock_waiting)(const char *what, double idle, void *context);
penstock_status penstock_when_waiting(double seconds, penstock_waiting tell, void *context);
/* "no space", ... for a status. */
const char *penstock_status_name(penstock_status status);

#ifdef __cplusplus
}
#endif
#endif
