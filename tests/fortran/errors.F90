! errors.F90: wrong calls. With ierr each gives one clear error on its rank; without it, the next commit fails on all
! ranks with that error.
module hearing
  use, intrinsic :: iso_fortran_env
  use ranks, only: check
  implicit none
  integer :: times_told = 0
  character(len=:), allocatable :: told

contains

  subroutine hear(what, idle)
    character(len=*), intent(in) :: what
    real(real64), intent(in) :: idle
    call check(idle >= 0.2, "is told once nothing has moved for that long")
    times_told = times_told + 1
    told = what
  end subroutine
end module

program errors
  use, intrinsic :: iso_fortran_env
  use penstock
  use hearing
  use ranks
  implicit none
  type(penstock_file) :: f, closed
  type(penstock_decomposition) :: d, unmade
  real(real64) :: a(3, 2)
  real(real64), allocatable :: nowhere(:, :)
  integer :: ierr

  call begin("errors")
  a = rank
  call penstock_open(world, "there/is/no/such.h5", f, ierr=ierr)
  call check_status(ierr, PENSTOCK_NOT_FOUND, "open")
  call check_said("there/is/no/such.h5")
  call penstock_create(world, named("x.h5"), f, plan="hdf5/magic", ierr=ierr)
  call check_status(ierr, PENSTOCK_INVALID, "plan")
  call penstock_put(closed, "a", a, ierr=ierr)
  call check_status(ierr, PENSTOCK_INVALID, "a file that is not open")
  call check_said("penstock_put|not open|penstock_create")
  call penstock_commit(closed, ierr)
  call check_status(ierr, PENSTOCK_INVALID, "a commit of nothing")
  call penstock_close(closed, ierr)
  call check_status(ierr, PENSTOCK_INVALID, "a close of nothing")

  call local("rank", PENSTOCK_MISMATCH, "penstock_put 'a'|rank 2|shape has 1")
  call local("start", PENSTOCK_INVALID, "start(2) is 0|count from 1")
  call local("outside", PENSTOCK_INVALID, "2 elements|start(2)=4|shape(2)=4")
  call local("unmade", PENSTOCK_INVALID, "decomposition was not made|penstock_block")
  call local("shape", PENSTOCK_MISMATCH, "shape (3,2)|(3,1)")
  call local("another order", PENSTOCK_MISMATCH, "shape (3,2)|(2,3,1)")
  call local("too many rows", PENSTOCK_INVALID, "2 elements|start(3)=4|shape(3)=4")
  call local("assumed size", PENSTOCK_INVALID, "assumed-size|a(:, 1:n)")
  call local("not allocated", PENSTOCK_INVALID, "not allocated")
  call local("unsigned", PENSTOCK_INVALID, "as=6")
  call local("list", PENSTOCK_INVALID, "6 elements|4")
  call local("attribute", PENSTOCK_INVALID, "rank 2|one dimension")
  call local("own", PENSTOCK_INVALID, "the temperature is negative")

  call penstock_block([3, 2], [1], [1, 1], d, ierr)
  call check_status(ierr, PENSTOCK_INVALID, "numbers")
  call check_said("penstock_block|2 and 1 numbers")
  call penstock_block([3, 2], [2, 1], [3, 1], d, ierr)
  call check_said("start(1)=2|shape(1)=3")
  call penstock_boxes([3, 2], reshape([1, 1, 1], [3, 1]), reshape([1, 1, 1], [3, 1]), d, ierr)
  call check_said("(2, boxes)")
  call penstock_runs([3, 2], [0], [1], d, ierr)
  call check_said("offsets(1) is 0|from 1")
  call penstock_set_timeout(-1.0, ierr)
  call check_status(ierr, PENSTOCK_INVALID, "timeout")

  call wrong_reads()
  if (size_of_world > 1) then
    call waits(off=.false.)
    call waits(off=.true.)
  end if
  call finish()

