/* penstock.h: the C interface: parallel arrays into one portable file, and back, on any decomposition. */
#ifndef PENSTOCK_H
#define PENSTOCK_H

#include <stddef.h>
#include <stdint.h>

#include <penstock/config.h> /* PENSTOCK_HAVE_MPI, PENSTOCK_VERSION */

#if PENSTOCK_HAVE_MPI
#include <mpi.h>
typedef MPI_Comm penstock_comm; /* MPI_COMM_NULL: this process alone; MPI need not be initialised */
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

/* Every function returns a status unless its declaration says otherwise. penstock_message() returns the text of the
 * thread's last error. The library never prints, aborts or exits.
 *
 * Functions are local (no communication) unless they are marked collective. All ranks of the file's communicator call a
 * collective function, in the same order; it returns the same error on all of them. NULL for a handle or a required
 * pointer is PENSTOCK_INVALID. */
typedef enum penstock_status {
  PENSTOCK_OK = 0,
  PENSTOCK_INVALID = 1,      /* an argument is not valid */
  PENSTOCK_NOT_FOUND = 2,    /* no such file, folder, dataset or attribute */
  PENSTOCK_EXISTS = 3,       /* an object of this name exists already */
  PENSTOCK_DENIED = 4,       /* no permission, or a read-only file system */
  PENSTOCK_NO_SPACE = 5,     /* disk or quota full */
  PENSTOCK_IO = 6,           /* the file system failed */
  PENSTOCK_MISMATCH = 7,     /* ranks, or caller and file, disagree on a definition */
  PENSTOCK_OVERLAP = 8,      /* an element was put more than once */
  PENSTOCK_INCOMPLETE = 9,   /* an element was put by no rank */
  PENSTOCK_UNSUPPORTED = 10, /* this build, format or file system does not support it */
  PENSTOCK_MEMORY = 11,      /* a memory limit was reached */
  PENSTOCK_DAMAGED = 12,     /* bytes in a file differ from what was written */
  PENSTOCK_TIMEOUT = 13,     /* no progress within the time limit */
  PENSTOCK_IN_DOUBT = 14,    /* unknown whether the commit took effect */
  PENSTOCK_ELSEWHERE = 15,   /* another rank failed */
  PENSTOCK_INTERNAL = 16     /* a bug in penstock */
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
  /* Not types. They make every int a valid value of the enumeration, in C++ too, as PENSTOCK_TEXT needs. */
  PENSTOCK_TYPE_LEAST = INT32_MIN,
  PENSTOCK_TYPE_MOST = INT32_MAX
} penstock_type;
/* The type of texts with a fixed length of 1 to 2^24 bytes, NUL-padded. */
#define PENSTOCK_TEXT(bytes) ((penstock_type)(0x1000000 + (bytes)))

typedef struct penstock_file penstock_file;
typedef struct penstock_decomposition penstock_decomposition;

/* Layout in memory of a block's elements, for decompositions with at most one box. NULL means contiguous. Either SHAPE
 * and START: the block lies at START inside a row-major array of SHAPE, for example with ghost cells around it. Or
 * STRIDE: the distance between neighbours in each dimension, in elements. Unused pointers are NULL. Each array has one
 * number for each dimension of the block. */
typedef struct penstock_memory {
  const int64_t *shape, *start;
  const int64_t *stride;
} penstock_memory;

/* --- files ------------------------------------------------------------------------------------------------------- */

/* Collective. Creates a file. Nothing changes at PATH until commit; an existing file stays until then. PLAN selects
 * format and transport, for example "hdf5/two_phase:writers=2". NULL selects the default for the extension of PATH:
 * hdf5 for .h5 .hdf5 .he5 .hdf .nc4 .vtkhdf, no extension or a number; netcdf for .nc .cdf; raw for .raw .json. A PLAN
 * of parameters alone, such as ":durability=none", changes only these. With any other extension PLAN must name the
 * format. The caller frees *FILE with penstock_close or penstock_abandon. */
