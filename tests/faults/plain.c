/* plain: writes numbers by MPI-IO, parallel HDF5, PnetCDF or netCDF-4 as any program would, and prints what each rank
 * was told.
 *
 *   plain write LIBRARY FILE COUNT SEED    on all ranks: COUNT doubles in blocks
 *   plain check LIBRARY FILE COUNT SEED    on one rank: prints good, bad or unreadable
 *
 * LIBRARY is mpiio, hdf5, pnetcdf or netcdf4. */
#include <hdf5.h>
#include <mpi.h>
#ifdef HAVE_PNETCDF
#include <pnetcdf.h>
#endif
#ifdef HAVE_NETCDF
#include <netcdf.h>
#include <netcdf_par.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char *path;
  long long count, start, here; /* of all, and this rank's */
  double *data;
} Block;

/* The text of what failed, or 0. */
typedef const char *(*Action)(const Block *block);

static double value(long long seed, long long index) { return (double)(seed * 1000003 + index); }

#define TRY(call, what) \
  if ((call) != 0) return what

static const char *write_mpiio(const Block *b) {
  MPI_File file;
  TRY(MPI_File_open(MPI_COMM_WORLD, b->path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file), "MPI_File_open");
  const int sized = MPI_File_set_size(file, 0);
  const int wrote = MPI_File_write_at_all(file, b->start * 8, b->data, (int)b->here, MPI_DOUBLE, MPI_STATUS_IGNORE);
  const int synced = MPI_File_sync(file), closed = MPI_File_close(&file);
  TRY(sized, "MPI_File_set_size");
  TRY(wrote, "MPI_File_write_at_all");
  TRY(synced, "MPI_File_sync");
  TRY(closed, "MPI_File_close");
  return 0;
}

static const char *read_mpiio(const Block *b) {
  FILE *file = fopen(b->path, "rb");
  if (file == 0) return "fopen";
  const size_t n = fread(b->data, 8, (size_t)b->count, file);
  fclose(file);
  return n == (size_t)b->count ? 0 : "fread";
}

static const char *write_hdf5(const Block *b) {
  const hsize_t shape = (hsize_t)b->count, start = (hsize_t)b->start, here = (hsize_t)b->here;
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS), transfer = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
  const hid_t file = H5Fcreate(b->path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  TRY(file < 0, "H5Fcreate");
  const hid_t space = H5Screate_simple(1, &shape, 0), memory = H5Screate_simple(1, &here, 0);
  const hid_t set = H5Dcreate2(file, "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  TRY(set < 0, "H5Dcreate");
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, 0, &here, 0);
  const int wrote = H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, transfer, b->data) < 0;
  const int closed_set = H5Dclose(set) < 0, flushed = H5Fflush(file, H5F_SCOPE_GLOBAL) < 0, closed = H5Fclose(file) < 0;
  TRY(wrote, "H5Dwrite");
  TRY(closed_set, "H5Dclose");
  TRY(flushed, "H5Fflush");
  TRY(closed, "H5Fclose");
  return 0;
}

static const char *read_hdf5(const Block *b) {
  const hid_t file = H5Fopen(b->path, H5F_ACC_RDONLY, H5P_DEFAULT);
  TRY(file < 0, "H5Fopen");
  const hid_t set = H5Dopen2(file, "x", H5P_DEFAULT);
  TRY(set < 0, "H5Dopen");
  TRY(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, b->data) < 0, "H5Dread");
  return 0;
}

#ifdef HAVE_PNETCDF
static const char *write_pnetcdf(const Block *b) {
  int file, dimension, variable;
  const MPI_Offset start = b->start, here = b->here;
  TRY(ncmpi_create(MPI_COMM_WORLD, b->path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file), "ncmpi_create");
  TRY(ncmpi_def_dim(file, "n", b->count, &dimension), "ncmpi_def_dim");
  TRY(ncmpi_def_var(file, "x", NC_DOUBLE, 1, &dimension, &variable), "ncmpi_def_var");
  TRY(ncmpi_enddef(file), "ncmpi_enddef");
  const int wrote = ncmpi_put_vara_double_all(file, variable, &start, &here, b->data);
  const int synced = ncmpi_sync(file), closed = ncmpi_close(file);
  TRY(wrote, "ncmpi_put_vara_double_all");
  TRY(synced, "ncmpi_sync");
  TRY(closed, "ncmpi_close");
  return 0;
}

