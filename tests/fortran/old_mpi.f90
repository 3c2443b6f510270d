! old_mpi.f90: a program with module mpi, whose communicators are integers.
program old_mpi
  use mpi
  use penstock
  implicit none
  type(penstock_file) :: f
  integer :: rank, ranks, ierr, half, values(2), color
  character(len=40) :: path
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  ! Two files at once, each of half of the ranks.
  color = mod(rank, 2)
  call MPI_Comm_split(MPI_COMM_WORLD, color, rank, half, ierr)
  call MPI_Comm_size(half, ranks, ierr)
  call MPI_Comm_rank(half, rank, ierr)
  write (path, '(a,i0,a,i0,a)') "fortran-old_mpi-", ranks, "-", color, ".h5"
  call penstock_create(half, path, f)
  call penstock_put(f, "a", [rank, color, 0], shape=[2, ranks], start=[1, rank + 1], ierr=ierr)
  if (ierr == PENSTOCK_OK) error stop "a list of three was taken for columns of two"
  call penstock_abandon(f)
  call penstock_create(half, path, f)
  call penstock_put(f, "a", [rank, color], shape=[2 * ranks], start=[2 * rank + 1])
  call penstock_close(f)
  call penstock_open(half, path, f)
  call penstock_get(f, "a", values, shape=[2 * ranks], start=[2 * (ranks - rank) - 1])
  call penstock_close(f)
  if (any(values /= [ranks - 1 - rank, color])) error stop "other values were read"
  call MPI_Comm_free(half, ierr)
  call MPI_Finalize(ierr)
end program
