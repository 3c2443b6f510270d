/* fields.c: a program that knows nothing of penstock: each step is a file of parallel HDF5 with many small fields. */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIELDS = 100, ROWS = 64, COLUMNS = 256 }; /* of each rank, at each step */

static double value(int step, int field, hsize_t row, hsize_t column) {
  return 1e6 * step + 1e3 * field + (double)row + 1e-3 * (double)column;
}

static int write_step(MPI_Comm comm, int step, double *values) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  char name[40];
  snprintf(name, sizeof name, "step_%03d.h5", step);
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS), together = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_fapl_mpio(access, comm, MPI_INFO_NULL);
  H5Pset_dxpl_mpio(together, H5FD_MPIO_COLLECTIVE);
  const hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  const hsize_t whole[2] = {ROWS, (hsize_t)COLUMNS * (hsize_t)ranks}, count[2] = {ROWS, COLUMNS};
  const hsize_t start[2] = {0, (hsize_t)COLUMNS * (hsize_t)rank};
  const hid_t in_file = H5Screate_simple(2, whole, NULL), in_memory = H5Screate_simple(2, count, NULL);
  H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start, NULL, count, NULL);
  int failed = file < 0;
  for (int field = 0; field < FIELDS && !failed; field++) {
    for (hsize_t i = 0; i < ROWS; i++)
      for (hsize_t j = 0; j < COLUMNS; j++) values[i * COLUMNS + j] = value(step, field, i, start[1] + j);
    snprintf(name, sizeof name, "field_%03d", field);
    const hid_t set = H5Dcreate(file, name, H5T_NATIVE_DOUBLE, in_file, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    failed = set < 0 || H5Dwrite(set, H5T_NATIVE_DOUBLE, in_memory, in_file, together, values) < 0;
    failed = H5Dclose(set) < 0 || failed;
  }
  failed = H5Fclose(file) < 0 || failed;
  H5Sclose(in_file), H5Sclose(in_memory), H5Pclose(access), H5Pclose(together);
  return failed;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  const int steps = argc > 1 ? atoi(argv[1]) : 3;
  double *values = malloc(sizeof(double) * ROWS * COLUMNS);
  int rank, failed = values == NULL;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int step = 0; step < steps && !failed; step++) failed = write_step(MPI_COMM_WORLD, step, values);
  free(values);
  if (rank == 0 && !failed) printf("wrote %d steps of %d fields\n", steps, FIELDS);
  MPI_Finalize();
  return failed;
}
