! jacobi.f90: jacobi.c in Fortran: the heat of a plate, with checkpoints from which any number of ranks, and either
! program, can continue.
program jacobi
  use, intrinsic :: iso_fortran_env, only: int64, error_unit
  use mpi_f08
  use penstock, only: penstock_message
  use checkpoint
  use plate
  implicit none
  integer(int64) :: n = 512, steps = 400, every = 0, stop_after = 0
  character(len=400) :: checkpoint_path = "", restart = "", plan = ""
  integer :: rank, status
  logical :: understood

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call read_options(understood)
  status = 1
  if (understood) then
    call run(status)
  else if (rank == 0) then
    write (error_unit, '(a)') "usage: jacobi_fortran [--n CELLS] [--steps STEPS] [--checkpoint FILE] [--every STEPS]", &
      "                      [--stop-after STEPS] [--restart FILE] [--plan PLAN]", &
      "  the options of jacobi, which says more of them"
  end if
  call MPI_Finalize()
  if (status /= 0) stop 1

contains

  subroutine read_options(understood)
    logical, intent(out) :: understood
    character(len=400) :: name, value
    integer :: i, bad
    understood = mod(command_argument_count(), 2) == 0
    do i = 1, command_argument_count() - 1, 2
      call get_command_argument(i, name)
      call get_command_argument(i + 1, value)
      bad = 0
      select case (name)
      case ("--n"); read (value, *, iostat=bad) n
      case ("--steps"); read (value, *, iostat=bad) steps
      case ("--every"); read (value, *, iostat=bad) every
      case ("--stop-after"); read (value, *, iostat=bad) stop_after
      case ("--checkpoint"); checkpoint_path = value
      case ("--restart"); restart = value
      case ("--plan"); plan = value
      case default; bad = 1
      end select
      understood = understood .and. bad == 0
    end do
    understood = understood .and. n > 0 .and. min(steps, every, stop_after) >= 0
  end subroutine

  ! Rank 0 prints the error; every rank exits with status 1.
  subroutine failed(doing, path)
    character(*), intent(in) :: doing, path
    if (rank == 0) write (error_unit, '(6a)') "jacobi: ", doing, " ", trim(path), ": ", penstock_message()
  end subroutine

  subroutine run(status)
    integer, intent(out) :: status
    type(plate_type), target :: p
    integer(int64) :: last
    logical :: fits
    status = 0
    if (restart /= "") call checkpoint_size(MPI_COMM_WORLD, restart, n, status)
    if (status /= 0) then
      call failed("restarting from", restart)
      status = 1
      return
    end if
    call plate_make(MPI_COMM_WORLD, n, p, fits)
    if (.not. fits) then
      if (rank == 0) write (error_unit, '(a,i0,a)') "jacobi: ", n, " cells along a side are too few for so many ranks"
      status = 1
      return
    end if
    if (restart /= "") then
      call checkpoint_read(restart, p, status)
      if (status /= 0) then
        call failed("restarting from", restart)
      else if (rank == 0) then
        print '(3a,i0)', "restarted from ", trim(restart), " at step ", p%step
      end if
    end if

    last = steps
    if (stop_after > 0) last = min(steps, p%step + stop_after)
    do while (p%step < last .and. status == 0)
      call plate_step(p)
      if (is_due(p%step, last)) call write_checkpoint(p, status)
    end do
    if (rank == 0 .and. status == 0) print '(a,i0,a,es22.15e2)', "step ", p%step, " residual", p%residual
    call MPI_Comm_free(p%comm)
    status = merge(0, 1, status == 0)
  end subroutine

  logical function is_due(step, last)
    integer(int64), intent(in) :: step, last
    is_due = step == last
    if (every > 0) is_due = is_due .or. mod(step, every) == 0
    is_due = is_due .and. checkpoint_path /= ""
  end function

  subroutine write_checkpoint(p, status)
    type(plate_type), intent(inout), target :: p
    integer, intent(out) :: status
    call checkpoint_write(checkpoint_path, plan, p, status)
    if (status /= 0) then
      call failed("writing", checkpoint_path)
    else if (rank == 0) then
      print '(3a,i0)', "wrote ", trim(checkpoint_path), " at step ", p%step
    end if
  end subroutine
end program
