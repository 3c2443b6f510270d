! twin.F90: the fields of the other twins in Fortran, cut along j, with ghost cells: write FILE, or read FILE.
! a(i,j) = 100 j + i of 7 by 12, and others of other types.
program twin
  use, intrinsic :: iso_fortran_env
  use penstock
  use ranks
  implicit none
  integer, parameter :: nx = 7, ny = 12
  type(penstock_file) :: f
  character(len=200) :: word, path
  real(real64) :: a(0:nx + 1, 0:ny + 1)
  integer :: i, j, first, last
  call begin("twin of Fortran")
  call get_command_argument(1, word)
  call get_command_argument(2, path)
  a = -1
  do j = 1, ny
    do i = 1, nx
      a(i, j) = 100 * j + i
    end do
  end do
  first = ny * rank / size_of_world + 1
  last = ny * (rank + 1) / size_of_world
  if (word == "write") then
    call write_fields()
  else
    call read_fields()
  end if
  call finish()

contains

  subroutine write_fields()
    call penstock_create(world, path, f)
    call penstock_put(f, "real64", a(1:nx, first:last), [nx, ny], [1, first])
    call penstock_put(f, "real32", real(a(1:nx, first:last), real32), [nx, ny], [1, first])
    call penstock_put(f, "int32", int(a(1:nx, first:last), int32), [nx, ny], [1, first])
    call penstock_put(f, "int64", int(a(1:nx, first:last), int64), [nx, ny], [1, first])
    call penstock_put(f, "complex64", cmplx(a(1:nx, first:last), -a(1:nx, first:last), real64), [nx, ny], [1, first])
    call penstock_put(f, "text", ["north", "east "])
    call penstock_close(f)
  end subroutine

  subroutine read_fields()
    real(real64), target :: b(0:nx + 1, 0:ny + 1)
    real(real32), target :: r(nx, first:last)
    integer(int32), target :: k(nx, first:last)
    integer(int64), target :: l(nx, first:last)
    complex(real64), target :: c(nx, first:last)
    character(len=5), target :: text(2)
    b = -1
    call penstock_open(world, path, f)
    call penstock_get(f, "real64", b(1:nx, first:last), [nx, ny], [1, first])
    call penstock_get(f, "real32", r, [nx, ny], [1, first])
    call penstock_get(f, "int32", k, [nx, ny], [1, first])
    call penstock_get(f, "int64", l, [nx, ny], [1, first])
    call penstock_get(f, "complex64", c, [nx, ny], [1, first])
    call penstock_get(f, "text", text)
    call penstock_close(f)
    call check(all(b(1:nx, first:last) == a(1:nx, first:last)), "real64")
    call check(count(b == -1) == size(b) - nx * (last - first + 1), "ghost cells are left alone")
    call check(all(r == real(a(1:nx, first:last), real32)), "real32")
    call check(all(k == int(a(1:nx, first:last), int32)), "int32")
    call check(all(l == int(a(1:nx, first:last), int64)), "int64")
    call check(all(c == cmplx(a(1:nx, first:last), -a(1:nx, first:last), real64)), "complex64")
    call check(all(text == ["north", "east "]), "text")
  end subroutine
end program
