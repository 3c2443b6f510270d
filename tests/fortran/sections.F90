! sections.F90: what may be passed as an array: strided sections, ghost cells, expressions, components, nothing at all.
program sections
  use, intrinsic :: iso_fortran_env
  use penstock
  use ranks
  implicit none
  integer, parameter :: nx = 6, ny = 4
  type particle
    integer(int32) :: id
    real(real64) :: x
    real(real64) :: v(2)
  end type
  type odd
    sequence
    integer(int32) :: id
    real(real32) :: a, b
  end type
  integer :: i, j, first, gy, ierr
  real(real64) :: t(0:nx + 1, 0:ny + 1), back(nx, ny), u(nx, ny)

  call begin("sections")
  gy = ny * size_of_world
  first = rank * ny
  t = -1
  do j = 1, ny
    do i = 1, nx
      t(i, j) = i + 100 * (first + j)
    end do
  end do
  call put_all(named("sections.h5"))
  call get_all(named("sections.h5"))
  call no_copies(named("lent.h5"))
  call garbage(named("kept.h5"))
  call nothing(named("nothing.h5"))
  call other_ranks(named("other.h5"))
  call finish()

contains

  subroutine put_all(path)
    character(*), intent(in) :: path
    type(penstock_file) :: f
    type(particle) :: p(5)
    type(odd) :: q(5)
    complex(real64) :: z(5)
    integer :: order(3) = [5, 1, 3]
    call penstock_create(world, path, f)
    call penstock_put(f, "ghosts", t(1:nx, 1:ny), [nx, gy], [1, first + 1])
    call penstock_lend(f, "lent", t(1:nx, 1:ny), [nx, gy], [1, first + 1])
    call penstock_put(f, "strided", t(1:nx:2, 2:ny:2), int([nx, gy] / 2, int64), [1_int64, int(first / 2 + 1, int64)])
    call penstock_put(f, "backwards", t(nx:1:-1, 1:ny), [nx, gy], [1, first + 1])
    call penstock_put(f, "expression", 2 * t(1:nx, 1:ny) + 1, [nx, gy], [1, first + 1])
    call penstock_put(f, "function", transpose(t(1:nx, 1:ny)), [gy, nx], [first + 1, 1])
    call penstock_put(f, "literal", [1, 2, 3])
    call penstock_put(f, "scalar", 42_int64)
    call penstock_put(f, "mask", merge(1_int8, 0_int8, [.true., .false.]))
    p%id = [(i + 5 * rank, i=1, 5)]
    p%x = p%id + 0.5d0
    q%id = -p%id
    q%b = real(p%id)
    z = cmplx(p%id, -p%id, real64)
    call penstock_put(f, "component", p%x, [5 * size_of_world], [5 * rank + 1])
    call penstock_put(f, "misaligned", q%b, [5 * size_of_world], [5 * rank + 1])
    call penstock_put(f, "imaginary", aimag(z), [5 * size_of_world], [5 * rank + 1])
    call penstock_put(f, "picked", p(order)%x, [3 * size_of_world], [3 * rank + 1])
    call penstock_put(f, "columns", t([3, 1], 1:ny), [2, gy], [1, first + 1])
    call penstock_put(f, "words", ["one  ", "three"])
    call penstock_put(f, "unsigned", int([200 - 256, 255 - 256], int8), as=PENSTOCK_UINT8)
    call assumed_size(f, t)
    call penstock_close(f)
  end subroutine

  subroutine assumed_size(f, a)
    type(penstock_file), intent(in) :: f
    real(real64), intent(in) :: a(0:nx + 1, 0:*)
    call penstock_put(f, "section", a(1:nx, 1:ny), [nx, gy], [1, first + 1])
  end subroutine

  subroutine get_all(path)
    character(*), intent(in) :: path
    type(penstock_file) :: f
    type(particle), target :: p(5)
    type(odd) :: q(5)
    complex(real64) :: z(5)
    real(real64) :: ghosts(-1:nx + 2, 0:ny + 1), turned(ny, nx), three(3)
    real(real64), allocatable :: half(:, :)
    integer(int8) :: bits(2)
    character(len=5) :: words(2)
    ghosts = -7
    p%id = 0
    p%x = 0
    z = (1, 2)
    call penstock_open(world, path, f)
    call penstock_get(f, "ghosts", ghosts(1:nx, 1:ny), [nx, gy], [1, first + 1])
    call penstock_get(f, "component", p%x, [5 * size_of_world], [5 * rank + 1])
    call penstock_get(f, "imaginary", z%im, [5 * size_of_world], [5 * rank + 1])
    call penstock_get(f, "picked", three, [3 * size_of_world], [3 * rank + 1])
    call penstock_get(f, "function", turned, [gy, nx], [first + 1, 1])
    call penstock_get(f, "unsigned", bits, as=PENSTOCK_UINT8)
    call penstock_get(f, "words", words)
    call penstock_commit(f)
    call check(all(ghosts(1:nx, 1:ny) == t(1:nx, 1:ny)), "inside the ghosts")
    call check(all(ghosts([-1, 0, nx + 1, nx + 2], :) == -7) .and. all(ghosts(:, [0, ny + 1]) == -7), "the ghosts")
    call check(all(p%x == [(i + 5 * rank + 0.5d0, i=1, 5)]) .and. all(p%id == 0), &
               "a component is filled, its neighbours are not")
    call check(all(z == cmplx(1, [(-i - 5 * rank, i=1, 5)], real64)), &
               "an imaginary part is filled, the real part is not")
    call check(all(three == [5, 1, 3] + 5 * rank + 0.5d0), "a vector subscript")
    call check(all(turned == transpose(t(1:nx, 1:ny))), "a function's result")
    call check(all(iand(int(bits), 255) == [200, 255]), "unsigned")
    call check(words(1) == "one" .and. words(2) == "three" .and. index(words(1), achar(0)) == 0, &
               "texts have blanks at the end")

    allocate (half(nx / 2, ny / 2))
    call penstock_get(f, "strided", half, [nx / 2, gy / 2], [1, first / 2 + 1])
    call penstock_get(f, "lent", back, [nx, gy], [1, first + 1])
    call penstock_get(f, "section", u, [nx, gy], [1, first + 1])
    call penstock_commit(f)
    call check(all(half == t(1:nx:2, 2:ny:2)), "a section with strides")
    call check(all(back == t(1:nx, 1:ny)) .and. all(u == back), "lent; a section of an assumed-size array")
    call penstock_get(f, "backwards", back, [nx, gy], [1, first + 1])
    call penstock_get(f, "expression", u, [nx, gy], [1, first + 1])
    call penstock_commit(f)
    call check(all(back(nx:1:-1, :) == t(1:nx, 1:ny)), "a section that runs backwards")
    call check(all(u == 2 * t(1:nx, 1:ny) + 1), "an expression")

    ! Into what is no good place: named errors, on this rank, and the file can be closed.
    call penstock_get(f, "backwards", back(nx:1:-1, :), [nx, gy], [1, first + 1], ierr=ierr)
    call check_status(ierr, PENSTOCK_INVALID, "backwards")
    call check_said("runs backwards in dimension 1|penstock_get 'backwards'")
    call penstock_abandon(f)
    call penstock_open(world, path, f)
    call penstock_get(f, "misaligned", q%b, [5 * size_of_world], [5 * rank + 1], ierr=ierr)
    call check_ok(ierr, "12 bytes are a multiple of 4")
    call penstock_close(f)
    call check(all(q%b == [(real(i + 5 * rank), i=1, 5)]), "a component of a sequence type")
  end subroutine

  ! What is lent takes no memory of the library's, sections neither: a put of as much is refused.
  subroutine no_copies(path)
    character(*), intent(in) :: path
    type(penstock_file) :: f
    call penstock_create(world, path, f)
    call penstock_capture_bytes(f, 100)
    call penstock_lend(f, "ghosts", t(1:nx, 1:ny), [nx, gy], [1, first + 1])
    call penstock_lend(f, "strided", t(1:nx:2, 2:ny:2), [nx / 2, gy / 2], [1, first / 2 + 1])
    call penstock_commit(f)
    call penstock_put(f, "put", t(1:nx, 1:ny), [nx, gy], [1, first + 1], ierr=ierr)
    call check_status(ierr, PENSTOCK_MEMORY, "a put beyond the limit")
    call penstock_abandon(f)
    call penstock_open(world, path, f)
    call penstock_get(f, "ghosts", back, [nx, gy], [1, first + 1])
    call penstock_close(f)
    call check(all(back == t(1:nx, 1:ny)), "what was lent")
    call remove(path)
  end subroutine

  ! A put has copied when it returns: neither temporaries nor what is overwritten get into the file.
  subroutine garbage(path)
    character(*), intent(in) :: path
    type(penstock_file) :: f
    real(real64), allocatable :: a(:)
    integer(int32) :: counts(4)
    integer :: k
    call penstock_create(world, path, f)
    do k = 1, 20
      a = [(1d0 * i * k, i=1, 1000)]
      call penstock_put(f, "t"//achar(64 + k), a + 0, [1000 * size_of_world], [1000 * rank + 1])
      a = -1
      deallocate (a)
    end do
    counts = [1, 2, 3, 4]
    call penstock_put(f, "counts", counts * 2)
    counts = 0
    call penstock_close(f)
    call penstock_open(world, path, f)
    allocate (a(1000))
    do k = 1, 20
      call penstock_get(f, "t"//achar(64 + k), a, [1000 * size_of_world], [1000 * rank + 1])
      call penstock_commit(f)
      call check(all(a == [(1d0 * i * k, i=1, 1000)]), "an expression is what it was when it was put")
    end do
    call penstock_get(f, "counts", counts)
    call penstock_close(f)
    call check(all(counts == [2, 4, 6, 8]), "an expression of integers")
    call remove(path)
  end subroutine

  ! Ranks without elements: of a block, with arrays that are empty, not allocated to any size, of another rank.
  ! The same elements in the same order, in an array of another rank than the dataset has: rows (2,2,2) from (8, n).
  subroutine other_ranks(path)
    character(*), intent(in) :: path
    type(penstock_file) :: f
    type(penstock_decomposition) :: cells, flat
    real(real64), target :: wide(10, 0:6), apart(3, 2, 2, 5)
    real(real64), allocatable, target :: row(:, :), whole(:, :, :, :), line(:)
    integer :: n, before, everybody, k, bad
    n = 5 - mod(rank, 3)  ! 5, 4, 3, 5, ...
    before = sum([(5 - mod(k, 3), k=0, rank - 1)])
    everybody = sum([(5 - mod(k, 3), k=0, size_of_world - 1)])
    wide = -1
    apart = -1
    row = reshape([(real(8 * before + k, real64), k=1, 8 * n)], [8, n])
    wide(2:9, 1:n) = row
    apart(2:3, :, :, 1:n) = reshape(row, [2, 2, 2, n])
    whole = reshape(row, [2, 2, 2, n])
    line = [row]
    call penstock_ragged(n, cells, [2, 2, 2])
    call penstock_ragged(n, flat, [8])
    call penstock_create(world, path, f)
    call penstock_put(f, "put", row, cells)
    call penstock_lend(f, "lent", row, cells)
    call penstock_lend(f, "line", line, cells)
    call penstock_lend(f, "section", wide(2:9, 1:n), cells)        ! the gaps of 2 stay between the rows
    call penstock_put(f, "backwards", wide(9:2:-1, n:1:-1), cells)
    call penstock_lend(f, "joined", whole, flat)
    call penstock_put(f, "apart", apart(2:3, :, :, 1:n), flat)
    call penstock_put(f, "block", row, [2, 2, 2, everybody], [1, 1, 1, before + 1])
    call penstock_close(f)

    call penstock_open(world, path, f)
    call same(f, "put", [2, 2, 2, everybody])
    call same(f, "lent", [2, 2, 2, everybody])
    call same(f, "line", [2, 2, 2, everybody])
    call same(f, "section", [2, 2, 2, everybody])
    call same(f, "joined", [8, everybody])
    call same(f, "apart", [8, everybody])
    call same(f, "block", [2, 2, 2, everybody])
    wide = -1
    call penstock_get(f, "put", wide(2:9, 1:n), cells)
    row = 0
    call penstock_get(f, "backwards", row, cells)
    call penstock_commit(f)
    call check(all(wide(2:9, 1:n) == reshape(line, [8, n])), "a section of another rank is read")
    call check(all(wide([1, 10], :) == -1) .and. all(wide(:, n + 1:) == -1), "and nothing around it")
    call check(all(row == reshape(line(8 * n:1:-1), [8, n])), "a section that runs backwards")
    call penstock_close(f)

    call penstock_create(world, path, f)
    call penstock_lend(f, "apart", apart(2:3, :, :, 1:n), flat, ierr=bad)
    call check_status(bad, PENSTOCK_INVALID, "dimensions that lie apart")
    call check_said("penstock_lend 'apart'|gaps in memory")
    call penstock_abandon(f)
    call penstock_free(cells)
    call penstock_free(flat)
    call remove(path)
  end subroutine

  ! Dataset NAME of SHAPE holds 1, 2, ..., as a list that any number of processes takes shares of.
  subroutine same(f, name, shape)
    type(penstock_file), intent(in) :: f
    character(*), intent(in) :: name
    integer, intent(in) :: shape(:)
    integer(int64), allocatable :: found(:)
    real(real64), allocatable :: part(:, :)
    integer :: low, high, k, start(size(shape))
    call penstock_describe(f, name, shape=found)
    call check(size(found) == size(shape), name//" has its rank")
    if (size(found) == size(shape)) call check(all(found == shape), name//" has its shape")
    low = rank * shape(size(shape)) / size_of_world
    high = (rank + 1) * shape(size(shape)) / size_of_world
    start = 1
    start(size(shape)) = low + 1
    allocate (part(8, high - low), source=0d0)
    call penstock_get(f, name, part, shape, start)
    call penstock_commit(f)
    call check(all(part == reshape([(real(8 * low + k, real64), k=1, size(part))], [8, high - low])), name)
  end subroutine

  subroutine nothing(path)
    character(*), intent(in) :: path
    type(penstock_file) :: f
    type(penstock_decomposition) :: d
    real(real64), allocatable :: a(:, :)
    integer :: mine
    mine = merge(3, 0, mod(rank, 2) == 0)
    allocate (a(2, mine), source=real(rank, real64))
    call penstock_create(world, path, f)
    call penstock_put(f, "block", a, [2, 3 * ((size_of_world + 1) / 2)], [1, 1 + 3 * ((rank + 1) / 2)])
    call penstock_ragged(mine, d, [2])
    call penstock_put(f, "ragged", a, d)
    call penstock_free(d)
    call penstock_block([2, 3 * ((size_of_world + 1) / 2)], [1, 1 + 3 * ((rank + 1) / 2)], [2, mine], d)
    if (mine == 0) then
      call penstock_put(f, "other", [real(real64) ::], d)
    else
      call penstock_put(f, "other", a, d)
    end if
    call penstock_free(d)
    call penstock_put(f, "empty", t(1:0, 1:ny), [0, gy], [1, first + 1])
    call penstock_close(f)
    call penstock_open(world, path, f)
    a = -1
    call penstock_get(f, "block", a, [2, 3 * ((size_of_world + 1) / 2)], [1, 1 + 3 * ((rank + 1) / 2)])
    call penstock_commit(f)
    call check(all(a == rank), "block with empty ranks")
    call penstock_close(f)
    call remove(path)
  end subroutine
end program