penstock_status penstock_create(penstock_comm comm, const char *path, const char *plan, penstock_file **file);
/* Collective. Opens a file for reading and detects its format. PLAN may name a transport; NULL: the default. */
penstock_status penstock_open(penstock_comm comm, const char *path, const char *plan, penstock_file **file);
/* Collective. Opens for reading the newest valid file that matches PATTERN, a shell pattern such as "run/chk-*.h5".
 * Newest means committed last. Valid means complete and equal to its checksums; all data of the file is read to compare
 * them. penstock_warnings lists the skipped files with the reasons. PENSTOCK_NOT_FOUND if no file is valid; the message
 * then lists them. */
penstock_status penstock_open_latest(penstock_comm comm, const char *pattern, const char *plan, penstock_file **file);
/* Collective. Opens a file to read, change, add and extend datasets. Commit replaces the old file by a new one. */
penstock_status penstock_reopen(penstock_comm comm, const char *path, const char *plan, penstock_file **file);
/* Collective. Copies all contents of FROM into a new file TO, in pieces of bounded size, all or nothing. It converts a
 * set to one file, a file to a set, or to another format; with engine phdf5 also to other chunks and compression. PLAN
 * applies to the new file. */
penstock_status penstock_copy(penstock_comm comm, const char *from, const char *to, const char *plan);
/* Collective. Creates a file at PATH that starts with all contents of TEMPLATE_PATH, a file or a set. The template does
 * not change: it holds constant metadata and data, and the program puts the rest. penstock_commit or penstock_close
 * publishes everything at once. PLAN applies to the new file; its placement is single or parts. */
penstock_status penstock_clone(penstock_comm comm, const char *template_path, const char *path, const char *plan,
                               penstock_file **file);
/* Collective. Reads all data of the file or set at PATH and compares it with the checksums of its commit. PENSTOCK_OK
 * if everything agrees. PENSTOCK_DAMAGED otherwise: the message names the first damaged dataset and elements and counts
 * the others. PENSTOCK_NOT_FOUND if the file does not exist or has no checksums. */
penstock_status penstock_verify(penstock_comm comm, const char *path);
/* Collective. Rebuilds the one missing or damaged file of a set that was written with parity=1, bit for bit.
 * PENSTOCK_OK if the set is now as committed. PENSTOCK_DAMAGED or PENSTOCK_NOT_FOUND if data is lost and cannot be
 * rebuilt; the message says which. A file that was changed after the commit is kept beside the rebuilt one. Without
 * parity this function only checks. */
penstock_status penstock_repair(penstock_comm comm, const char *path);
/* Collective. Renews the checksums, and the parity if any, of a file or set that another tool changed on purpose.
 * PENSTOCK_DAMAGED if nothing has written to the file since its commit: the differences are then damage. FORCE (not 0)
 * renews the checksums anyway. */
penstock_status penstock_seal(penstock_comm comm, const char *path, int force);
/* Collective. Publishes all data that was put, all or nothing, and fills the buffers of penstock_get. The file stays
 * open. With transport servers it returns after the data is handed over; the next commit, penstock_commit_wait or
 * penstock_close then publishes the data and returns any error. */
penstock_status penstock_commit(penstock_file *file);
/* Collective. Starts a commit in the background: the first of three steps of penstock_commit, so that the program
 * computes while data moves. It takes all data that was put (copied) or lent (alive and unchanged until
 * penstock_commit_wait). Later puts belong to the next commit. Buffers of penstock_get are filled on return.
 *
 * Where the data moves depends on the plan:
 *   in a library thread      if the rank sends and receives nothing (independent,
 *                            per_process; two_phase on one node), or if MPI
 *                            runs with MPI_THREAD_MULTIPLE
 *   in the servers           transport servers
 *   in penstock_commit_test  two_phase with messages, and mpiio with
 *                            synchronism=nonblocking: each call sends and
 *                            receives what it can without waiting
 *   in penstock_commit_wait  all other mpiio, and engines
 * While an engine or mpiio works in a thread, the library's own calls of HDF5, netCDF, PnetCDF and MPI-IO wait for it.
 * The program should not call these libraries in that time. */
