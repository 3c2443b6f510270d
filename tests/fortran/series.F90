! series.F90: output over time from a Fortran program: when it is due, restarts, reading back, and what is kept.
program series
  use, intrinsic :: iso_fortran_env
  use penstock
  use ranks
  implicit none
  character(len=:), allocatable :: folder
  integer :: ierr

  call begin("series")
  folder = named("folder")
  call empty_folder(folder)
  call run_and_restart(folder//"/out-*.h5")
  call run_and_restart(folder//"/n.out-*.nc")
  call rules_of_due()
  call large_numbers()
  call behind_the_program()
  call alone()
  call not_a_step()
  call empty_folder(folder)
  call finish()

contains

  ! A column of 3 for each rank but the last of several, which has none.
  subroutine put(f, value)
    type(penstock_file), intent(in) :: f
    real(real64), intent(in) :: value
    real(real64) :: rho(3, 1)
    integer :: mine
    mine = merge(0, 1, size_of_world > 1 .and. rank == size_of_world - 1)
    rho = value
    call penstock_put(f, "fluid/rho", rho(:, :mine), shape=[3, max(1, size_of_world - 1)], start=[1, 1 + mine * rank])
  end subroutine

  subroutine write_step(s, iteration, time)
    type(penstock_series), intent(in) :: s
    integer, intent(in) :: iteration
    real(real64), intent(in) :: time
    type(penstock_file) :: f
    call penstock_series_step(s, iteration, time, f)
    call put(f, time)
    call penstock_close(f)
  end subroutine

  ! A run that writes 0 to 50, and one that goes on from its step 40.
  subroutine run_and_restart(pattern)
    character(*), intent(in) :: pattern
    type(penstock_series) :: s
    type(penstock_file) :: f
    integer :: n, first
    integer(int64) :: stored
    real(real64) :: t, rho(3, max(1, size_of_world - 1))
    logical :: due, again
    call penstock_series_open(world, pattern, s, ierr)
    call check_status(ierr, PENSTOCK_NOT_FOUND, "a series without steps")
    call penstock_series_create(world, pattern, s, options="steps=10,keep_last=3")
    do n = 0, 50
      t = 0.01d0 * n
      call penstock_due(s, n, t, due)
      call penstock_due(s, n, t, again)
      call check((due .eqv. mod(n, 10) == 0) .and. (due .eqv. again), "due at every tenth iteration")
      if (due) call write_step(s, n, t)
    end do
    call check(penstock_series_steps(s) == 3, "only the last three are kept")
    call penstock_series_close(s)
    call check_steps(pattern, [30, 40, 50])

    ! The state of step 40 is read; the run goes on with 45, 50 and 55: 50 is new, and nothing of the old one is left.
    call penstock_series_create(world, pattern, s, plan="", options="steps=5,keep_last=3")
    call penstock_series_describe(s, penstock_series_steps(s) - 1, first, t)
    call check(first == 40 .and. t == 0.01d0 * 40, "the moment of a restart")
    call penstock_series_open_step(s, penstock_series_steps(s) - 1, f)
    call penstock_attribute_get(f, "/", "iteration", stored)
    call penstock_get(f, "fluid/rho", rho)
    call penstock_close(f)
    call check(stored == first .and. all(rho == t), "the state of a restart")
    do n = first + 1, 55
      call penstock_due(s, n, 0.02d0 * n, due)
      call check(due .eqv. mod(n, 5) == 0, "due in the second run")
      if (due) call write_step(s, n, 0.02d0 * n)
    end do
    call penstock_series_close(s)
    call check_steps(pattern, [45, 50, 55], 0.02d0)
  end subroutine

  ! The steps on disk, each with its own moment and data.
  subroutine check_steps(pattern, iterations, dt)
    character(*), intent(in) :: pattern
    integer, intent(in) :: iterations(:)
    real(real64), intent(in), optional :: dt
    type(penstock_series) :: s
    type(penstock_file) :: f
    integer(int64) :: i, iteration, stored
    real(real64) :: time, seconds, rho(3, max(1, size_of_world - 1))
    character(len=:), allocatable :: path, same
    character(len=8) :: digits
    call penstock_series_open(world, pattern, s)
    call check(penstock_series_steps(s) == size(iterations), "how many steps")
    do i = 1, penstock_series_steps(s)
      call penstock_series_describe(s, i, iteration, time, path)
      call penstock_series_describe(s, int(i), path=same)
      call check(iteration == iterations(i), "the order of steps")
      if (present(dt)) call check(time == dt * iteration, "the time of a step")
      write (digits, '(i8.8)') iteration
      call check(index(path, "out-"//digits//".") > 0 .and. path == same, "the path of a step: "//path)
      call penstock_series_open_step(s, i, f)
      call check(penstock_path(f) == path .or. index(penstock_path(f), path) > 0, &
                 "the file of a step: "//penstock_path(f))
      call penstock_attribute_get(f, "/", "iteration", stored)
      call penstock_attribute_get(f, "/", "time", seconds)
      call penstock_get(f, "fluid/rho", rho)
      call penstock_close(f)
      call check(stored == iteration .and. seconds == time .and. all(rho == time), "what a step holds")
    end do
    call check(penstock_series_warnings(s) == "", "warnings: "//penstock_series_warnings(s))
    call penstock_series_close(s)
  end subroutine

  ! By iterations that are passed, by times in either kind of real, and by rank 0's clock.
  subroutine rules_of_due()
    type(penstock_series) :: s
    integer :: n, count
    logical :: due
    call penstock_series_create(world, folder//"/passed-*.h5", s, options="steps=100")
    call penstock_due(s, 99_int64, 0.0, due)
    call check(.not. due, "before the mark")
    call penstock_due(s, 203, 0.0d0, due)
    call check(due, "marks that were passed")
    call penstock_due(s, 250_int64, 0.0d0, due)
    call check(.not. due, "between the marks")
    call penstock_series_close(s)

    call penstock_series_create(world, folder//"/times-*.h5", s, options="times=0.5")
    count = 0
    do n = 0, 100
      call penstock_due(s, n, 0.1 * n, due)
      call check(due .eqv. mod(n, 5) == 0, "multiples of a time, in single precision")
      if (due) count = count + 1
    end do
    call check(count == 21, "how many of them")
    call penstock_series_close(s)

    call penstock_series_create(world, folder//"/clock-*.h5", s, options="seconds=100000")
    call penstock_due(s, 1, 0d0, due, ierr)
    call check_ok(ierr, "the clock")
    call check(.not. due, "a hundred thousand seconds have not gone by")
    call penstock_series_close(s)
  end subroutine

  ! More than 32 bits count, and what a caller's variables cannot hold.
  subroutine large_numbers()
    type(penstock_series) :: s
    type(penstock_file) :: f
    integer(int64) :: iteration
    integer :: small
    real(real64) :: time
    real(real32) :: single
    call penstock_series_create(world, folder//"/large-*.h5", s)
    call penstock_series_step(s, 3000000000_int64, 1d300, f)
    call put(f, 1d0)
    call penstock_close(f)
    call penstock_series_describe(s, 1, iteration, time)
    call check(iteration == 3000000000_int64 .and. time == 1d300, "large numbers")
    call penstock_series_describe(s, 1_int64, small, time, ierr=ierr)
    call check_status(ierr, PENSTOCK_INVALID, "an iteration that int32 cannot tell")
    call check_said("penstock_series_describe|3000000000|integer(int64)")
    call penstock_series_describe(s, 1, iteration, single, ierr=ierr)
    call check_status(ierr, PENSTOCK_INVALID, "a time that real32 cannot tell")
    call check_said("1e+300|real(real64)")
    call penstock_series_step(s, 3000000001_int64, 0.25, f)
    call put(f, 1d0)
    call penstock_close(f)
    call penstock_series_describe(s, 2, iteration, single)
    call check(iteration == 3000000001_int64 .and. single == 0.25, "a time in single precision")
    call penstock_series_close(s)
  end subroutine

  ! A commit in steps, a file that is closed after its series, and one that is dropped.
  subroutine behind_the_program()
    type(penstock_series) :: s
    type(penstock_file) :: f, dropped
    logical :: done
    call penstock_series_create(world, folder//"/b.out-*.h5", s, "hdf5/independent")
    call penstock_series_step(s, 5, 2d0, dropped)
    call check(index(penstock_plan(dropped), "hdf5/independent") == 1, "the plan of a step: "//penstock_plan(dropped))
    call put(dropped, 2d0)
    call penstock_abandon(dropped)
    call penstock_series_step(s, 3, 0.75d0, f)
    call penstock_series_close(s)
    call put(f, 0.75d0)
    call penstock_commit_start(f)
    done = .false.
    do while (.not. done)
      call penstock_commit_test(f, done)
    end do
    call penstock_close(f)
    call check_steps(folder//"/b.out-*.h5", [3], 0.25d0)
  end subroutine

  ! Without a communicator, and with an integer of module mpi.
  subroutine alone()
    type(penstock_series) :: s
    type(penstock_file) :: f
    integer :: handle, value
#if PENSTOCK_HAVE_MPI
    handle = world%mpi_val
#else
    handle = world
#endif
    if (rank == size_of_world - 1) then
      call penstock_series_create(folder//"/alone-*.h5", s, options="keep_last=1")
      call penstock_series_step(s, 1, 1.0, f)
      call penstock_put(f, "a", 17)
      call penstock_close(f)
      call penstock_series_close(s)
      call penstock_series_open(folder//"/alone-*.h5", s)
      call check(penstock_series_steps(s) == 1, "a series of one process")
      call penstock_series_close(s)
    end if
    call wait_for_all()
    call penstock_series_open(handle, folder//"/alone-*.h5", s)
    call penstock_series_open_step(s, 1_int64, f, plan="independent", ierr=ierr)
    call check_ok(ierr, "a plan to read with")
    call check(index(penstock_plan(f), "independent") > 0, "it is used: "//penstock_plan(f))
    call penstock_get(f, "a", value)
    call penstock_close(f)
    call check(value == 17, "what one process has written")
    call penstock_series_close(s)
    call penstock_series_create(handle, folder//"/alone-*.h5", s)
    call check(penstock_series_steps(s) == 1, "a series that is continued")
    call penstock_series_close(s)
  end subroutine

  ! What another made under a step's name stays, and is told.
  subroutine not_a_step()
    type(penstock_series) :: s
    type(penstock_file) :: f
    call penstock_create(world, folder//"/w-00000007.h5", f)
    call put(f, 1d0)
    call penstock_close(f)
    call penstock_series_create(world, folder//"/w-*.h5", s, options="keep_last=1")
    call check(index(penstock_series_warnings(s), "w-00000007.h5") > 0, "it is told: "//penstock_series_warnings(s))
    call write_step(s, 1, 0d0)
    call write_step(s, 9, 1d0)
    call check(penstock_series_steps(s) == 1, "it does not count")
    call penstock_series_close(s)
    call penstock_verify(world, folder//"/w-00000007.h5")
  end subroutine
end program
