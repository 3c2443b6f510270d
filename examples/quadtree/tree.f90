! tree.f90: a refined mesh as in tree codes: grids of 2 x 2 cells in linked lists by level, with fathers and sons.
!
! A grid of level L is at place(:) in a square of 2**(L-1) x 2**(L-1) grids, which need not all exist; those of
! level_min do. A domain is a run of these along a Hilbert curve, each with all its refinement. Besides its own grids a
! process has copies, called ghosts, of those that touch its domain.
module tree
  use, intrinsic :: iso_fortran_env, only: int32, real64
  implicit none
  integer, parameter :: level_min = 4, level_max = 6, base_side = 2**(level_min - 1), base_grids = base_side**2
  integer, parameter :: own = 1, ghost = 2
  integer, parameter :: most = 2 * 21 * base_grids  ! grids: 1 + 4 + 16 in a base grid, own or ghost, and room

  real(real64) :: u(4, most)
  logical :: wanted(4, most)                ! whether the cell is to be refined
  integer :: son(4, most)                   ! a grid, 0: the cell is a leaf
  integer :: father(2, most)                ! cell and grid; 0 for level_min
  integer(int32) :: place(2, most)
  integer :: kind_of(most), level_of(most)
  integer :: next(most), previous(most), head(2, level_min:level_max) = 0, tail(2, level_min:level_max) = 0
  integer :: free = 0, used = 0             ! grids that were removed, as a list; the highest that was made
  integer :: base(0:base_side - 1, 0:base_side - 1) = 0

contains

  ! Adds a grid at the end of its list. AT: the father's cell and grid.
  integer function new_grid(kind, level, where, at) result(grid)
    integer, intent(in) :: kind, level, where(2), at(2)
    if (free /= 0) then
      grid = free
      free = next(grid)
    else
      used = used + 1
      if (used > most) error stop "quadtree: more grids than there can be"
      grid = used
    end if
    kind_of(grid) = kind
    level_of(grid) = level
    place(:, grid) = int(where, int32)
    father(:, grid) = at
    son(:, grid) = 0
    wanted(:, grid) = .false.
    u(:, grid) = 0
    if (level == level_min) then
      base(where(1), where(2)) = grid
    else
      son(at(1), at(2)) = grid
    end if
    previous(grid) = tail(kind, level)
    next(grid) = 0
    if (tail(kind, level) == 0) then
      head(kind, level) = grid
    else
      next(tail(kind, level)) = grid
    end if
    tail(kind, level) = grid
  end function

  ! Including its refinement.
  recursive subroutine remove_grid(grid)
    integer, intent(in) :: grid
    integer :: c, level, kind
    do c = 1, 4
      if (son(c, grid) /= 0) call remove_grid(son(c, grid))
    end do
    level = level_of(grid)
    kind = kind_of(grid)
    if (level > level_min) son(father(1, grid), father(2, grid)) = 0
    if (previous(grid) == 0) then
      head(kind, level) = next(grid)
    else
      next(previous(grid)) = next(grid)
    end if
    if (next(grid) == 0) then
      tail(kind, level) = previous(grid)
    else
      previous(next(grid)) = previous(grid)
    end if
    next(grid) = free
    free = grid
  end subroutine

  ! The position of cell C of GRID among the 2**L x 2**L of its level, from 0.
  pure function cell_place(c, grid) result(where)
    integer, intent(in) :: c, grid
    integer :: where(2)
    where = 2 * place(:, grid) + [mod(c - 1, 2), (c - 1) / 2]
  end function

  ! The cell of LEVEL at WHERE, across the periodic edges; if none is so fine, the leaf that covers the place.
  subroutine find_cell(level, where, c, grid)
    integer, intent(in) :: level, where(2)
    integer, intent(out) :: c, grid
    integer :: inside(2), l
    inside = modulo(where, 2**level)
    grid = base(inside(1) / 2**(level - level_min + 1), inside(2) / 2**(level - level_min + 1))
    if (grid == 0) error stop "quadtree: a cell beyond the ghosts"
    do l = level_min, level
      c = 1 + ibits(inside(1), level - l, 1) + 2 * ibits(inside(2), level - l, 1)
      if (l == level .or. son(c, grid) == 0) return
      grid = son(c, grid)
    end do
  end subroutine

  ! The position along the Hilbert curve, from 0, of a grid in a square of SIDE x SIDE. Sons are consecutive.
  pure integer function key_of(side, where) result(key)
    integer, intent(in) :: side, where(2)
    integer :: xy(2), bits(2), s
    xy = where
    key = 0
    s = side / 2
    do while (s > 0)
      bits = merge(1, 0, iand(xy, s) > 0)
      key = key + s * s * ieor(3 * bits(1), bits(2))
      if (bits(2) == 0) then
        if (bits(1) == 1) xy = side - 1 - xy
        xy = xy([2, 1])
      end if
      s = s / 2
    end do
  end function

  pure integer function base_key(where)
    integer, intent(in) :: where(2)
    base_key = key_of(base_side, where)
  end function

  ! Own grids of LEVEL along the curve: for any number of processes, together they form the same list.
  function in_order(level) result(grids)
    integer, intent(in) :: level
    integer, allocatable :: grids(:), keys(:)
    integer :: grid, n, i
    allocate (grids(0), keys(0))
    grid = head(own, level)
    do while (grid /= 0)
      grids = [grids, grid]
      keys = [keys, key_of(2**(level - 1), int(place(:, grid)))]
      grid = next(grid)
    end do
    do n = 2, size(grids)  ! by insertion: lists are nearly in order, as new grids stand at the end
      i = n
      do while (i > 1)
        if (keys(i - 1) < keys(i)) exit
        keys([i - 1, i]) = keys([i, i - 1])
        grids([i - 1, i]) = grids([i, i - 1])
        i = i - 1
      end do
    end do
  end function
end module
