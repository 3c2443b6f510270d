! esio.F90: what ESIO's users do, from Fortran: entries of docs/esio.md name subroutines of this and tests/capi/esio.c.
program esio
  use, intrinsic :: iso_fortran_env
  use penstock
  use ranks
  implicit none
  integer, parameter :: ag = 5, cg = 6
  integer :: bg, ierr
  character(len=:), allocatable :: folder
  type(penstock_decomposition) :: field, plane, line, vectors  ! established once, used by every file

  call begin("esio")
  folder = named("folder")
  call empty_folder(folder)
  call establish()
  call files()
  call restarts("", "restart")
  call restarts("hdf5/two_phase:placement=parts,parts=2", "set")
  call wrong_restarts()
  call penstock_free(field)
  call penstock_free(plane)
  call penstock_free(line)
  call penstock_free(vectors)
  call empty_folder(folder)
  call finish()

contains

  ! esio_line_establish, esio_plane_establish, esio_field_establish, and their _established.
  subroutine establish()
    integer :: start(3), count(3)
    bg = 4 * size_of_world
    call penstock_block([ag, bg, cg], [1, 4 * rank + 1, 1], [ag, 4, cg], field)
    call penstock_block([ag, bg], [1, 4 * rank + 1], [ag, 4], plane)
    call penstock_block([bg], [4 * rank + 1], [4], line)
    call penstock_block([3, ag, bg, cg], [1, 1, 4 * rank + 1, 1], [3, ag, 4, cg], vectors)
    call check(penstock_elements(field) == cg * 4 * ag .and. penstock_elements(line) == 4, "elements")
    call check(penstock_elements(vectors) == 3 * penstock_elements(field), "elements of vectors")
    call penstock_box(field, start, count)
    call check(all(start == [1, 4 * rank + 1, 1]) .and. all(count == [ag, 4, cg]), "the numbers of a field")
  end subroutine

  ! This rank's part of the vectors.
  function velocity() result(u)
    real(real64) :: u(3, ag, 4, cg)
    integer :: n, a, b, c
    do concurrent(n=1:3, a=1:ag, b=1:4, c=1:cg)
      u(n, a, b, c) = (((c - 1) * bg + 4 * rank + b - 1) * ag + a - 1) * 3 + n - 1
    end do
  end function

  ! esio_attribute_write and _writev, esio_string_set, esio_*_write and _writev with strides and comments.
  subroutine write_file(f)
    type(penstock_file), intent(in) :: f
    real(real64) :: u(3, ag, 4, cg)
    real(real32) :: wide(ag + 2, 4)
    integer :: numbers(8), i
    u = velocity()
    wide = -1
    wide(1:ag, :) = real(u(1, :, :, 1))
    numbers = [(8 * rank + i, i=0, 7)]
    call penstock_put(f, "u", u, vectors, comment="velocity in wall units")
    call penstock_put(f, "w", u(3, :, :, :), shape=[ag, bg, cg], start=[1, 4 * rank + 1, 1])
    call penstock_put(f, "wall", wide(1:ag, :), plane)
    call penstock_put(f, "spread", numbers(1:8:2), line)
    call penstock_attribute(f, "/", "program", "esio")
    call penstock_attribute(f, "/", "time", 1.5d0)
    call penstock_attribute(f, "wall", "normal", [0, 1, 0])
  end subroutine

  ! esio_*_size and _sizev, esio_*_read and _readv, esio_attribute_read and _readv, _sizev, esio_string_get.
  subroutine read_file(f)
    type(penstock_file), intent(in) :: f
    integer(int64), allocatable :: shape(:)
    integer(int64) :: count
    real(real64) :: u(3, ag, 4, cg), expected(3, ag, 4, cg), scattered(2, ag, 4, cg), time
    real(real32) :: flat(ag, 4)
    integer :: type, numbers(4), normal(3), status, i
    character(len=30) :: comment
    call penstock_describe(f, "u", shape=shape, type=type)
    call check(type == PENSTOCK_DOUBLE .and. all(shape == [3, ag, bg, cg]), "the size of vectors")
    call penstock_describe(f, "nothing", shape=shape, ierr=status)
    call check_status(status, PENSTOCK_NOT_FOUND, "the size of nothing")
    scattered = 0
    call penstock_get(f, "u", u, vectors)
    call penstock_get(f, "w", scattered(1, :, :, :), field)
    call penstock_get(f, "wall", flat, shape=[ag, bg], start=[1, 4 * rank + 1])
    call penstock_get(f, "spread", numbers, line)
    call penstock_commit(f)
    expected = velocity()
    call check(all(u == expected), "vectors")
    call check(all(scattered(1, :, :, :) == expected(3, :, :, :)) .and. all(scattered(2, :, :, :) == 0), "with strides")
    call check(all(flat == real(expected(1, :, :, 1))), "a plane")
    call check(all(numbers == [(8 * rank + 2 * i, i=0, 3)]), "a line")
    call penstock_attribute_get(f, "u", "comment", comment)
    call check(comment == "velocity in wall units", "a comment")
    call check(penstock_attribute_text(f, "u", "comment") == comment, "a comment of any length")
    call penstock_attribute_get(f, "/", "time", time)
    call penstock_attribute_info(f, "wall", "normal", type, count)
    call check(type == PENSTOCK_INT32 .and. count == 3, "the size of an attribute")
    call penstock_attribute_get(f, "wall", "normal", normal)
    call check(time == 1.5d0 .and. all(normal == [0, 1, 0]), "attributes")
  end subroutine

  ! esio_file_create without replacing a file, esio_file_path, esio_file_flush, esio_file_close, esio_file_open.
  subroutine files()
    type(penstock_file) :: f
    call penstock_create(world, folder//"/a.h5", f)
    call check(index(penstock_path(f), "/a.h5") > 0, "path")
    call write_file(f)
    call penstock_commit(f)
    call penstock_attribute(f, "/", "program", "overwritten")
    call penstock_close(f)
    call penstock_open(world, folder//"/a.h5", f)
    call read_file(f)
    call check(penstock_attribute_text(f, "/", "program") == "overwritten", "an attribute that was written again")
    call penstock_close(f)
    call penstock_open(world, folder//"/absent.h5", f, ierr=ierr)
    call check_status(ierr, PENSTOCK_NOT_FOUND, "a file that is not there")
    call check_said("absent.h5")
  end subroutine

  logical function there(name)
    character(*), intent(in) :: name
    inquire (file=folder//"/"//name, exist=there)
  end function

  character function digit(k)
    integer, intent(in) :: k
    digit = achar(iachar("0") + k)
  end function

  ! esio_file_clone, esio_file_close_restart and esio_rename: constant metadata once, restart files with a retention
  ! count.
  subroutine restarts(plan, stem)
    character(*), intent(in) :: plan, stem
    type(penstock_file) :: f
    character(len=:), allocatable :: template, name
    integer :: step, k, found, grid(4)
    template = folder//"/template.h5"
    call penstock_create(world, template, f)
    call penstock_put(f, "grid", [0, 1, 4, 9])
    call penstock_attribute(f, "/", "title", "constant")
    call penstock_close(f)
    do step = 1, 5
      call penstock_clone(world, template, folder//"/uncommitted.h5", f, plan)
      call write_file(f)
      call penstock_attribute(f, "/", "step", step)
      call penstock_close_restart(f, folder//"/"//stem//"#.h5", 3)
      call wait_for_all()
      call check(.not. there("uncommitted.h5"), "what was not committed has no name")
      do k = 0, 3
        name = stem//digit(k)//".h5"
        call check(there(name) .eqv. k < min(step, 3), "which restart files there are: "//name)
        if (.not. there(name)) cycle
        call penstock_open(world, folder//"/"//name, f)
        call penstock_attribute_get(f, "/", "step", found)
        call penstock_get(f, "grid", grid)
        call read_file(f)
        call penstock_close(f)
        call check(found == step - k .and. all(grid == [0, 1, 4, 9]), "what is in "//name)
      end do
    end do
    call penstock_open_latest(world, folder//"/"//stem//"*.h5", f)
    call check(index(penstock_path(f), stem//"0.h5") > 0, "the latest")
    call penstock_close(f)
    ! A file with a name of its own becomes the newest.
    call penstock_reopen(world, template, f)
    call penstock_close_restart(f, folder//"/"//stem//"#.h5", 3)
    call penstock_open(world, folder//"/"//stem//"0.h5", f)
    call check(penstock_count(f) == 1 .and. penstock_attribute_text(f, "/", "title") == "constant", "what was renamed")
    call penstock_close(f)
    call check(.not. there("template.h5"), "its name is gone")
  end subroutine

  ! What cannot be is the same error on all ranks.
  subroutine wrong_restarts()
    type(penstock_file) :: f
    call penstock_clone(world, folder//"/absent.h5", folder//"/x.h5", f, ierr=ierr)
    call check_status(ierr, PENSTOCK_NOT_FOUND, "a template that is not there")
    call penstock_clone(world, folder//"/restart0.h5", folder//"/x.h5", f, "hdf5/two_phase:placement=per_rank", ierr)
    call check_status(ierr, PENSTOCK_UNSUPPORTED, "a clone in parts of each rank")
    call penstock_create(world, folder//"/x.h5", f)
    call penstock_close_restart(f, folder//"/restart#.h5", merge(2, 0, rank == 0 .and. size_of_world > 1), ierr)
    call check_status(ierr, merge(PENSTOCK_MISMATCH, PENSTOCK_INVALID, size_of_world > 1), "how many are retained")
    call penstock_create(world, folder//"/x.h5", f)
    call penstock_close_restart(f, folder//"/restart.h5", 3, ierr)
    call check_status(ierr, PENSTOCK_INVALID, "a pattern without #")
    call check_said("#")
    call wait_for_all()
    call check(.not. there("x.h5") .and. there("restart0.h5"), "nothing has changed")
  end subroutine
end program
