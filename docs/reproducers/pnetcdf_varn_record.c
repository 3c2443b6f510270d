/* pnetcdf_varn_record.c: lists of boxes (varn) on record variables and on scalars.
 *
 *   mpicc pnetcdf_varn_record.c -lpnetcdf -o pnetcdf_varn_record
 *   timeout 10 mpiexec -n 3 ./pnetcdf_varn_record ./FILE [scalar]
 *
 * PnetCDF 1.12.3 with Open MPI 4.1.4, OMPIO and ROMIO: two rows of a record variable fail with "MPI_ERR_TYPE".
 * "scalar": a scalar that only rank 0 writes hangs. The calls for one box (vara) are right in both cases. */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, file, dims[2], variable;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc < 2) return fprintf(stderr, "usage: pnetcdf_varn_record FILE [scalar]\n"), MPI_Finalize(), 2;
  const int scalar = argc > 2;
  ncmpi_create(MPI_COMM_WORLD, argv[1], NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file);
  ncmpi_def_dim(file, "row", NC_UNLIMITED, &dims[0]);
  ncmpi_def_dim(file, "column", 4, &dims[1]);
  ncmpi_def_var(file, "v", NC_DOUBLE, scalar ? 0 : 2, dims, &variable);
  ncmpi_enddef(file);
  MPI_Offset start[2] = {2 * rank, 0}, count[2] = {2, 4}, *starts[] = {start}, *counts[] = {count};
  double rows[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  const int boxes = scalar && rank > 0 ? 0 : 1;
  const int error =
      ncmpi_put_varn_all(file, variable, boxes, starts, counts, rows, boxes * (scalar ? 1 : 8), MPI_DOUBLE);
  printf("rank %d: %s\n", rank, ncmpi_strerror(error)), fflush(stdout);
  int failed = error != NC_NOERR, all_failed;
  ncmpi_close(file);
  MPI_Reduce(&failed, &all_failed, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%s: put_varn_all failed on %d ranks\n", all_failed ? "FAULT" : "no fault", all_failed);
  MPI_Finalize();
  return 0;
}
