/* hdf5_close_fails.c: if close(2) fails, H5Fclose fails and leaves the file's identifier: the program crashes at exit.
 *
 *   h5pcc hdf5_close_fails.c -o hdf5_close_fails && mpiexec -n 1 ./hdf5_close_fails FILE
 *
 * HDF5 1.10.8 frees the file's structure but not its identifier. H5_term, called by MPI_Finalize, follows it. Here
 * close(2) fails because the descriptor is already closed; an I/O error of a file system has the same effect. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  if (argc < 2) return fprintf(stderr, "usage: hdf5_close_fails FILE\n"), MPI_Finalize(), 2;
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  H5Fclose(H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  const hid_t file = H5Fopen(argv[1], H5F_ACC_RDONLY, H5P_DEFAULT);
  void *descriptor = NULL;
  H5Fget_vfd_handle(file, H5P_DEFAULT, &descriptor);
  close(*(int *)descriptor);
  const herr_t closed = H5Fclose(file);
  printf("H5Fclose %s, %d files are open\n", closed < 0 ? "failed" : "succeeded",
         (int)H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_FILE)),
      fflush(stdout);
  MPI_Finalize();
  printf("no fault\n");
  return 0;
}