contains

  ! The call named KIND, with and without ierr; without, on the last rank only, and all the others hear of it.
  subroutine local(kind, status, words)
    character(*), intent(in) :: kind, words
    integer, intent(in) :: status
    integer :: ierr
    call penstock_create(world, named("local.h5"), f)
    ierr = -1
    call wrong(kind, ierr)
    call check_status(ierr, status, kind)
    call check_said(words)
    call penstock_abandon(f)

    call penstock_create(world, named("local.h5"), f)
    if (rank == size_of_world - 1) call wrong(kind)
    call penstock_close(f, ierr)
    call check_status(ierr, status, kind//" at close")
    call check_said(words)
  end subroutine

  subroutine wrong(kind, ierr)
    character(*), intent(in) :: kind
    integer, intent(out), optional :: ierr
    type(penstock_decomposition) :: d
    integer :: bits(2)
    select case (kind)
    case ("rank"); call penstock_put(f, "a", a, [3], [1], ierr=ierr)
    case ("start"); call penstock_put(f, "a", a, [3, 4], [1, 0], ierr=ierr)
    case ("outside"); call penstock_put(f, "a", a, [3, 4], [1, 4], ierr=ierr)
    case ("unmade"); call penstock_put(f, "a", a, unmade, ierr=ierr)
    case ("shape")
      call penstock_block([3, 4], [1, 1], [3, 1], d)
      call penstock_put(f, "a", a, d, ierr=ierr)
      call penstock_free(d)
    case ("another order")
      call penstock_block([2, 3, 4], [1, 1, 1], [2, 3, 1], d)
      call penstock_put(f, "a", a, d, ierr=ierr)
      call penstock_free(d)
    case ("too many rows"); call penstock_put(f, "a", a, [3, 1, 4], [1, 1, 4], ierr=ierr)
    case ("assumed size"); call assumed_size(a, ierr)
    case ("not allocated"); call penstock_put(f, "a", nowhere, [3, 4], [1, 1], ierr=ierr)
    case ("unsigned"); bits = 0; call penstock_put(f, "a", int(bits, int8), as=PENSTOCK_UINT32, ierr=ierr)
    case ("list")
      call penstock_runs([10], [1, 8], [3, 1], d)
      call penstock_put(f, "a", a, d, ierr=ierr)
      call penstock_free(d)
    case ("attribute"); call penstock_attribute(f, "/", "a", a, ierr=ierr)
    case ("own"); call penstock_fail(f, "the temperature is negative", ierr)
    end select
  end subroutine

  subroutine assumed_size(a, ierr)
    real(real64), intent(in) :: a(3, *)
    integer, intent(out), optional :: ierr
    call penstock_put(f, "a", a, [3, 4], [1, 1], ierr=ierr)
  end subroutine

  subroutine wrong_reads()
    integer(int32) :: i(3, 2)
    integer :: n(2), ierr
    character(len=1) :: short
    character(len=:), allocatable :: path
    integer(int64), allocatable :: shape(:)
    path = named("read.h5")
    call penstock_create(world, path, f)
    call penstock_put(f, "a", a(:, 1) * 0)
    call penstock_attribute(f, "a", "units", "km")
    call penstock_attribute(f, "a", "three", [1, 2, 3])
    call penstock_close(f)

    call penstock_open(world, path, f)
    call penstock_describe(f, "b", shape=shape, ierr=ierr)
    call check_status(ierr, PENSTOCK_NOT_FOUND, "describe")
    call penstock_attribute_get(f, "a", "units", short, ierr=ierr)
    call check_status(ierr, PENSTOCK_MISMATCH, "a short text")
    call check_said("2 characters|room for 1")
    call penstock_attribute_get(f, "a", "three", n, ierr=ierr)
    call check_status(ierr, PENSTOCK_MISMATCH, "a short array")
    call check_said("3 values|room for 2")
    call penstock_attribute_get(f, "a", "none", n, ierr=ierr)
    call check_status(ierr, PENSTOCK_NOT_FOUND, "no attribute")
    call penstock_get(f, "a", i(:, 1))  ! another type
    call penstock_close(f, ierr)
    call check_status(ierr, PENSTOCK_MISMATCH, "another type")
    call remove(path)
  end subroutine

  ! The last rank is late; the others are told for whom they wait.
  subroutine waits(off)
    logical, intent(in) :: off
    times_told = 0
    call penstock_when_waiting(0.2_real64, hear)
    if (off) call penstock_when_waiting(0.2)
    call penstock_create(world, named("late.h5"), f)
    call penstock_put(f, "a", a * 0)
    if (rank == size_of_world - 1) call doze(1500)
    call penstock_close(f)
    if (off) then
      call check(times_told == 0, "nobody is told any more")
    else if (rank == 0) then
      call check(times_told > 0, "rank 0 is told that it waits")
      if (times_told > 0) call check(index(told, "waiting for rank") > 0 .and. index(told, "late.h5") > 0, told)
    end if
    call remove(named("late.h5"))
  end subroutine
end program