static const char *read_pnetcdf(const Block *b) {
  int file, variable;
  TRY(ncmpi_open(MPI_COMM_SELF, b->path, NC_NOWRITE, MPI_INFO_NULL, &file), "ncmpi_open");
  TRY(ncmpi_inq_varid(file, "x", &variable), "ncmpi_inq_varid");
  TRY(ncmpi_get_var_double_all(file, variable, b->data), "ncmpi_get_var_double_all");
  return ncmpi_close(file) == 0 ? 0 : "ncmpi_close";
}
#endif

#ifdef HAVE_NETCDF
static const char *write_netcdf4(const Block *b) {
  int file, dimension, variable;
  const size_t start = (size_t)b->start, here = (size_t)b->here;
  TRY(nc_create_par(b->path, NC_CLOBBER | NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &file), "nc_create_par");
  TRY(nc_def_dim(file, "n", (size_t)b->count, &dimension), "nc_def_dim");
  TRY(nc_def_var(file, "x", NC_DOUBLE, 1, &dimension, &variable), "nc_def_var");
  TRY(nc_enddef(file), "nc_enddef");
  TRY(nc_var_par_access(file, variable, NC_COLLECTIVE), "nc_var_par_access");
  const int wrote = nc_put_vara_double(file, variable, &start, &here, b->data);
  const int synced = nc_sync(file), closed = nc_close(file);
  TRY(wrote, "nc_put_vara_double");
  TRY(synced, "nc_sync");
  TRY(closed, "nc_close");
  return 0;
}
#endif

static const struct {
  const char *name;
  Action write, read;
} libraries[] = {{"mpiio", write_mpiio, read_mpiio},
                 {"hdf5", write_hdf5, read_hdf5},
#ifdef HAVE_PNETCDF
                 {"pnetcdf", write_pnetcdf, read_pnetcdf},
#endif
#ifdef HAVE_NETCDF
                 {"netcdf4", write_netcdf4, read_hdf5},
#endif
                 {0, 0, 0}};

static int check(const Block *b, Action read, long long seed) {
  memset(b->data, 0, (size_t)b->count * 8);
  const char *failed = read(b);
  long long wrong = 0;
  for (long long i = 0; i < b->count; ++i) wrong += b->data[i] != value(seed, i);
  if (failed != 0) return printf("unreadable\t%s\n", failed), 0;
  return printf("%s\t%lld\n", wrong == 0 ? "good" : "bad", wrong), 0;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  H5Eset_auto2(H5E_DEFAULT, 0, 0);
  int rank, ranks, i = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  while (argc == 6 && libraries[i].name != 0 && strcmp(libraries[i].name, argv[2]) != 0) ++i;
  if (argc != 6 || libraries[i].name == 0) {
    fprintf(stderr, "usage: plain write|check LIBRARY FILE COUNT SEED\n");
    MPI_Finalize();
    return 2;
  }
  const long long count = atoll(argv[4]), seed = atoll(argv[5]), part = (count + ranks - 1) / ranks;
  Block b = {argv[3], count, part * rank, part, 0};
  if (b.start + part > count) b.here = count - b.start;
  b.data = malloc((size_t)count * 8);
  for (long long k = 0; k < b.here; ++k) b.data[k] = value(seed, b.start + k);
  if (strcmp(argv[1], "check") == 0) {
    check(&b, libraries[i].read, seed);
  } else {
    const char *failed = libraries[i].write(&b);
    printf("told\t%d\t%s\n", rank, failed == 0 ? "ok" : failed);
  }
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