penstock_status penstock_commit_start(penstock_file *file);
/* Local. Tests a commit in the background; never waits for another rank. DONE is 0 while data moves or while more calls
 * are needed to move it. DONE is 1 when penstock_commit_wait is due. */
penstock_status penstock_commit_test(penstock_file *file, int *done);
/* Collective. Waits for a commit in the background and publishes it. Errors of the data movement are returned here.
 * PENSTOCK_OK if none was started. penstock_commit, penstock_commit_start and penstock_close call it first. */
penstock_status penstock_commit_wait(penstock_file *file);
/* Collective. Commits pending data and frees FILE, whatever the status. */
penstock_status penstock_close(penstock_file *file);
/* Collective. Closes FILE as the newest of RETAIN restart files. PATTERN contains # for the index: "run/restart#.h5"
 * gives restart0.h5 (the newest), restart1.h5, ...; "restart##.h5" gives restart00.h5, .... PATTERN must be in the
 * folder of FILE.
 *
 * Existing restart files move up by one index. The file that would get index RETAIN is removed with its parts; higher
 * indices do not change. Uncommitted data is written directly to index 0, whatever path FILE has; a committed file is
 * renamed. A complete file, old or new, exists at index 0 at all times. (On a file system without hard links index 0
 * may be absent for a moment; index 1 then exists.) After an error, wrong arguments included, all existing restart
 * files stay and FILE is dropped. */
penstock_status penstock_close_restart(penstock_file *file, const char *pattern, int64_t retain);
/* Local. Frees FILE and drops uncommitted data. Call it on all ranks or on none. If a commit that sends messages is
 * under way, one MPI communicator stays allocated until the program ends, since messages may still arrive. */
void penstock_abandon(penstock_file *file);

/* --- I/O servers ------------------------------------------------------------------------------------------------- */

/* Collective over COMM. Makes some ranks I/O servers for plans "servers:kind=ranks". Their number is
 * PENSTOCK_SERVER_RANKS, by default one rank of 16, spread over the nodes. Compute ranks get a communicator of their
 * own in COMPUTE; they use it for their files and for all other communication. On a server the call serves requests and
 * returns with MPI_COMM_NULL after all compute ranks called penstock_unsplit or MPI_Finalize. PENSTOCK_UNSUPPORTED in a
 * build without MPI. */
penstock_status penstock_split(penstock_comm comm, penstock_comm *compute);
/* Collective over COMPUTE. Stops the servers, after all files on COMPUTE are closed. Frees COMPUTE and sets it to
 * MPI_COMM_NULL. */
penstock_status penstock_unsplit(penstock_comm *compute);

/* --- decompositions: which part this rank owns; immutable, any number of puts may use one; free with penstock_free  */

/* One box at START, of COUNT elements per dimension, in a dataset of SHAPE. Each array has RANK numbers, slowest
 * dimension first. */
penstock_status penstock_block(int rank, const int64_t *shape, const int64_t *start, const int64_t *count,
                               penstock_decomposition **d);
/* The box of process PROCESS if SHAPE is divided evenly over PROCESS_GRID. Processes are numbered in row-major order.
 * The first blocks take the remainder. */
penstock_status penstock_grid(int rank, const int64_t *shape, const int64_t *process_grid, int process,
                              penstock_decomposition **d);
/* A list of BOXES boxes. STARTS and COUNTS have BOXES * RANK numbers each. Memory holds the boxes one after another.
 * BOXES may be 0. */
penstock_status penstock_boxes(int rank, const int64_t *shape, int64_t boxes, const int64_t *starts,
                               const int64_t *counts, penstock_decomposition **d);
/* A list of RUNS runs of elements in the row-major order of SHAPE. OFFSETS and LENGTHS have RUNS numbers each, in
 * elements. Memory holds the runs one after another. */
