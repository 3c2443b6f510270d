/* hdf5.c: parallel HDF5 as programs use it: what ranks write, they and others read, as without our library.
 *
 *   hdf5 fields FILE     many small independent writes in strides, read back by their rank; chunks; filters
 *   hdf5 see FILE        ranks read what others have written, after a flush, a barrier, a collective read, a close
 *   hdf5 order FILE      the same bytes written again: alone, together, by another handle of the file
 *   hdf5 freed FILE      space of data that was removed, or cut off, becomes another dataset's
 *   hdf5 serial FILE     rank 0 writes a file without MPI
 *   hdf5 barriers FILE   with the driver, which asks all ranks at a barrier, there is no other one, of the same ranks
 *   hdf5 opens FILE      with the driver, an opening duplicates the communicator once more than without
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, ranks, failures;

static void must(int good, const char *what, int line) {
  if (good) return;
  fprintf(stderr, "rank %d, line %d: %s\n", rank, line, what);
  ++failures;
}
#define MUST(expression) must((expression), #expression, __LINE__)

static hid_t parallel(void) {
  const hid_t list = H5Pcreate(H5P_FILE_ACCESS);
  MUST(H5Pset_fapl_mpio(list, MPI_COMM_WORLD, MPI_INFO_NULL) >= 0);
  return list;
}

static hid_t opened(const char *path, int create) {
  const hid_t list = parallel();
  const hid_t file = create ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, list) : H5Fopen(path, H5F_ACC_RDWR, list);
  MUST(file >= 0);
  H5Pclose(list);
  return file;
}

static hid_t transfer(H5FD_mpio_xfer_t mode) {
  const hid_t list = H5Pcreate(H5P_DATASET_XFER);
  MUST(H5Pset_dxpl_mpio(list, mode) >= 0);
  return list;
}

enum { rows = 40, width = 3 };

static hid_t dataset(hid_t file, const char *name, hsize_t chunk_rows, int filter, int grows) {
  const hsize_t size[2] = {rows, (hsize_t)(width * ranks)}, most[2] = {H5S_UNLIMITED, size[1]};
  const hsize_t chunk[2] = {chunk_rows, 2};
  const hid_t space = H5Screate_simple(2, size, grows ? most : NULL), list = H5Pcreate(H5P_DATASET_CREATE);
  if (chunk_rows > 0) MUST(H5Pset_chunk(list, 2, chunk) >= 0);
  if (filter) MUST(H5Pset_deflate(list, 3) >= 0);
  const hid_t set = H5Dcreate(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, list, H5P_DEFAULT);
  MUST(set >= 0);
  H5Pclose(list);
  H5Sclose(space);
  return set;
}

static int value(int row, int column, int salt) { return row * 1000 + column + 1 + salt * 1000000; }

/* The columns of OWNER, of rows [FIRST, LAST). */
static hid_t columns(hid_t set, int owner, int first, int last) {
  const hid_t space = H5Dget_space(set);
  const hsize_t start[2] = {(hsize_t)first, (hsize_t)(owner * width)}, count[2] = {(hsize_t)(last - first), width};
  MUST(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0);
  return space;
}

static void put(hid_t set, hid_t list, int owner, int first, int last, int salt) {
  int data[rows * width];
  for (int r = first; r < last; ++r)
    for (int c = 0; c < width; ++c) data[(r - first) * width + c] = value(r, owner * width + c, salt);
  const hsize_t n = (hsize_t)((last - first) * width);
  const hid_t in_file = columns(set, owner, first, last), in_memory = H5Screate_simple(1, &n, NULL);
  MUST(H5Dwrite(set, H5T_NATIVE_INT, in_memory, in_file, list, data) >= 0);
  H5Sclose(in_memory);
  H5Sclose(in_file);
}

static void get(hid_t set, hid_t list, int owner, int first, int last, int salt, int line) {
  int data[rows * width];
  const hsize_t n = (hsize_t)((last - first) * width);
  const hid_t in_file = columns(set, owner, first, last), in_memory = H5Screate_simple(1, &n, NULL);
  memset(data, 0x55, sizeof data);
  must(H5Dread(set, H5T_NATIVE_INT, in_memory, in_file, list, data) >= 0, "H5Dread", line);
  int wrong = 0;
  for (int r = first; r < last; ++r)
    for (int c = 0; c < width; ++c) wrong += data[(r - first) * width + c] != value(r, owner * width + c, salt);
  if (wrong > 0)
    fprintf(stderr, "rank %d, line %d: %d wrong values of rank %d; the first is %d, not %d\n", rank, line, wrong, owner,
            data[0], value(first, owner * width, salt));
  failures += wrong > 0;
  H5Sclose(in_memory);
  H5Sclose(in_file);
}
#define GET(set, owner, first, last, salt) get(set, H5P_DEFAULT, owner, first, last, salt, __LINE__)

