! domain.f90: this process's part of the grid, and the field on it.
module domain
  use mpi_f08
  implicit none
  integer :: gx, gy            ! the whole grid
  integer :: x0, y0, nx, ny    ! this process's part begins behind (x0, y0) and has nx by ny cells
  integer :: rank, ranks
  type(MPI_Comm) :: comm
  real(8), allocatable :: rho(:, :)  ! with one ring of ghost cells
  real(8) :: time = 0
contains
  subroutine cut(world, all_x, all_y)
    type(MPI_Comm), intent(in) :: world
    integer, intent(in) :: all_x, all_y
    integer :: grid(2)
    comm = world
    gx = all_x
    gy = all_y
    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, ranks)
    grid = 0
    call MPI_Dims_create(ranks, 2, grid)
    call share(gx, grid(1), mod(rank, grid(1)), x0, nx)
    call share(gy, grid(2), rank/grid(1), y0, ny)
    allocate (rho(0:nx + 1, 0:ny + 1), source=0d0)
  end subroutine

  subroutine share(all, parts, part, first, count)
    integer, intent(in) :: all, parts, part
    integer, intent(out) :: first, count
    first = all*part/parts
    count = all*(part + 1)/parts - first
  end subroutine

  subroutine fill()
    integer :: i, j
    do j = 1, ny
      do i = 1, nx
        rho(i, j) = real((x0 + i)*100 + y0 + j, 8)
      end do
    end do
  end subroutine

  ! Different for each cell, so that a misplaced one is noticed.
  function weight() result(w)
    real(8) :: w(nx, ny)
    integer :: i, j
    do j = 1, ny
      do i = 1, nx
        w(i, j) = real(x0 + i + 31*(y0 + j), 8)
      end do
    end do
  end function
end module
