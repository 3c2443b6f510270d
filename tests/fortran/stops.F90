! stops.F90: without ierr a call that fails stops the program with its message: the one that the argument names.
program stops
  use penstock
  use ranks
  implicit none
  type(penstock_file) :: f
  type(penstock_decomposition) :: d
  type(penstock_series) :: s
  character(len=20) :: which
  integer :: a(2)
  call get_command_argument(1, which)
  if (which == "before_init") then
    call penstock_create(0, "stops.h5", f)
    stop
  end if
  call begin("stops")
  select case (which)
  case ("open"); call penstock_open(world, "no/such/file.h5", f)
  case ("block"); call penstock_block([2, 2], [0, 1], [1, 1], d)
  case ("closed"); a = 1; call penstock_put(f, "a", a)
  case ("series"); call penstock_series_step(s, 1, 0.5, f)
  case ("close")
    call penstock_create(world, named("stops.h5"), f)
    call penstock_put(f, "a", [1, 2], [3], [3])
    call penstock_close(f)
  end select
  call finish()
end program
