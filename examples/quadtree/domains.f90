! domains.f90: which process owns which base grids, and the copies of grids that touch a domain.
module domains
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f08
  use tree
  implicit none
  private
  public :: start_domains, cut_domains, exchange_ghosts, rank, ranks, first_key, place_of_key

  integer :: rank = 0, ranks = 1
  integer, allocatable :: first_key(:)      ! of process 0, 1, ...; and one behind the last key
  integer :: place_of_key(2, 0:base_grids - 1)

  type buffer
    real(real64), allocatable :: numbers(:)
  end type

contains

  subroutine start_domains()
    integer :: i, j
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    do j = 0, base_side - 1
      do i = 0, base_side - 1
        place_of_key(:, base_key([i, j])) = [i, j]
      end do
    end do
  end subroutine

  ! Each process gets a run of base grids along the curve, with shares of WORK, by key, as equal as possible.
  subroutine cut_domains(work)
    integer, intent(in) :: work(0:)
    integer :: p, key, done
    if (.not. allocated(first_key)) allocate (first_key(0:ranks))
    first_key(:) = base_grids
    first_key(0) = 0
    done = 0
    p = 1
    do key = 0, base_grids - 1
      do while (p < ranks)
        if (done * ranks < p * sum(work)) exit
        first_key(p) = key
        p = p + 1
      end do
      done = done + work(key)
    end do
  end subroutine

  integer function owner(key)
    integer, intent(in) :: key
    owner = count(first_key(1:ranks - 1) <= key)
  end function

  ! Whether a base grid of process P is adjacent to that of KEY, across the periodic edges.
  logical function touches(key, p)
    integer, intent(in) :: key, p
    integer :: i, j
    touches = .true.
    do j = -1, 1
      do i = -1, 1
        if (owner(base_key(modulo(place_of_key(:, key) + [i, j], base_side))) == p) return
      end do
    end do
    touches = .false.
  end function

  ! Collective. Updates the set of ghosts and their contents from their owners.
  subroutine exchange_ghosts()
    type(buffer), target :: sent(0:ranks - 1)
    type(MPI_Request) :: requests(0:ranks - 1)
    type(MPI_Status) :: status
    real(real64), allocatable :: numbers(:)
    integer :: p, key, n, at
    requests = MPI_REQUEST_NULL
    do p = 0, ranks - 1
      if (p == rank) cycle
      sent(p)%numbers = [real(real64) ::]
      do key = first_key(rank), first_key(rank + 1) - 1
        if (touches(key, p)) call pack_grid(base_grid(key), sent(p)%numbers)
      end do
      n = size(sent(p)%numbers)
      if (n > 0) call MPI_Isend(sent(p)%numbers, n, MPI_DOUBLE_PRECISION, p, 0, MPI_COMM_WORLD, requests(p))
    end do
    do p = 0, ranks - 1
      if (p == rank) cycle
      if (.not. any([(touches(key, rank), key=first_key(p), first_key(p + 1) - 1)])) cycle
      call MPI_Probe(p, 0, MPI_COMM_WORLD, status)
      call MPI_Get_count(status, MPI_DOUBLE_PRECISION, n)
      allocate (numbers(n))
      call MPI_Recv(numbers, n, MPI_DOUBLE_PRECISION, p, 0, MPI_COMM_WORLD, status)
      at = 0
      do key = first_key(p), first_key(p + 1) - 1
        if (.not. touches(key, rank)) cycle
        if (base_grid(key) == 0) n = new_grid(ghost, level_min, place_of_key(:, key), [0, 0])
        call unpack_grid(base_grid(key), numbers, at)
      end do
      deallocate (numbers)
    end do
    call MPI_Waitall(ranks, requests, MPI_STATUSES_IGNORE)
  end subroutine

  integer function base_grid(key)
    integer, intent(in) :: key
    base_grid = base(place_of_key(1, key), place_of_key(2, key))
  end function

  ! Five numbers per grid, fathers before sons: its values, and which cells are refined or to be refined.
  recursive subroutine pack_grid(grid, numbers)
    integer, intent(in) :: grid
    real(real64), allocatable, intent(inout) :: numbers(:)
    integer :: c, bits
    bits = 0
    do c = 1, 4
      if (son(c, grid) /= 0) bits = ibset(bits, c)
      if (wanted(c, grid)) bits = ibset(bits, c + 4)
    end do
    numbers = [numbers, u(:, grid), real(bits, real64)]
    do c = 1, 4
      if (son(c, grid) /= 0) call pack_grid(son(c, grid), numbers)
    end do
  end subroutine

  ! AT: the number of numbers consumed so far.
  recursive subroutine unpack_grid(grid, numbers, at)
    integer, intent(in) :: grid
    real(real64), intent(in) :: numbers(:)
    integer, intent(inout) :: at
    integer :: c, bits, refined
    u(:, grid) = numbers(at + 1:at + 4)
    bits = nint(numbers(at + 5))
    at = at + 5
    do c = 1, 4
      wanted(c, grid) = btest(bits, c + 4)
      refined = son(c, grid)
      if (btest(bits, c)) then
        if (refined == 0) refined = new_grid(ghost, level_of(grid) + 1, cell_place(c, grid), [c, grid])
        call unpack_grid(refined, numbers, at)
      else if (refined /= 0) then
        call remove_grid(refined)
      end if
    end do
  end subroutine
end module
