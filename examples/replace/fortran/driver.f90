! driver.f90: a code whose output routine is replaced: a field on a grid of processes, with one ring of ghost cells.
!
!   driver STEPS [RESTART_STEP]
program driver
  use mpi_f08
  use domain
  use output
  implicit none
  character(len=20) :: word
  integer :: last, from = 0, step, ierr
  real(8) :: total
  call MPI_Init()
  call cut(MPI_COMM_WORLD, 30, 20)
  call get_command_argument(1, word)
  read (word, *) last
  if (command_argument_count() > 1) then
    call get_command_argument(2, word)
    read (word, *) from
    call read_output(from)
  else
    call fill()
  end if
  do step = from + 1, last
    rho(1:nx, 1:ny) = 0.5d0*rho(1:nx, 1:ny) + real(step, 8)
    time = time + 0.25d0
    if (mod(step, 2) == 0) call write_output(step)
  end do
  total = sum(rho(1:nx, 1:ny)*weight())
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_REAL8, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(a, f0.4, a, f0.3)', 'time ', time, ' total ', total
  call MPI_Finalize()
end program