penstock_status penstock_runs(int rank, const int64_t *shape, int64_t runs, const int64_t *offsets,
                              const int64_t *lengths, penstock_decomposition **d);
/* ROWS rows of shape ROW on this rank. ROW has ROW_RANK numbers; 0 means scalars. The rows of the ranks follow one
 * another in rank order; commit computes the total. */
penstock_status penstock_ragged(int64_t rows, int row_rank, const int64_t *row, penstock_decomposition **d);
/* The whole dataset, identical on every rank. Writing checks that the ranks agree and writes it once. Reading reads it
 * once and broadcasts it. */
penstock_status penstock_replicated(int rank, const int64_t *shape, penstock_decomposition **d);
/* One row of shape ROW for each rank. The dataset has shape (ranks, ROW...). ROW has ROW_RANK numbers. */
penstock_status penstock_per_rank(int row_rank, const int64_t *row, penstock_decomposition **d);
/* The number of elements of this rank; 0 for NULL. */
int64_t penstock_elements(const penstock_decomposition *d);
/* Frees D. Puts, lends and gets that used it are not affected. */
void penstock_free(penstock_decomposition *d);

/* --- data: local, deferred to commit; any number of blocks, any order, different on each rank -------------------- */

/* A call of this section that fails makes the next commit fail with its error, on all ranks, so that no error is lost.
 * D may be freed as soon as the call returns. */

/* Puts a block of dataset NAME. Copies DATA before it returns. NAME may contain groups, as in "fluid/rho". A leading
 * slash makes no difference; a trailing slash is not allowed, not even for groups. MEMORY: the layout of DATA, or
 * NULL. */
penstock_status penstock_put(penstock_file *file, const char *name, penstock_type type, const penstock_decomposition *d,
                             const void *data, const penstock_memory *memory);
/* Puts a block without a copy. DATA must stay alive and unchanged until commit returns. */
penstock_status penstock_lend(penstock_file *file, const char *name, penstock_type type,
                              const penstock_decomposition *d, const void *data, const penstock_memory *memory);
/* Requests a block of dataset NAME. DATA is filled when commit or close returns. TYPE must be the type in the file. */
penstock_status penstock_get(penstock_file *file, const char *name, penstock_type type, const penstock_decomposition *d,
                             void *data, const penstock_memory *memory);
/* Requests a block and converts it to TYPE, which must hold all values of the dataset's type: for example double for
 * float, int64 for uint32, double for int32. */
penstock_status penstock_get_widened(penstock_file *file, const char *name, penstock_type type,
                                     const penstock_decomposition *d, void *data, const penstock_memory *memory);
/* Names the COUNT dimensions of dataset NAME, slowest first, as xarray and netCDF show them. HDF5 stores them as
 * dimension scales. A name such as "y" stands for one length in the whole file; "level_1/y" belongs to group level_1. A
 * one-dimensional dataset of numbers with the name of a dimension holds its coordinates. Names that do not fit make
 * commit fail with PENSTOCK_INVALID. */
penstock_status penstock_dimensions(penstock_file *file, const char *name, int count, const char *const *dimensions);
/* Creates group NAME, even if it stays empty. */
penstock_status penstock_group(penstock_file *file, const char *name);
/* Removes dataset or group NAME with all its contents, both uncommitted data and the contents of a reopened file. One
 * rank is enough. NAME may then be put again, with another type and shape. PENSTOCK_NOT_FOUND if NAME does not exist.
 */
penstock_status penstock_remove(penstock_file *file, const char *name);
/* Sets how dataset NAME is stored, in this and later commits of FILE, where that is not the plan's way:
 * "type=f32,keep_bits=12,compression=zstd,level=3" (docs/precision.md lists the options). Every rank that puts NAME
 * sets the same options, before it puts; "" takes them back. PENSTOCK_INVALID or PENSTOCK_UNSUPPORTED if the plan
 * cannot store it so. */
