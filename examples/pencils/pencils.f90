! pencils.f90: Burgers' equation along y by Fourier collocation, on a 3-D field in pencils: whole in y, divided in x and
! z.
!
!   pencils [--n POINTS] [--steps STEPS] [--stop-after STEPS] [--write FILE] [--restart FILE]
!
! It writes the field, reads it back divided in x and y instead, and compares statistics. Any number of ranks can
! continue from the file.
program pencils
  use, intrinsic :: iso_fortran_env, only: int64, real64, error_unit
  use mpi_f08
  use penstock
  implicit none
  real(real64), parameter :: viscosity = 0.1d0, dt = 1d-3, pi = acos(-1d0)
  integer :: n = 24, steps = 20, stop_after = 0, step = 0
  character(len=400) :: write_path = "", restart = ""
  integer :: rank, ranks, grid(2), last
  type(penstock_decomposition) :: y_pencil, z_pencil
  real(real64), allocatable, target :: u(:, :, :)
  real(real64), allocatable :: d(:, :)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call read_options()
  if (restart /= "") call read_size()
  if (mod(n, 2) /= 0 .or. n < 4) error stop "pencils: --n is an even number from 4 on"

  ! Rank by rank over the grid; with more ranks than points, some have no pencil.
  grid = 0
  call MPI_Dims_create(ranks, 2, grid)
  call penstock_grid([n, n, n], [grid(1), 1, grid(2)], rank, y_pencil)
  call penstock_grid([n, n, n], [grid(1), grid(2), 1], rank, z_pencil)
  call allocate_part(y_pencil, u)
  d = derivative(n)
  if (restart /= "") then
    call read_field()
  else
    call fill()
  end if

  last = steps
  if (stop_after > 0) last = min(steps, step + stop_after)
  do while (step < last)
    call advance()
  end do
  if (write_path /= "") call write_field()
  call report("the field at step", u)
  call penstock_free(y_pencil)
  call penstock_free(z_pencil)
  call MPI_Finalize()

contains

  ! --- all calls of penstock: without ierr, a failure prints its message and stops the program ---

  subroutine allocate_part(part, a)
    type(penstock_decomposition), intent(in) :: part
    real(real64), allocatable, intent(out) :: a(:, :, :)
    integer :: start(3), count(3)
    call penstock_box(part, start, count)
    allocate (a(count(1), count(2), count(3)), source=0d0)
  end subroutine

  subroutine write_field()
    type(penstock_file) :: f
    real(real64), allocatable, target :: other(:, :, :)
    call penstock_create(MPI_COMM_WORLD, write_path, f)
    call penstock_lend(f, "velocity/u", u, y_pencil)
    call penstock_put(f, "kinetic_energy", 0.5d0 * u**2, y_pencil, &
                      comment="an expression: put has copied it when it returns")
    call penstock_attribute(f, "/", "step", step)
    call penstock_close(f)

    call allocate_part(z_pencil, other)
    call penstock_open(MPI_COMM_WORLD, write_path, f)
    call penstock_get(f, "velocity/u", other, z_pencil)
    call penstock_close(f)
    if (any(statistics(other) /= statistics(u))) error stop "pencils: what is read back is not what was written"
    call report("read back in pencils along z at step", other)
  end subroutine

  subroutine read_size()
    type(penstock_file) :: f
    integer(int64), allocatable :: shape(:)
    call penstock_open(MPI_COMM_WORLD, restart, f)
    call penstock_describe(f, "velocity/u", shape=shape)
    call penstock_attribute_get(f, "/", "step", step)
    call penstock_close(f)
    n = int(shape(1))
  end subroutine

  subroutine read_field()
    type(penstock_file) :: f
    call penstock_open(MPI_COMM_WORLD, restart, f)
    call penstock_get(f, "velocity/u", u, y_pencil)
    call penstock_close(f)
  end subroutine

  ! --- the solver ---

  ! The derivative of a periodic function from its values at an even number of points; exact for waves.
  pure function derivative(points) result(matrix)
    integer, intent(in) :: points
    real(real64) :: matrix(points, points)
    integer :: j, k
    matrix = 0
    do k = 1, points
      do j = 1, points
        if (j /= k) matrix(j, k) = 0.5d0 * (-1)**(j - k) / tan((j - k) * pi / points)
      end do
    end do
  end function

  subroutine fill()
    integer :: start(3), count(3), i, j, k
    call penstock_box(y_pencil, start, count)
    do k = 1, count(3)
      do j = 1, count(2)
        do i = 1, count(1)
          u(i, j, k) = wave(start(1) + i) * sin(2 * pi * j / n) + wave(start(3) + k)
        end do
      end do
    end do
  end subroutine

  pure real(real64) function wave(point)
    integer, intent(in) :: point
    wave = cos(2 * pi * point / n)
  end function

  ! One step. Lines along y are independent, so every division computes the same bits.
  subroutine advance()
    real(real64) :: slope(n), curve(n)
    integer :: i, j, k
    do k = 1, size(u, 3)
      do i = 1, size(u, 1)
        slope = 0
        curve = 0
        do j = 1, n
          slope = slope + d(:, j) * u(i, j, k)
        end do
        do j = 1, n
          curve = curve + d(:, j) * slope(j)
        end do
        u(i, :, k) = u(i, :, k) + dt * (viscosity * curve - u(i, :, k) * slope)
      end do
    end do
    step = step + 1
  end subroutine

  ! Minimum, maximum, and sums of the values and of their squares in units of 2**-40, as integers, so that the order
  ! does not matter.
  function statistics(a) result(all_ranks)
    real(real64), intent(in) :: a(:, :, :)
    real(real64) :: all_ranks(4), bounds(2)
    integer(int64) :: sums(2)
    bounds = [huge(1d0), -huge(1d0)]
    if (size(a) > 0) bounds = [minval(a), maxval(a)]
    sums = [sum(nint(a * 2d0**40, int64)), sum(nint(a**2 * 2d0**40, int64))]
    call MPI_Allreduce(MPI_IN_PLACE, bounds(1), 1, MPI_DOUBLE_PRECISION, MPI_MIN, MPI_COMM_WORLD)
    call MPI_Allreduce(MPI_IN_PLACE, bounds(2), 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
    call MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD)
    all_ranks = [bounds, sums / 2d0**40]
  end function

  subroutine report(what, a)
    character(*), intent(in) :: what
    real(real64), intent(in) :: a(:, :, :)
    real(real64) :: numbers(4)
    numbers = statistics(a)
    if (rank == 0) print '(2a,i0,4(a,es23.15))', what, " ", step, ": least", numbers(1), ", largest", numbers(2), &
      ", sum", numbers(3), ", of squares", numbers(4)
  end subroutine

  subroutine read_options()
    character(len=400) :: name, value
    integer :: i, bad
    do i = 1, command_argument_count(), 2
      call get_command_argument(i, name)
      call get_command_argument(i + 1, value)
      bad = 0
      select case (name)
      case ("--n"); read (value, *, iostat=bad) n
      case ("--steps"); read (value, *, iostat=bad) steps
      case ("--stop-after"); read (value, *, iostat=bad) stop_after
      case ("--write"); write_path = value
      case ("--restart"); restart = value
      case default; bad = 1
      end select
      if (bad /= 0) error stop "usage: pencils [--n POINTS] [--steps STEPS] [--stop-after STEPS] "// &
        "[--write FILE] [--restart FILE]"
    end do
  end subroutine
end program
