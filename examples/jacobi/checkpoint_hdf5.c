/* checkpoint_hdf5.c: the same by hand, with parallel HDF5, in the file format of checkpoint.c. */
#include <hdf5.h>
#include <stdio.h>
#include <string.h>

#include "checkpoint.h"

static char message[600];

const char *checkpoint_message(void) { return message; }

/* Collective. Whether any rank has failed: all ranks get the answer, and rank 0 prints what failed. */
static int agree(MPI_Comm comm, int failed, const char *doing) {
  int any;
  MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_LOR, comm);
  if (any) snprintf(message, sizeof message, "HDF5 failed %s", doing);
  return any;
}

/* HDF5 prints its errors on every rank at once; message prints them once. */
static hid_t parallel_access(MPI_Comm comm) {
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(access, comm, MPI_INFO_NULL);
  H5Pset_coll_metadata_write(access, 1);
  H5Pset_all_coll_metadata_ops(access, 1);
  return access;
}

/* Collective, like every change of metadata. */
static int write_number(hid_t file, const char *name, hid_t type, const void *value) {
  const hid_t scalar = H5Screate(H5S_SCALAR);
  const hid_t attribute = H5Acreate2(file, name, type, scalar, H5P_DEFAULT, H5P_DEFAULT);
  const int failed = attribute < 0 || H5Awrite(attribute, type, value) < 0;
  if (attribute >= 0) H5Aclose(attribute);
  H5Sclose(scalar);
  return failed;
}

static int read_number(hid_t file, const char *name, hid_t type, void *value) {
  const hid_t attribute = H5Aopen(file, name, H5P_DEFAULT);
  const int failed = attribute < 0 || H5Aread(attribute, type, value) < 0;
  if (attribute >= 0) H5Aclose(attribute);
  return failed;
}

static int write_units(hid_t dataset) {
  const hid_t text = H5Tcopy(H5T_C_S1), scalar = H5Screate(H5S_SCALAR);
  H5Tset_size(text, 1);
  const hid_t attribute = H5Acreate2(dataset, "units", text, scalar, H5P_DEFAULT, H5P_DEFAULT);
  const int failed = attribute < 0 || H5Awrite(attribute, text, "K") < 0;
  if (attribute >= 0) H5Aclose(attribute);
  H5Sclose(scalar);
  H5Tclose(text);
  return failed;
}

/* Collective. The block in the file, and inside its ghost cells in memory; a rank without cells selects none. */
static int move_block(hid_t dataset, const Plate *p, int writes) {
  const hsize_t start[2] = {(hsize_t)p->y0, (hsize_t)p->x0}, count[2] = {(hsize_t)p->ny, (hsize_t)p->nx};
  const hsize_t around[2] = {count[0] + 2, count[1] + 2}, inside[2] = {1, 1};
  const hid_t in_file = H5Dget_space(dataset), in_memory = H5Screate_simple(2, around, NULL);
  const hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
  if (count[0] == 0 || count[1] == 0) {
    H5Sselect_none(in_file);
    H5Sselect_none(in_memory);
  } else {
    H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start, NULL, count, NULL);
    H5Sselect_hyperslab(in_memory, H5S_SELECT_SET, inside, NULL, count, NULL);
  }
  const herr_t moved = writes ? H5Dwrite(dataset, H5T_NATIVE_DOUBLE, in_memory, in_file, transfer, p->now)
                              : H5Dread(dataset, H5T_NATIVE_DOUBLE, in_memory, in_file, transfer, p->now);
  H5Pclose(transfer);
  H5Sclose(in_memory);
  H5Sclose(in_file);
  return moved < 0;
}

static hid_t make_dataset(hid_t file, const Plate *p) {
  const hsize_t shape[2] = {(hsize_t)p->n, (hsize_t)p->n};
  const hid_t space = H5Screate_simple(2, shape, NULL), creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
  const hid_t dataset = H5Dcreate2(file, "temperature", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  H5Pclose(creation);
  H5Sclose(space);
  return dataset;
}

/* The new file has a temporary name until it is complete. */
int checkpoint_write(const char *path, const char *plan, const Plate *p) {
  char partial[4096];
  int rank;
  (void)plan;
  MPI_Comm_rank(p->comm, &rank);
  snprintf(partial, sizeof partial, "%s.partial", path);
  const hid_t access = parallel_access(p->comm);
  const hid_t file = H5Fcreate(partial, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  H5Pclose(access);
  if (agree(p->comm, file < 0, "creating the file")) return 1;
  const hid_t dataset = make_dataset(file, p);
  int failed = dataset < 0 || write_units(dataset) || write_number(file, "step", H5T_NATIVE_INT64, &p->step) ||
               write_number(file, "residual", H5T_NATIVE_DOUBLE, &p->residual) ||
               write_number(file, "time", H5T_NATIVE_DOUBLE, &p->time);
  failed = agree(p->comm, failed, "defining the file");
  if (!failed) failed = agree(p->comm, move_block(dataset, p, 1), "writing the plate");
  if (dataset >= 0) H5Dclose(dataset);
  failed = agree(p->comm, H5Fflush(file, H5F_SCOPE_GLOBAL) < 0, "flushing the file") || failed;
  failed = agree(p->comm, H5Fclose(file) < 0, "closing the file") || failed;
  if (!failed) failed = agree(p->comm, rank == 0 && rename(partial, path), "renaming the file");
  if (failed && rank == 0) remove(partial);
  return failed;
}

static int open_file(MPI_Comm comm, const char *path, hid_t *file, hid_t *dataset) {
  const hid_t access = parallel_access(comm);
  *file = H5Fopen(path, H5F_ACC_RDONLY, access);
  H5Pclose(access);
  *dataset = *file < 0 ? -1 : H5Dopen2(*file, "temperature", H5P_DEFAULT);
  if (!agree(comm, *dataset < 0, "opening the file, or its temperature")) return 0;
  if (*dataset >= 0) H5Dclose(*dataset);
  if (*file >= 0) H5Fclose(*file);
  return 1;
}

int checkpoint_size(MPI_Comm comm, const char *path, int64_t *n) {
  hid_t file, dataset;
  hsize_t shape[2] = {0, 0};
  if (open_file(comm, path, &file, &dataset)) return 1;
  const hid_t space = H5Dget_space(dataset);
  const int failed = H5Sget_simple_extent_ndims(space) != 2 || H5Sget_simple_extent_dims(space, shape, NULL) < 0;
  *n = (int64_t)shape[0];
  H5Sclose(space);
  H5Dclose(dataset);
  H5Fclose(file);
  return agree(comm, failed, "asking for the shape of the temperature");
}

int checkpoint_read(const char *path, const char *plan, Plate *p) {
  hid_t file, dataset;
  (void)plan;
  if (open_file(p->comm, path, &file, &dataset)) return 1;
  int failed = read_number(file, "step", H5T_NATIVE_INT64, &p->step) ||
               read_number(file, "residual", H5T_NATIVE_DOUBLE, &p->residual) ||
               read_number(file, "time", H5T_NATIVE_DOUBLE, &p->time);
  failed = agree(p->comm, failed, "reading the numbers");
  if (!failed) failed = agree(p->comm, move_block(dataset, p, 0), "reading the plate");
  H5Dclose(dataset);
  H5Fclose(file);
  return failed;
}