penstock_status penstock_dataset_option(penstock_file *file, const char *name, const char *options);
/* Allows the first extent of NAME to grow when the file is reopened. */
penstock_status penstock_unlimited(penstock_file *file, const char *name);
/* Allows elements that no rank puts, if PARTIAL is not 0: they are zero, instead of an error at commit. */
penstock_status penstock_partial(penstock_file *file, int partial);
/* Writes a file for ParaView and VisIt beside each committed HDF5 file, if XDMF is not 0 on any rank: heat.xmf for
 * heat.h5. It describes the meshes of attributes "mesh" (docs/meshes.md). An invalid description makes commit fail with
 * PENSTOCK_INVALID. */
penstock_status penstock_xdmf(penstock_file *file, int xdmf);
/* Adds the metadata of a convention at each commit; one rank is enough. CONVENTION is one of (docs/conventions.md):
 *   "CF"        for netCDF files: names of dimensions, coordinates of meshes
 *   "openPMD"   for HDF5 files with openPMD dataset names
 *   ""          none
 * Commit fails with PENSTOCK_INVALID if the file contains nothing to describe, and with PENSTOCK_UNSUPPORTED in another
 * format. */
penstock_status penstock_conventions(penstock_file *file, const char *convention);
/* Sets the limit for copied puts of this rank, in BYTES. Default: an equal share of a quarter of the node's memory. */
penstock_status penstock_capture_bytes(penstock_file *file, int64_t bytes);
/* Fails with STATUS and MESSAGE and makes the next commit of FILE fail, like any failed call of this section. For
 * checks in the program or in bindings. If FILE is NULL, only penstock_message is set. Returns STATUS. */
penstock_status penstock_fail(penstock_file *file, penstock_status status, const char *message);

/* --- attributes: OBJECT is "/" for the file, else a group or dataset --------------------------------------------- */

/* At commit OBJECT must be in the file or put, be a group of such a dataset, or come from penstock_group; otherwise
 * commit fails with PENSTOCK_NOT_FOUND. An attribute "mesh" creates the group that it describes. */

/* Sets a text attribute, NUL-terminated TEXT. */
penstock_status penstock_attribute(penstock_file *file, const char *object, const char *name, const char *text);
/* Sets an attribute of COUNT values of TYPE, copied from VALUES. COUNT < 0: one scalar. */
penstock_status penstock_attribute_array(penstock_file *file, const char *object, const char *name, penstock_type type,
                                         int64_t count, const void *values);
/* Sets an attribute of COUNT texts. */
penstock_status penstock_attribute_texts(penstock_file *file, const char *object, const char *name, int64_t count,
                                         const char *const *texts);
/* Returns the type and the number of values of an attribute in the file. COUNT is -1 for a scalar. TYPE and COUNT may
 * be NULL. */
penstock_status penstock_attribute_info(penstock_file *file, const char *object, const char *name, penstock_type *type,
                                        int64_t *count);
/* Copies an attribute to VALUES, which has room for BYTES bytes. TYPE must be the attribute's own type. A text is
 * NUL-terminated if there is room. */
penstock_status penstock_attribute_get(penstock_file *file, const char *object, const char *name, penstock_type type,
                                       void *values, int64_t bytes);

/* --- contents of an open file ------------------------------------------------------------------------------------- */

/* The number of datasets in the file. */
int64_t penstock_count(penstock_file *file);
/* The name of dataset INDEX, from 0, in file order. Valid as long as FILE. NULL past the end. */
const char *penstock_name(penstock_file *file, int64_t index);
/* Returns type and shape of dataset NAME. TYPE, RANK, SHAPE (room for 8 numbers) and UNLIMITED may each be NULL. */
penstock_status penstock_describe(penstock_file *file, const char *name, penstock_type *type, int *rank, int64_t *shape,
                                  int *unlimited);
/* The name of dimension INDEX, from 0, of dataset NAME. "" if the dimension has no name or the dataset does not exist.
 * Valid as long as FILE. */
