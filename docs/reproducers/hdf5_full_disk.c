/* hdf5_full_disk.c: a collective HDF5 write on a full disk does not return.
 *
 *   h5pcc hdf5_full_disk.c -o hdf5_full_disk && timeout 20 mpiexec -n 4 ./hdf5_full_disk FILE MIB
 *   FILE on a disk smaller than MIB
 *
 * HDF5 1.10.8 with Open MPI 4.1.4: no return within 20 s. HDF5's MPI-IO driver passes the error of one rank on as an
 * error of that rank only; the others go on to the next collective (metadata flush, close) and wait there forever. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 3) return fprintf(stderr, "usage: hdf5_full_disk FILE MIB\n"), MPI_Finalize(), 2;
  const hsize_t rows = 256, columns = (hsize_t)atoi(argv[2]) * (1 << 18) / rows / (hsize_t)ranks;
  const hsize_t shape[2] = {rows, columns * (hsize_t)ranks}, start[2] = {0, columns * (hsize_t)rank},
                count[2] = {rows, columns};
  int *data = calloc(rows * columns, sizeof *data);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS), transfer = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
  const hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
  const hid_t space = H5Screate_simple(2, shape, NULL), memory = H5Screate_simple(2, count, NULL);
  const hid_t set = H5Dcreate2(file, "x", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
  const herr_t wrote = H5Dwrite(set, H5T_NATIVE_INT, memory, space, transfer, data);
  printf("rank %d: H5Dwrite %s\n", rank, wrote < 0 ? "failed" : "succeeded"), fflush(stdout);
  const herr_t closed_set = H5Dclose(set), closed = H5Fclose(file);
  printf("rank %d: H5Dclose %s, H5Fclose %s\n", rank, closed_set < 0 ? "failed" : "succeeded",
         closed < 0 ? "failed" : "succeeded");
  const int mine = wrote < 0;
  int told;
  MPI_Reduce(&mine, &told, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%s: %d of %d ranks were told by H5Dwrite\n", told == ranks ? "no fault" : "FAULT", told, ranks);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