/* By each rank for the next one, as HDF5 reads and writes chunks for it, one or all ranks' at a time. */
static void put_filtered(hid_t file, const char *name, H5FD_mpio_collective_opt_t how) {
  const int other = (rank + 1) % ranks;
  const hid_t together = transfer(H5FD_MPIO_COLLECTIVE), set = dataset(file, name, 7, 1, 0);
  MUST(H5Pset_dxpl_mpio_collective_opt(together, how) >= 0);
  put(set, together, rank, 0, rows, 3);
  put(set, together, other, 0, rows / 2, 4);
  if (how == H5FD_MPIO_INDIVIDUAL_IO) MPI_Barrier(MPI_COMM_WORLD); /* nothing else says that it has been written */
  GET(set, other, 0, rows / 2, 4);
  H5Pclose(together);
  H5Dclose(set);
}

enum { datasets = 30 };

static void fields(const char *path) {
  char name[16];
  hid_t file = opened(path, 1);
  for (int s = 0; s < datasets; ++s) {
    snprintf(name, sizeof name, "field%d", s);
    const hid_t set = dataset(file, name, s % 2 == 0 ? 0 : 7, 0, 0);
    for (int r = 0; r < rows; ++r) put(set, H5P_DEFAULT, rank, r, r + 1, s);
    put(set, H5P_DEFAULT, rank, 5, 9, s + 10);
    GET(set, rank, 0, 5, s);
    GET(set, rank, 5, 9, s + 10);
    H5Dclose(set);
  }
  put_filtered(file, "together", H5FD_MPIO_COLLECTIVE_IO);
  put_filtered(file, "each", H5FD_MPIO_INDIVIDUAL_IO);
  MUST(H5Fclose(file) >= 0);
  file = opened(path, 0);
  for (int s = 0; s < datasets; ++s) {
    snprintf(name, sizeof name, "field%d", s);
    const hid_t set = H5Dopen(file, name, H5P_DEFAULT);
    for (int r = 0; r < ranks; ++r) {
      GET(set, r, 0, 5, s);
      GET(set, r, 5, 9, s + 10);
      GET(set, r, 9, rows, s);
    }
    H5Dclose(set);
  }
  MUST(H5Fclose(file) >= 0);
}

