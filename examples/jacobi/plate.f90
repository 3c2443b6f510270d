! plate.f90: the solver of plate.c in Fortran: a 2-D process grid, halo exchange and Jacobi sweeps, without any file
! access.
module plate
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08
  implicit none
  private
  public :: plate_type, plate_make, plate_step

  real(real64), parameter :: cold = 300, warm = 400, hot = 500  ! kelvin: three edges, the upper edge, the disc

  ! This rank's block: nx by ny cells of the n by n, from (x0, y0), counted from 1, inside one ring of ghost cells.
  type plate_type
    type(MPI_Comm) :: comm  ! the process grid
    integer(int64) :: n = 0, x0 = 0, y0 = 0, nx = 0, ny = 0
    real(real64), allocatable :: now(:, :), next(:, :)
    integer(int64) :: step = 0
    real(real64) :: residual = 0  ! the largest change of any cell in the last step
    real(real64) :: time = 0
  end type

contains

  ! Cells start to start + count - 1 of n belong to block BLOCK, counted from 0, of BLOCKS; the first ones take the
  ! remainder.
  pure subroutine cut(n, blocks, block, start, count)
    integer(int64), intent(in) :: n
    integer, intent(in) :: blocks, block
    integer(int64), intent(out) :: start, count
    integer(int64) :: share, rest
    share = n / blocks
    rest = mod(n, int(blocks, int64))
    count = share + merge(1, 0, block < rest)
    start = block * share + min(int(block, int64), rest) + 1
  end subroutine

  ! The heated disc in the middle of the plate keeps its temperature.
  pure logical function heated(n, x, y)
    integer(int64), intent(in) :: n, x, y
    real(real64) :: middle, dx, dy, radius
    middle = real(n - 1, real64) / 2 + 1
    dx = real(x, real64) - middle
    dy = real(y, real64) - middle
    radius = real(n, real64) / 8
    heated = dy * dy + dx * dx <= radius * radius
  end function

  pure real(real64) function start_temperature(n, x, y)
    integer(int64), intent(in) :: n, x, y
    if (y < 1) then
      start_temperature = warm
    else if (y > n .or. x < 1 .or. x > n) then
      start_temperature = cold
    else
      start_temperature = merge(hot, cold, heated(n, x, y))
    end if
  end function

  ! Collective. Divides the plate over the ranks of COMM and sets its temperature at step 0. FITS: every rank has a
  ! cell.
  subroutine plate_make(comm, n, p, fits)
    type(MPI_Comm), intent(in) :: comm
    integer(int64), intent(in) :: n
    type(plate_type), intent(out) :: p
    logical, intent(out) :: fits
    integer :: ranks, rank, blocks(2), place(2)
    integer(int64) :: x, y
    call MPI_Comm_size(comm, ranks)
    blocks = 0
    call MPI_Dims_create(ranks, 2, blocks)
    fits = n >= blocks(1)  ! blocks(1) >= blocks(2)
    if (.not. fits) return

    p%n = n
    call MPI_Cart_create(comm, 2, blocks, [.false., .false.], .false., p%comm)
    call MPI_Comm_rank(p%comm, rank)
    call MPI_Cart_coords(p%comm, rank, 2, place)
    call cut(n, blocks(1), place(1), p%y0, p%ny)
    call cut(n, blocks(2), place(2), p%x0, p%nx)
    allocate (p%now(0:p%nx + 1, 0:p%ny + 1), p%next(0:p%nx + 1, 0:p%ny + 1))
    do y = 0, p%ny + 1
      do x = 0, p%nx + 1
        p%now(x, y) = start_temperature(n, p%x0 + x - 1, p%y0 + y - 1)
      end do
    end do
    p%next = p%now
  end subroutine

  subroutine exchange_ghosts(comm, nx, ny, t)
    type(MPI_Comm), intent(in) :: comm
    integer(int64), intent(in) :: nx, ny
    real(real64), intent(inout) :: t(0:, 0:)
    integer :: above, below, left, right  ! MPI_PROC_NULL at the edges, where the ghost cells hold the boundary
    real(real64) :: mine(ny), theirs(ny)
    call MPI_Cart_shift(comm, 0, 1, above, below)
    call MPI_Cart_shift(comm, 1, 1, left, right)
    call shift(above, t(1:nx, 1), below, t(1:nx, ny + 1))
    call shift(below, t(1:nx, ny), above, t(1:nx, 0))
    mine = t(1, 1:ny)
    theirs = t(nx + 1, 1:ny)
    call shift(left, mine, right, theirs)
    t(nx + 1, 1:ny) = theirs
    mine = t(nx, 1:ny)
    theirs = t(0, 1:ny)
    call shift(right, mine, left, theirs)
    t(0, 1:ny) = theirs

  contains

    subroutine shift(to, sent, from, received)
      integer, intent(in) :: to, from
      real(real64), intent(in) :: sent(:)
      real(real64), intent(inout) :: received(:)
      call MPI_Sendrecv(sent, size(sent), MPI_DOUBLE_PRECISION, to, 0, received, size(received), MPI_DOUBLE_PRECISION, &
                        from, 0, comm, MPI_STATUS_IGNORE)
    end subroutine
  end subroutine

  ! Collective. One step: exchange ghost cells, sweep, and find the residual.
  subroutine plate_step(p)
    type(plate_type), intent(inout) :: p
    real(real64), allocatable :: swap(:, :)
    real(real64) :: change, fresh, h
    integer(int64) :: x, y
    call exchange_ghosts(p%comm, p%nx, p%ny, p%now)
    change = 0
    do y = 1, p%ny
      do x = 1, p%nx
        ! Always in this order, so that every division of the plate rounds alike.
        fresh = 0.25d0 * (((p%now(x, y - 1) + p%now(x - 1, y)) + p%now(x + 1, y)) + p%now(x, y + 1))
        if (heated(p%n, p%x0 + x - 1, p%y0 + y - 1)) fresh = hot
        change = max(change, abs(fresh - p%now(x, y)))
        p%next(x, y) = fresh
      end do
    end do
    call move_alloc(p%now, swap)
    call move_alloc(p%next, p%now)
    call move_alloc(swap, p%next)
    call MPI_Allreduce(change, p%residual, 1, MPI_DOUBLE_PRECISION, MPI_MAX, p%comm)
    h = 1 / real(p%n + 1, real64)
    p%step = p%step + 1
    p%time = real(p%step, real64) * h * h / 4
  end subroutine
end module
