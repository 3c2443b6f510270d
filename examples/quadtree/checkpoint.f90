! checkpoint.f90: all calls of penstock: writes the tree as lists with a row for each grid, and rebuilds it from them.
!
! Each process writes its own grids, in the order of the curve, and no ghosts. Together they form the same lists on any
! number of processes. A process that reads only needs to know the run of each list that is its domain.
module checkpoint
  use, intrinsic :: iso_fortran_env, only: int8, int32, int64, real64
  use mpi_f08
  use penstock
  use tree
  use domains
  use field
  implicit none
  private
  public :: write_checkpoint, read_checkpoint

  ! The grids of one level. Cells have one index here and are rows of 2 x 2 in the file, with the same elements in
  ! order.
  type list
    integer(int32), allocatable :: place(:, :)
    integer(int8), allocatable :: refined(:, :)
    real(real64), allocatable :: u(:, :)
  end type

contains

  subroutine write_checkpoint(path)
    character(*), intent(in) :: path
    type(penstock_file) :: f
    type(penstock_decomposition) :: grids, cells
    type(list), target :: lists(level_min:level_max)  ! lent, not copied: they stay until close
    integer, allocatable :: order(:)
    integer :: level
    call penstock_create(MPI_COMM_WORLD, path, f)
    call penstock_attribute(f, "/", "step", step)
    call penstock_attribute(f, "/", "levels", [level_min, level_max])
    do level = level_min, level_max
      order = in_order(level)
      lists(level)%place = place(:, order)
      lists(level)%refined = merge(1_int8, 0_int8, son(:, order) /= 0)
      lists(level)%u = u(:, order)
      ! All levels, and on all processes, which may have none of it: a list of no rows is a list.
      call penstock_ragged(size(order), grids, [2])
      call penstock_ragged(size(order), cells, [2, 2])
      call penstock_lend(f, named(level, "place"), lists(level)%place, grids)
      call penstock_lend(f, named(level, "refined"), lists(level)%refined, cells)
      call penstock_lend(f, named(level, "u"), lists(level)%u, cells)
      call penstock_attribute(f, named(level, "u"), "cell_size", 0.5d0**level)
      call penstock_free(grids)
      call penstock_free(cells)
    end do
    call penstock_close(f)
  end subroutine

  subroutine read_checkpoint(path)
    character(*), intent(in) :: path
    type(penstock_file) :: f
    type(list), target :: lists(level_min:level_max)
    integer(int64), allocatable :: shape(:)
    integer(int64) :: all_grids(level_min:level_max), first, n
    integer :: counts(0:base_grids - 1, level_min:level_max), level, levels(2), i
    call penstock_open(MPI_COMM_WORLD, path, f)
    call penstock_attribute_get(f, "/", "step", step)
    call penstock_attribute_get(f, "/", "levels", levels)
    if (any(levels /= [level_min, level_max])) error stop "quadtree: the file has a tree of other levels"

    ! Any division of the places works for counting the work along the curve. commit delivers the requests so far.
    do level = level_min, level_max
      call penstock_describe(f, named(level, "place"), shape=shape)
      all_grids(level) = shape(2)
      first = rank * shape(2) / ranks
      n = (rank + 1) * shape(2) / ranks - first
      allocate (lists(level)%place(2, n))
      call penstock_get(f, named(level, "place"), lists(level)%place, shape=shape, start=[1_int64, first + 1])
    end do
    call penstock_commit(f)
    counts = 0
    do level = level_min, level_max
      do i = 1, size(lists(level)%place, 2)
        associate (key => base_key(int(lists(level)%place(:, i)) / 2**(level - level_min)))
          counts(key, level) = counts(key, level) + 1
        end associate
      end do
      deallocate (lists(level)%place)
    end do
    call MPI_Allreduce(MPI_IN_PLACE, counts, size(counts), MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call cut_domains(sum(counts, dim=2))

    ! A domain is a run of each list.
    do level = level_min, level_max
      first = sum(counts(:first_key(rank) - 1, level))
      n = sum(counts(first_key(rank):first_key(rank + 1) - 1, level))
      allocate (lists(level)%place(2, n), lists(level)%refined(4, n), lists(level)%u(4, n))
      call penstock_get(f, named(level, "place"), lists(level)%place, shape=[2_int64, all_grids(level)], &
                        start=[1_int64, first + 1])
      call penstock_get(f, named(level, "refined"), lists(level)%refined, shape=[2_int64, 2_int64, all_grids(level)], &
                        start=[1_int64, 1_int64, first + 1])
      call penstock_get(f, named(level, "u"), lists(level)%u, shape=[2_int64, 2_int64, all_grids(level)], &
                        start=[1_int64, 1_int64, first + 1])
    end do
    call penstock_close(f)
    do level = level_min, level_max
      do i = 1, size(lists(level)%place, 2)
        call plant(level, int(lists(level)%place(:, i)), lists(level)%u(:, i))
      end do
    end do
    call check_sons(lists)
    call exchange_ghosts()
  end subroutine

  ! Adds a grid to its father, which exists already: levels come one after another.
  subroutine plant(level, where, values)
    integer, intent(in) :: level, where(2)
    real(real64), intent(in) :: values(4)
    integer :: at(2), grid
    at = 0
    if (level > level_min) then
      call find_cell(level - 1, where, at(1), at(2))
      if (level_of(at(2)) /= level - 1 .or. kind_of(at(2)) /= own) error stop "quadtree: a grid without its father"
    end if
    grid = new_grid(own, level, where, at)
    u(:, grid) = values
  end subroutine

  ! Checks that refined cells have their sons again, and no other cells have any.
  subroutine check_sons(lists)
    type(list), intent(in) :: lists(level_min:)
    integer :: level, grid, i
    do level = level_min, level_max
      grid = head(own, level)
      do i = 1, size(lists(level)%refined, 2)
        if (any((lists(level)%refined(:, i) == 1) .neqv. (son(:, grid) /= 0))) error stop "quadtree: sons are missing"
        grid = next(grid)
      end do
    end do
  end subroutine

  pure function named(level, what) result(name)
    integer, intent(in) :: level
    character(*), intent(in) :: what
    character(len=8 + len(what) + 1) :: name
    write (name, '(a,i2.2,2a)') "level_", level, "/", what
  end function
end module