static void see(const char *path) {
  const int other = (rank + 1) % ranks;
  hid_t file = opened(path, 1);
  const hid_t together = transfer(H5FD_MPIO_COLLECTIVE);
  const hid_t set = dataset(file, "set", 0, 0, 0), chunked = dataset(file, "chunked", 7, 0, 0);
  put(set, H5P_DEFAULT, rank, 0, 10, 1);
  put(chunked, H5P_DEFAULT, rank, 0, 10, 1);
  MUST(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  MPI_Barrier(MPI_COMM_WORLD);
  GET(set, other, 0, 10, 1);
  GET(chunked, other, 0, 10, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  put(set, H5P_DEFAULT, rank, 0, 10, 2);
  MPI_Barrier(MPI_COMM_WORLD);
  GET(set, other, 0, 10, 2);
  MPI_Barrier(MPI_COMM_WORLD);
  put(set, H5P_DEFAULT, rank, 0, 10, 3);
  if (rank == 0) put(set, H5P_DEFAULT, rank, 10, 20, 3); /* what one rank keeps alone */
  get(set, together, other, 0, 10, 3, __LINE__);
  if (other == 0) GET(set, 0, 10, 20, 3);
  H5Dclose(chunked);
  put(set, H5P_DEFAULT, rank, 20, 30, 4);
  H5Dclose(set);
  MUST(H5Fclose(file) >= 0);
  file = opened(path, 0);
  const hid_t again = H5Dopen(file, "set", H5P_DEFAULT);
  GET(again, other, 20, 30, 4);
  H5Dclose(again);
  H5Pclose(together);
  MUST(H5Fclose(file) >= 0);
}

/* Ranks wait for each other by what is no barrier. */
static void meet(void) {
  int one = 1;
  MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* A long piece over short ones. */
static void put_long(hid_t file) {
  enum { short_count = 1000, long_count = 300000 };
  const hsize_t size = (hsize_t)(long_count * ranks), n = short_count, m = long_count;
  const hid_t space = H5Screate_simple(1, &size, NULL), few = H5Screate_simple(1, &n, NULL),
              many = H5Screate_simple(1, &m, NULL);
  const hid_t set = H5Dcreate(file, "long", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  int *data = calloc(long_count, sizeof *data);
  const hsize_t start = (hsize_t)(long_count * rank);
  MUST(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &n, NULL) >= 0);
  MUST(H5Dwrite(set, H5T_NATIVE_INT, few, space, H5P_DEFAULT, data) >= 0);
  for (int i = 0; i < long_count; ++i) data[i] = i + 1;
  MUST(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &m, NULL) >= 0);
  MUST(H5Dwrite(set, H5T_NATIVE_INT, many, space, H5P_DEFAULT, data) >= 0);
  MPI_Barrier(MPI_COMM_WORLD);
  memset(data, 0, long_count * sizeof *data);
  MUST(H5Dread(set, H5T_NATIVE_INT, many, space, H5P_DEFAULT, data) >= 0);
  int wrong = 0;
  for (int i = 0; i < long_count; ++i) wrong += data[i] != i + 1;
  MUST(wrong == 0);
  free(data);
  H5Dclose(set);
  H5Sclose(space);
  H5Sclose(few);
  H5Sclose(many);
}

static void order(const char *path) {
  const int other = (rank + 1) % ranks;
  const hid_t file = opened(path, 1), together = transfer(H5FD_MPIO_COLLECTIVE);
  const hid_t set = dataset(file, "set", 0, 0, 0);
  put(set, H5P_DEFAULT, rank, 0, 12, 1);
  put(set, H5P_DEFAULT, rank, 3, 8, 2);
  put(set, together, rank, 5, 12, 3); /* over what is kept */
  put(set, H5P_DEFAULT, rank, 10, 11, 4);
  GET(set, rank, 3, 5, 2);
  GET(set, rank, 5, 10, 3);
  GET(set, rank, 10, 11, 4);
  put(set, H5P_DEFAULT, rank, 12, 20, 7);
  meet();
  put(set, together, other, 15, 18, 8); /* over what another rank keeps */
  MPI_Barrier(MPI_COMM_WORLD);
  GET(set, rank, 12, 15, 7);
  GET(set, rank, 15, 18, 8);
  put_long(file);
  /* Another handle of the file, which sees what this one has kept. */
  H5Dclose(set);
  MUST(H5Fclose(file) >= 0);
  const hid_t one = opened(path, 0), two = opened(path, 0);
  const hid_t in_one = H5Dopen(one, "set", H5P_DEFAULT), in_two = H5Dopen(two, "set", H5P_DEFAULT);
  GET(in_one, other, 3, 5, 2);
  GET(in_one, other, 5, 10, 3);
  GET(in_one, other, 10, 11, 4);
  GET(in_one, other, 11, 12, 3);
  MPI_Barrier(MPI_COMM_WORLD);
  put(in_one, H5P_DEFAULT, rank, 0, 9, 5);
  put(in_two, H5P_DEFAULT, rank, 4, 6, 6);
  GET(in_one, rank, 0, 4, 5);
  GET(in_one, rank, 4, 6, 6);
  GET(in_two, rank, 6, 9, 5);
  H5Dclose(in_one);
  H5Dclose(in_two);
  H5Pclose(together);
  MUST(H5Fclose(two) >= 0);
  MUST(H5Fclose(one) >= 0);
}

static void freed(const char *path) {
  const hid_t file = opened(path, 1);
  for (int turn = 0; turn < 4; ++turn) {
    hid_t set = dataset(file, "removed", 0, 0, 0);
    put(set, H5P_DEFAULT, rank, 0, rows, turn);
    H5Dclose(set);
    meet();
    MUST(H5Ldelete(file, "removed", H5P_DEFAULT) >= 0);
    /* It gets the space of the other. What a rank still kept for that would be written over another rank's values. */
    set = dataset(file, "other", 0, 0, 0);
    put(set, H5P_DEFAULT, (rank + 1) % ranks, 0, rows, turn + 10);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int r = 0; r < ranks; ++r) GET(set, r, 0, rows, turn + 10);
    MPI_Barrier(MPI_COMM_WORLD);
    H5Dclose(set);
    MUST(H5Ldelete(file, "other", H5P_DEFAULT) >= 0);
  }
  MUST(H5Fclose(file) >= 0);
  const hid_t second = opened(path, 1);
  const hsize_t less[2] = {12, (hsize_t)(width * ranks)}, more[2] = {rows, less[1]};
  const hid_t set = dataset(second, "cut", 7, 0, 1);
  put(set, H5P_DEFAULT, rank, 0, rows, 1);
  meet();
  MUST(H5Dset_extent(set, less) >= 0);
  meet();
  MUST(H5Dset_extent(set, more) >= 0);
  meet();
  put(set, H5P_DEFAULT, (rank + 1) % ranks, 14, 20, 2); /* rows 12 and 13: HDF5's ranks do not agree on them */
  MPI_Barrier(MPI_COMM_WORLD);
  for (int r = 0; r < ranks; ++r) {
    GET(set, r, 0, 12, 1);
    GET(set, r, 14, 20, 2);
  }
  H5Dclose(set);
  MUST(H5Fclose(second) >= 0);
}

static void serial(const char *path) {
  if (rank != 0) return;
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  MUST(file >= 0);
  if (file < 0) return;
  const hid_t list = H5Fget_access_plist(file);
  MUST(H5Pget_driver(list) == H5FD_SEC2);
  H5Pclose(list);
  const hid_t set = dataset(file, "set", 0, 0, 0);
  put(set, H5P_DEFAULT, 0, 0, rows, 1);
  MUST(H5Fclose(file) >= 0); /* an open object keeps the file open, as with sec2 */
  GET(set, 0, 0, rows, 1);
  H5Dclose(set);
#if H5_VERSION_GE(1, 12, 0)
  MUST(H5Fis_accessible(path, H5P_DEFAULT) > 0);
#endif
}

static int duplicates;
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *made) {
  ++duplicates;
  return PMPI_Comm_dup(comm, made);
}

