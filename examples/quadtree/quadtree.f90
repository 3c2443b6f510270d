! quadtree.f90: a refined mesh with fathers, sons and linked lists, written, and rebuilt on any number of processes.
!
!   quadtree [--steps STEPS] [--stop-after STEPS] [--write FILE] [--restart FILE]
!
! The last line is the same to the last bit on any number of processes, with or without a restart.
program quadtree
  use mpi_f08
  use domains
  use field
  use checkpoint
  implicit none
  integer :: steps = 40, stop_after = 0, last
  character(len=400) :: write_path = "", restart = ""

  call MPI_Init()
  call start_domains()
  call read_options()
  if (restart /= "") then
    call read_checkpoint(restart)
    call report("restarted at step")
  else
    call begin_field()
  end if
  last = steps
  if (stop_after > 0) last = min(steps, step + stop_after)
  do while (step < last)
    call advance()
  end do
  if (write_path /= "") call write_checkpoint(write_path)
  call report("the tree at step")
  call MPI_Finalize()

contains

  subroutine read_options()
    character(len=400) :: name, value
    integer :: i, bad
    do i = 1, command_argument_count(), 2
      call get_command_argument(i, name)
      call get_command_argument(i + 1, value)
      bad = 0
      select case (name)
      case ("--steps"); read (value, *, iostat=bad) steps
      case ("--stop-after"); read (value, *, iostat=bad) stop_after
      case ("--write"); write_path = value
      case ("--restart"); restart = value
      case default; bad = 1
      end select
      if (bad /= 0) error stop "usage: quadtree [--steps STEPS] [--stop-after STEPS] [--write FILE] [--restart FILE]"
    end do
  end subroutine
end program
