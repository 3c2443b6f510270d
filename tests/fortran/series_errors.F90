! series_errors.F90: wrong calls of a series: each is one clear error, in Fortran's numbers, and leaves no rank waiting.
program series_errors
  use, intrinsic :: iso_fortran_env
  use penstock
  use ranks
  implicit none
  character(len=:), allocatable :: folder
  integer :: ierr

  call begin("series_errors")
  folder = named("folder")
  call empty_folder(folder)
  call wrong_arguments()
  call not_open()
  call wrong_steps()
  call empty_folder(folder)
  call finish()

contains

  subroutine wrong_arguments()
    type(penstock_series) :: s
    call penstock_series_create(world, folder//"/a.h5", s, ierr=ierr)
    call check_status(ierr, PENSTOCK_INVALID, "a pattern without a star")
    call check_said("a.h5|'*'")
    call penstock_series_create(world, folder//"/a-*.h5", s, options="every=3", ierr=ierr)
    call check_status(ierr, PENSTOCK_INVALID, "an option that is none")
    call check_said("every|keep_last")
    call penstock_series_create(world, folder//"/a-*.nc", s, options="xdmf=true", ierr=ierr)
    call check_status(ierr, PENSTOCK_UNSUPPORTED, "an index for ParaView of netCDF files")
    if (size_of_world > 1) then
      call penstock_series_create(world, folder//merge("/a-*.h5", "/b-*.h5", rank == 0), s, ierr=ierr)
      call check_status(ierr, PENSTOCK_MISMATCH, "another series on rank 0")
    end if
  end subroutine

  subroutine not_open()
    type(penstock_series) :: closed
    type(penstock_file) :: f
    character(len=:), allocatable :: path
    logical :: due
    call penstock_due(closed, 1, 0d0, due, ierr)
    call check_status(ierr, PENSTOCK_INVALID, "a series that is not open")
    call check_said("penstock_due|not open|penstock_series_create")
    call check(.not. due, "not due")
    call penstock_series_step(closed, 1, 0d0, f, ierr)
    call check_said("penstock_series_step|not open")
    call penstock_series_open_step(closed, 1, f, ierr=ierr)
    call check_said("penstock_series_open_step|not open")
    call penstock_series_describe(closed, 1, path, ierr)
    call check_said("penstock_series_describe|not open")
    call penstock_series_close(closed, ierr)
    call check_status(ierr, PENSTOCK_INVALID, "a close of nothing")
  end subroutine

  subroutine wrong_steps()
    type(penstock_series) :: s
    type(penstock_file) :: f
    integer(int64) :: iteration
    real(real64) :: time
    character(len=:), allocatable :: path
    logical :: due
    call penstock_series_create(world, folder//"/a-*.h5", s)
    call penstock_due(s, -1, 0d0, due, ierr)
    call check_status(ierr, PENSTOCK_INVALID, "a negative iteration")
    call penstock_series_step(s, -1, 0d0, f, ierr)
    call check_said("-1|negative")
    call penstock_series_step(s, 4, 0.5d0, f)
    call penstock_put(f, "a", 1)
    call penstock_close(f)
    call penstock_series_describe(s, 0, iteration, time, path, ierr)
    call check_status(ierr, PENSTOCK_INVALID, "steps count from 1")
    call check_said("penstock_series_describe|step 0|has 1, from 1")
    call check(path == "" .and. iteration == 0, "no step's path")
    call penstock_series_open_step(s, 2, f, ierr=ierr)
    call check_status(ierr, PENSTOCK_INVALID, "beyond the last")
    call check_said("penstock_series_open_step|step 2|has 1, from 1")
    ! One rank that is wrong leaves none waiting.
    call penstock_series_open_step(s, merge(0, 1, rank == size_of_world - 1), f, ierr=ierr)
    call check(ierr /= PENSTOCK_OK, "a wrong step on one rank")
    call penstock_series_close(s)
    call penstock_series_open(world, folder//"/a-*.h5", s)
    call penstock_due(s, 5, 1d0, due, ierr)
    call check_status(ierr, PENSTOCK_INVALID, "a series to read")
    call check_said("a-*.h5|opened to read")
    call penstock_series_close(s, ierr)
    call check_ok(ierr, "close")
    call penstock_series_close(s, ierr)
    call check_status(ierr, PENSTOCK_INVALID, "a series is closed once")
  end subroutine
end program