const char *penstock_dimension(penstock_file *file, const char *name, int index);
/* The plan in use, with all parameters. Valid as long as FILE. */
const char *penstock_plan(penstock_file *file);
/* The path of the file, with links resolved. Valid as long as FILE. */
const char *penstock_path(penstock_file *file);
/* The warnings of the last open or commit, one per line; "" for none. Valid until the next call with FILE. */
const char *penstock_warnings(penstock_file *file);

/* --- streams: opaque bytes, one stream for each rank, in a few files for all ------------------------------------- */

typedef struct penstock_stream penstock_stream;

/* Collective. Creates a container with one stream for each rank. Nothing changes at PATH until close; an existing file
 * stays until then. OPTIONS, such as "files=4,chunk_bytes=4MiB", or NULL for these defaults:
 *   files=node           number of files; each holds a contiguous group of ranks; node: one per node
 *   chunk_bytes=1MiB     unit of space for a rank, rounded up to file-system blocks; ranks never share a block
 *   buffer_bytes=1MiB    memory that collects small writes
 *   io=buffered          or direct
 *   durability=full      or none, which only omits the syncs
 * The caller frees *STREAM with penstock_stream_close or penstock_stream_abandon. */
penstock_status penstock_stream_create(penstock_comm comm, const char *path, const char *options,
                                       penstock_stream **stream);
/* Collective. Opens a container for reading, on any number of ranks. */
penstock_status penstock_stream_open(penstock_comm comm, const char *path, penstock_stream **stream);
/* Appends BYTES bytes of DATA to this rank's stream. Any number of calls, of any size. A failed write makes close fail
 * with its error, on all ranks. */
penstock_status penstock_stream_write(penstock_stream *stream, const void *data, int64_t bytes);
/* Reads up to BYTES bytes of stream RANK at OFFSET, like pread. RANK -1 means all streams, concatenated in rank order.
 * *GOT is less than BYTES only at the end. A stream that is read from first to last byte without gaps is verified: the
 * read that reaches the end returns PENSTOCK_DAMAGED if the checksum differs. */
penstock_status penstock_stream_read(penstock_stream *stream, int64_t rank, int64_t offset, void *buffer, int64_t bytes,
                                     int64_t *got);
/* The number of streams; 0 for NULL. */
int64_t penstock_streams(const penstock_stream *stream);
/* Returns the length of stream RANK in bytes; -1 for all streams together. While writing, only this rank's own
 * stream. */
penstock_status penstock_stream_bytes(penstock_stream *stream, int64_t rank, int64_t *bytes);
/* Collective. Publishes the written data, all or nothing, and frees STREAM, whatever the status. */
penstock_status penstock_stream_close(penstock_stream *stream);
/* Frees STREAM and drops the written data. Call it on all ranks or on none. */
void penstock_stream_abandon(penstock_stream *stream);

/* --- series: output over time, one file for each step ------------------------------------------------------------- */

typedef struct penstock_series penstock_series;

/* Collective. Creates or continues a series for writing. PATTERN has one '*' in its file name: "run/out-*.h5" gives
 * run/out-00000100.h5 at iteration 100. Writing a step at iteration N to an existing series replaces all steps of an
 * earlier run from N on. PLAN applies to the files; NULL: the default. OPTIONS, such as "steps=100,keep_last=3", or
 * NULL for these defaults:
 *   steps=0         due when a multiple of this number of iterations is reached or passed
 *   times=          due when a multiple of this simulation time is reached or passed
 *   at=             due at these simulation times: at=0:0.1:0.25
 *   seconds=        due when the last step began this many seconds ago, by rank 0's clock
 *   io_budget=      10%: not due if writing would take more than this share of the time since create
 *   keep_last=0     keep only the last N steps; 0: all
 *   keep_every=0    additionally keep every Nth step permanently
 *   xdmf=false      true: write a file for ParaView and VisIt beside the index, for HDF5 files
 * Without steps, times, at and seconds every step is due. Without keep_last and keep_every all steps are kept. The
 * caller frees *SERIES with penstock_series_close. */
