! twin.F90: writes the fields of twin.c from Fortran, cut otherwise: a(i,j) = 100 j + i of 7 by 12, and others of other types.
program twin
  use, intrinsic :: iso_fortran_env
  use penstock
  use ranks
  implicit none
  integer, parameter :: nx = 7, ny = 12
  type(penstock_file) :: f
  character(len=200) :: path
  real(real64) :: a(0:nx + 1, 0:ny + 1)
  integer :: i, j, first, last
  call begin("twin")
  call get_command_argument(1, path)
  a = -1
  do j = 1, ny
    do i = 1, nx
      a(i, j) = 100 * j + i
    end do
  end do
  first = ny * rank / size_of_world + 1
  last = ny * (rank + 1) / size_of_world
  call penstock_create(world, path, f)
  call penstock_put(f, "real64", a(1:nx, first:last), [nx, ny], [1, first])
  call penstock_put(f, "real32", real(a(1:nx, first:last), real32), [nx, ny], [1, first])
  call penstock_put(f, "int32", int(a(1:nx, first:last), int32), [nx, ny], [1, first])
  call penstock_put(f, "int64", int(a(1:nx, first:last), int64), [nx, ny], [1, first])
  call penstock_put(f, "complex64", cmplx(a(1:nx, first:last), -a(1:nx, first:last), real64), [nx, ny], [1, first])
  call penstock_put(f, "text", ["north", "east "])
  call penstock_close(f)
  call finish()
end program
