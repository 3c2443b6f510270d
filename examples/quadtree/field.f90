! field.f90: a hill carried over the box by the wind, on a tree that is finer where the hill is steep.
module field
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08
  use tree
  use domains
  implicit none
  private
  public :: begin_field, advance, report, step

  real(real64), parameter :: wind(2) = [1d0, 0.5d0], dt = 0.5d0 / 2**level_max, steep = 0.04d0
  real(real64) :: later(4, most)
  integer :: step = 0

  abstract interface
    subroutine task(grid)
      integer, intent(in) :: grid
    end subroutine
  end interface

contains

  subroutine begin_field()
    integer :: grid, key, i, times
    call cut_domains([(1, i=1, base_grids)])
    do key = first_key(rank), first_key(rank + 1) - 1
      grid = new_grid(own, level_min, place_of_key(:, key), [0, 0])
    end do
    do times = level_min, level_max
      call for_each_own(fill)
      call average()
      if (times < level_max) call refine()
    end do
  end subroutine

  subroutine advance()
    call for_each_own(carry)
    call for_each_own(take)
    call average()
    call refine()
    step = step + 1
  end subroutine

  ! The finest level first.
  subroutine for_each_own(work)
    procedure(task) :: work
    integer :: level, grid
    do level = level_max, level_min, -1
      grid = head(own, level)
      do while (grid /= 0)
        call work(grid)
        grid = next(grid)
      end do
    end do
  end subroutine

  subroutine fill(grid)
    integer, intent(in) :: grid
    real(real64) :: x(2)
    integer :: c
    do c = 1, 4
      x = (cell_place(c, grid) + 0.5d0) / 2**level_of(grid)
      u(c, grid) = max(0d0, 1 - 16 * sum((x - 0.3d0)**2))**2
    end do
  end subroutine

  ! The cells of GRID after a step, stored until all are computed from the old values.
  subroutine carry(grid)
    integer, intent(in) :: grid
    real(real64) :: change
    integer :: c, axis
    do c = 1, 4
      change = 0
      do axis = 1, 2
        change = change + wind(axis) * (u(c, grid) - upwind(c, grid, axis))
      end do
      later(c, grid) = u(c, grid) - dt * 2**level_of(grid) * change
    end do
  end subroutine

  subroutine take(grid)
    integer, intent(in) :: grid
    u(:, grid) = later(:, grid)
  end subroutine

  ! The flow through the lower face of a cell: from a refined neighbour, its two cells at the face.
  real(real64) function upwind(c, grid, axis)
    integer, intent(in) :: c, grid, axis
    integer :: where(2), beside(2), fine
    where = cell_place(c, grid)
    where(axis) = where(axis) - 1
    call find_cell(level_of(grid), where, beside(1), beside(2))
    upwind = u(beside(1), beside(2))
    if (level_of(beside(2)) < level_of(grid)) return
    fine = son(beside(1), beside(2))
    if (fine /= 0) upwind = 0.5d0 * (u(1 + axis, fine) + u(4, fine))
  end function

  ! Collective. Refined cells become the averages of their sons.
  subroutine average()
    call for_each_own(raise)
    call exchange_ghosts()
  end subroutine

  subroutine raise(grid)
    integer, intent(in) :: grid
    if (level_of(grid) > level_min) u(father(1, grid), father(2, grid)) = 0.25d0 * sum(u(:, grid))
  end subroutine

  ! Collective. Refines where the hill is steep, and coarsens elsewhere.
  subroutine refine()
    integer :: level, grid, fine, c
    do level = level_max - 1, level_min, -1
      grid = head(own, level)
      do while (grid /= 0)
        wanted(:, grid) = [(is_wanted(c, grid), c=1, 4)]
        grid = next(grid)
      end do
      call exchange_ghosts()
    end do
    do level = level_min, level_max - 1
      grid = head(own, level)
      do while (grid /= 0)
        do c = 1, 4
          fine = son(c, grid)
          if (wanted(c, grid) .and. fine == 0) then
            fine = new_grid(own, level + 1, cell_place(c, grid), [c, grid])
            u(:, fine) = u(c, grid)
          else if (fine /= 0 .and. .not. wanted(c, grid)) then
            call remove_grid(fine)
          end if
        end do
        grid = next(grid)
      end do
    end do
    call exchange_ghosts()
  end subroutine

  ! True where it is steep, and around further refinement, so that cells beside a refined one are of its level.
  logical function is_wanted(c, grid)
    integer, intent(in) :: c, grid
    integer :: i, j, beside(2), fine
    is_wanted = .true.
    do j = -1, 1
      do i = -1, 1
        call find_cell(level_of(grid), cell_place(c, grid) + [i, j], beside(1), beside(2))
        if (abs(u(beside(1), beside(2)) - u(c, grid)) > steep) return
        if (level_of(beside(2)) < level_of(grid)) cycle
        fine = son(beside(1), beside(2))
        if (fine == 0) cycle
        if (any(wanted(:, fine))) return
      end do
    end do
    is_wanted = .false.
  end function

  ! Collective. Sums over leaves of the values and their squares, as integers, so that the order does not matter.
  subroutine report(what)
    character(*), intent(in) :: what
    integer(int64) :: sums(2)
    integer :: grids(level_min:level_max), level, grid, c
    real(real64) :: largest
    sums = 0
    grids = 0
    largest = -huge(largest)
    do level = level_min, level_max
      grid = head(own, level)
      do while (grid /= 0)
        grids(level) = grids(level) + 1
        do c = 1, 4
          if (son(c, grid) /= 0) cycle
          sums = sums + 4_int64**(level_max - level) * nint([u(c, grid), u(c, grid)**2] * 2d0**40, int64)
          largest = max(largest, u(c, grid))
        end do
        grid = next(grid)
      end do
    end do
    call MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD)
    call MPI_Allreduce(MPI_IN_PLACE, grids, size(grids), MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call MPI_Allreduce(MPI_IN_PLACE, largest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
    if (rank == 0) print '(a,i0,a,*(1x,i0))', what//" ", step, ": grids by level", grids
    if (rank == 0) print '(a,i0,3(a,es23.15))', "step ", step, ": sum", sums(1) / 2d0**40 / 4d0**level_max, &
      ", of squares", sums(2) / 2d0**40 / 4d0**level_max, ", largest", largest
  end subroutine
end module