penstock_status penstock_series_create(penstock_comm comm, const char *pattern, const char *plan, const char *options,
                                       penstock_series **series);
/* Collective. Opens a series for reading. PENSTOCK_NOT_FOUND if there is no step. */
penstock_status penstock_series_open(penstock_comm comm, const char *pattern, penstock_series **series);
/* Collective. Tells whether a step is due now: DUE is 1 or 0. All ranks pass the same arguments and get the same
 * result; the same question gets the same answer. Only seconds and io_budget communicate: one small broadcast. */
penstock_status penstock_due(penstock_series *series, int64_t iteration, double time, int *due);
/* Collective. Creates the file of a step, with attributes "iteration" and "time". penstock_close of FILE publishes the
 * step, adds it to the index and removes the steps that are no longer kept. FILE may be closed after SERIES. */
penstock_status penstock_series_step(penstock_series *series, int64_t iteration, double time, penstock_file **file);
/* The number of steps: those found at create or open, and those written since. */
int64_t penstock_series_steps(const penstock_series *series);
/* Returns iteration, time and path of step INDEX, from 0, in ascending order of iterations. ITERATION, TIME and PATH
 * may each be NULL. PATH is valid until the next call with SERIES. */
penstock_status penstock_series_describe(penstock_series *series, int64_t index, int64_t *iteration, double *time,
                                         const char **path);
/* Collective. Opens step INDEX for reading. PLAN as for penstock_open. */
penstock_status penstock_series_open_step(penstock_series *series, int64_t index, const char *plan,
                                          penstock_file **file);
/* Files that match the pattern but are not steps or cannot be read, one per line; "" for none. Valid until the next
 * call with SERIES. */
const char *penstock_series_warnings(penstock_series *series);
/* Local. Frees SERIES. Nothing is pending. */
penstock_status penstock_series_close(penstock_series *series);

/* --- provenance: attributes of the group "provenance" ------------------------------------------------------------- */

/* Stores TEXT of rank 0 under KEY, for example an input file or the version of the code. Other ranks may call it; their
 * TEXT is ignored. A text of more than 16 KiB becomes a dataset "provenance/KEY" of its bytes. */
penstock_status penstock_provenance(penstock_file *file, const char *key, const char *text);
/* Stores what rank 0 can find out: user, host, date (UTC), machine, directory, command_line, job (of a batch system),
 * and the versions of penstock, hdf5 and mpi. */
penstock_status penstock_provenance_collect(penstock_file *file);

/* --- errors ------------------------------------------------------------------------------------------------------ */

/* The message of this thread's last failed call: what failed, where, and what to do. Valid until its next penstock
 * call. */
const char *penstock_message(void);
/* Sets the time limit for waiting without progress, in seconds; 0: no limit. It applies to waits for other ranks and
 * for I/O servers. The ranks that wait then return PENSTOCK_TIMEOUT, and the message names the missing ranks.
 * Afterwards their communicator and the files on it can only be closed. Default: the environment variable
 * PENSTOCK_TIMEOUT, or 600 s. Local; ranks may differ: the shortest limit applies. PENSTOCK_INVALID if SECONDS is not a
 * valid number. */
penstock_status penstock_set_timeout(double seconds);
/* A function that reports a wait. WHAT is for example "waiting for rank 3 (of 4) in commit of 'heat.h5' for 10 s: ...";
 * IDLE is the time without progress in seconds; CONTEXT is the argument of penstock_when_waiting. It must not call this
 * library. */
typedef void (*penstock_waiting)(const char *what, double idle, void *context);
/* Local. Sets a function that reports long waits. The waiting thread of each waiting rank calls TELL when nothing has
 * moved for SECONDS, again after twice that time, and so on. NULL (the default) turns reports off. All ranks should
 * call this function, since ranks ask each other where they are. */
penstock_status penstock_when_waiting(double seconds, penstock_waiting tell, void *context);
/* The name of a status, such as "no space". */
const char *penstock_status_name(penstock_status status);

#ifdef __cplusplus
}
#endif
#endif
