! servers.f90: some ranks become I/O servers; the others write a file through them, with mpi_f08's and mpi's
! communicators.
program servers
  use mpi_f08
  use penstock
  implicit none
  type(MPI_Comm) :: compute
  integer :: handle
  call MPI_Init()
  call penstock_split(MPI_COMM_WORLD, compute)
  if (compute /= MPI_COMM_NULL) then
    call write_and_read(compute)
    call penstock_unsplit(compute)
    if (compute /= MPI_COMM_NULL) error stop "unsplit leaves a communicator"
  end if
  call MPI_Barrier(MPI_COMM_WORLD)
  call penstock_split(MPI_COMM_WORLD%mpi_val, handle)
  if (handle /= MPI_COMM_NULL%mpi_val) then
    call write_and_read(MPI_Comm(handle))
    call penstock_unsplit(handle)
    if (handle /= MPI_COMM_NULL%mpi_val) error stop "unsplit leaves a handle"
  end if
  call MPI_Finalize()

contains

  subroutine write_and_read(comm)
    type(MPI_Comm), intent(in) :: comm
    type(penstock_file) :: f
    integer :: rank, ranks, values(3)
    integer, asynchronous :: back(3)
    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, ranks)
    values = [1, 2, 3] + 10 * rank
    call penstock_create(comm, "fortran-servers.h5", f, plan="hdf5/servers:kind=ranks")
    call penstock_put(f, "a", values, [3 * ranks], [3 * rank + 1])
    call penstock_close(f)
    call penstock_open(comm, "fortran-servers.h5", f)
    call penstock_get(f, "a", back, [3 * ranks], [3 * rank + 1])
    call penstock_close(f)
    if (any(back /= values)) error stop "other values were read"
  end subroutine
end program
