/* checkpoint_mpiio.c: the same by hand, with MPI-IO: 64 bytes of numbers, then the plate, row after row. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "checkpoint.h"

enum { HEADER_BYTES = 64 };
static const char MAGIC[8] = "jacobi 1";

typedef struct Header {
  char magic[8];
  int64_t n, step;
  double residual, time;
  char unused[HEADER_BYTES - 40];
} Header;

static char message[MPI_MAX_ERROR_STRING + 600];

const char *checkpoint_message(void) { return message; }

/* Collective. 0 if no rank has failed; otherwise all return 1, and rank 0 has the message of a failed rank. */
static int agree(MPI_Comm comm, int error, const char *doing) {
  int rank, mine, first;
  MPI_Comm_rank(comm, &rank);
  mine = error == MPI_SUCCESS ? INT_MAX : rank;
  MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm);
  if (first == INT_MAX) return 0;
  if (rank == first) {
    char text[MPI_MAX_ERROR_STRING] = "a file that is no plate, or too short";
    int length;
    if (error > 0) MPI_Error_string(error, text, &length);
    snprintf(message, sizeof message, "rank %d: %s: %s", rank, doing, text);
  }
  MPI_Bcast(message, sizeof message, MPI_CHAR, first, comm);
  return 1;
}

/* The block in the file, and inside its ghost cells in memory. An element of each type is a whole block, so that no
 * count exceeds INT_MAX for any size of the plate. */
static void make_types(const Plate *p, MPI_Datatype *in_file, MPI_Datatype *in_memory) {
  const int whole[2] = {(int)p->n, (int)p->n}, count[2] = {(int)p->ny, (int)p->nx}, start[2] = {(int)p->y0, (int)p->x0};
  const int around[2] = {count[0] + 2, count[1] + 2}, inside[2] = {1, 1};
  MPI_Type_create_subarray(2, whole, count, start, MPI_ORDER_C, MPI_DOUBLE, in_file);
  MPI_Type_create_subarray(2, around, count, inside, MPI_ORDER_C, MPI_DOUBLE, in_memory);
  MPI_Type_commit(in_file);
  MPI_Type_commit(in_memory);
}

/* Collective. Checks how much of the block was moved: a full file system may report it only here. */
static int move_block(MPI_File file, const Plate *p, int writes) {
  MPI_Datatype in_file, in_memory;
  MPI_Status status;
  MPI_Count moved = 0;
  make_types(p, &in_file, &in_memory);
  int error = MPI_File_set_view(file, HEADER_BYTES, MPI_DOUBLE, in_file, "native", MPI_INFO_NULL);
  if (!agree(p->comm, error, "setting the view")) {
    error = writes ? MPI_File_write_all(file, p->now, 1, in_memory, &status)
                   : MPI_File_read_all(file, p->now, 1, in_memory, &status);
    if (error == MPI_SUCCESS) MPI_Get_elements_x(&status, MPI_DOUBLE, &moved);
    if (error == MPI_SUCCESS && moved != (MPI_Count)p->ny * p->nx) error = -1;
    error = agree(p->comm, error, writes ? "writing the plate" : "reading the plate");
  } else {
    error = 1;
  }
  MPI_Type_free(&in_file);
  MPI_Type_free(&in_memory);
  return error;
}

/* The new file has a temporary name until it is complete. */
int checkpoint_write(const char *path, const char *plan, const Plate *p) {
  MPI_File file;
  Header header = {.n = p->n, .step = p->step, .residual = p->residual, .time = p->time};
  char partial[4096];
  int rank;
  (void)plan;
  MPI_Comm_rank(p->comm, &rank);
  memcpy(header.magic, MAGIC, sizeof MAGIC);
  snprintf(partial, sizeof partial, "%s.partial", path);
  if (rank == 0) MPI_File_delete(partial, MPI_INFO_NULL); /* from a run that was killed */
  MPI_Barrier(p->comm);
  const int mode = MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY;
  if (agree(p->comm, MPI_File_open(p->comm, partial, mode, MPI_INFO_NULL, &file), "creating the file")) return 1;
  int error = MPI_SUCCESS;
  if (rank == 0) error = MPI_File_write_at(file, 0, &header, sizeof header, MPI_BYTE, MPI_STATUS_IGNORE);
  int failed = agree(p->comm, error, "writing the header") || move_block(file, p, 1);
  failed = agree(p->comm, MPI_File_sync(file), "syncing the file") || failed;
  failed = agree(p->comm, MPI_File_close(&file), "closing the file") || failed;
  if (!failed) failed = agree(p->comm, rank == 0 && rename(partial, path) ? -1 : MPI_SUCCESS, "renaming the file");
  if (failed && rank == 0) MPI_File_delete(partial, MPI_INFO_NULL);
  return failed;
}

static int read_header(MPI_Comm comm, MPI_File file, Header *header) {
  int rank, error = MPI_SUCCESS;
  MPI_Comm_rank(comm, &rank);
  memset(header, 0, sizeof *header);
  if (rank == 0) error = MPI_File_read_at(file, 0, header, sizeof *header, MPI_BYTE, MPI_STATUS_IGNORE);
  if (rank == 0 && error == MPI_SUCCESS && memcmp(header->magic, MAGIC, sizeof MAGIC)) error = -1;
  if (agree(comm, error, "reading the header")) return 1;
  MPI_Bcast(header, sizeof *header, MPI_BYTE, 0, comm);
  return 0;
}

static int open_file(MPI_Comm comm, const char *path, MPI_File *file) {
  return agree(comm, MPI_File_open(comm, path, MPI_MODE_RDONLY, MPI_INFO_NULL, file), "opening the file");
}

int checkpoint_size(MPI_Comm comm, const char *path, int64_t *n) {
  MPI_File file;
  Header header;
  if (open_file(comm, path, &file)) return 1;
  const int failed = read_header(comm, file, &header);
  *n = header.n;
  MPI_File_close(&file);
  return failed;
}

int checkpoint_read(const char *path, const char *plan, Plate *p) {
  MPI_File file;
  Header header;
  (void)plan;
  if (open_file(p->comm, path, &file)) return 1;
  int failed = read_header(p->comm, file, &header);
  if (!failed) {
    p->step = header.step;
    p->residual = header.residual;
    p->time = header.time;
    failed = move_block(file, p, 0);
  }
  MPI_File_close(&file);
  return failed;
}