/* Each duplicate is a few collective calls: milliseconds, where ranks share cores. */
static void opens(const char *path) {
  enum { files = 10, by_hdf5 = 1, by_driver = 1 };
  MUST(H5Fclose(opened(path, 1)) >= 0); /* the first file takes more */
  const hid_t list = parallel();
  duplicates = 0;
  for (int f = 0; f < files; ++f) {
    const hid_t file =
        f % 2 == 0 ? H5Fopen(path, H5F_ACC_RDWR, list) : H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, list);
    MUST(file >= 0);
    MUST(H5Fclose(file) >= 0);
  }
  if (duplicates > files * (by_hdf5 + by_driver)) fprintf(stderr, "%d duplicates for %d files\n", duplicates, files);
  MUST(duplicates <= files * (by_hdf5 + by_driver));
  H5Pclose(list);
}

static void barriers(const char *path) {
  const int *made = dlsym(RTLD_DEFAULT, "barriers_of_mpi"); /* of barriers.c */
  MUST(made != NULL);
  if (made == NULL) return;
  const hid_t file = opened(path, 1), set = dataset(file, "set", 0, 0, 0);
  const int other = (rank + 1) % ranks, before = *made;
  for (int row = 0; row < 8; ++row) {
    if (rank == row % ranks) usleep(20000); /* late */
    put(set, H5P_DEFAULT, rank, row, row + 1, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    GET(set, other, row, row + 1, 1);
  }
  MUST(*made == before);
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0, 0, &part);
  MPI_Barrier(part);
  MPI_Comm_free(&part);
  MUST(*made == before + 1 || ranks == 1);
  H5Dclose(set);
  MUST(H5Fclose(file) >= 0);
  const int closed = *made;
  MPI_Barrier(MPI_COMM_WORLD);
  MUST(*made == closed + 1);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 3) {
    fprintf(stderr, "hdf5: say CASE FILE\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const struct {
    const char *name;
    void (*run)(const char *);
  } cases[] = {{"fields", fields}, {"see", see},     {"order", order},      {"freed", freed},
               {"serial", serial}, {"opens", opens}, {"barriers", barriers}};
  int known = 0;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    if (strcmp(argv[1], cases[i].name) == 0) {
      cases[i].run(argv[2]);
      known = 1;
    }
  MUST(known);
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return failures > 0;
}
