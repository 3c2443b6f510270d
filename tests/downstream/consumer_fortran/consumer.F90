! consumer.F90: knows only the module penstock: each rank writes a column and reads that of its neighbour.
program consumer
  use penstock
#if PENSTOCK_HAVE_MPI
  use mpi_f08
#endif
  implicit none
  integer, parameter :: rows = 5
  character(len=200) :: path
  type(penstock_file) :: f
  integer :: rank = 0, ranks = 1, neighbour, wrong, i
  real :: column(rows), expected(rows)
#if PENSTOCK_HAVE_MPI
  type(MPI_Comm) :: comm
  call MPI_Init()
  comm = MPI_COMM_WORLD
  call MPI_Comm_rank(comm, rank)
  call MPI_Comm_size(comm, ranks)
#else
  integer :: comm = 0
#endif
  call get_command_argument(1, path)
  neighbour = mod(rank + 1, ranks)
  column = [(10. * rank + i, i=1, rows)]
  expected = [(10. * neighbour + i, i=1, rows)]

  call penstock_create(comm, path, f)
  call penstock_put(f, "columns", [column, column(1)], shape=[rows, ranks], start=[1, rank + 1], ierr=wrong)
  if (wrong == PENSTOCK_OK) error stop "a column and a value were taken for a column"
  call penstock_abandon(f)

  call penstock_create(comm, path, f)
  call penstock_put(f, "columns", reshape(column, [rows, 1]), shape=[rows, ranks], start=[1, rank + 1])
  call penstock_close(f)
  call read_neighbour()
  wrong = count(abs(column - expected) > 0)
#if PENSTOCK_HAVE_MPI
  call MPI_Allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM, comm)
  call MPI_Finalize()
#endif
  if (rank == 0) print '(a,i0,2a)', "consumer in Fortran on ", ranks, ": ", merge("WRONG", "right", wrong > 0)
  if (wrong > 0) error stop 1

contains

  subroutine read_neighbour()
    real, target :: both(rows, 1)
    call penstock_open(comm, path, f)
    call penstock_get(f, "columns", both, shape=[rows, ranks], start=[1, neighbour + 1])
    call penstock_close(f)
    column = both(:, 1)
  end subroutine
end program
