! every_function.F90: the functions beside put and get do what penstock.h says, in Fortran's order and counted from 1.
program every_function
  use, intrinsic :: iso_fortran_env
  use, intrinsic :: iso_c_binding
  use penstock
  use ranks
  implicit none
  character(len=:), allocatable :: path
  integer :: ierr

  call begin("every_function")
  path = named("every.h5")
  call decompositions()
  call attributes()
  call inquiry()
  call grow()
  call restarts()
  call behind()
  call care()
  call communicators()
  call raw()
  call messages()
  call remove(path)
  call finish()

contains

  ! Every form writes "EXPECTED": element (i,j) of a (4, 3 * ranks) array is i + 10 j.
  subroutine decompositions()
    type(penstock_file) :: f
    type(penstock_decomposition) :: d
    integer :: i, j, columns, start(2), count(2)
    integer(int64) :: start8(2), count8(2)
    integer :: a(4, 3), b(4, 3), whole(4, 3 * size_of_world), from_runs(12 * size_of_world)
    integer, allocatable :: g(:, :)
    real(real64) :: wide(4, 3)
    columns = 3 * size_of_world
    whole = reshape([((i + 10 * j, i=1, 4), j=1, columns)], [4, columns])
    a = whole(:, 3 * rank + 1:3 * rank + 3)

    call penstock_create(world, path, f)
    call penstock_grid([4, columns], [1, size_of_world], rank, d)
    call check(penstock_elements(d) == 12, "a grid's elements")
    call penstock_box(d, start, count)
    call check(all(start == [1, 3 * rank + 1]) .and. all(count == [4, 3]), "a grid's box")
    call penstock_put(f, "grid", a, d)
    call penstock_free(d)
    ! Two processes in the first dimension, which runs fastest.
    call penstock_grid([5_int64, 7_int64], [2_int64, int(size_of_world, int64)], rank, d)
    call penstock_box(d, start8, count8)
    call check(start8(1) == merge(1, 4, mod(rank, 2) == 0) .and. count8(1) == merge(3, 2, mod(rank, 2) == 0), &
               "a grid of 2")
    call check(penstock_elements(d) == product(count8), "the box is what the library has cut")
    call penstock_free(d)
    call penstock_block([6_int64, 5 * 2_int64**30], [1_int64, 4 * 2_int64**30 + 1], [6_int64, 2_int64**30], d)
    call check(penstock_elements(d) == 6 * 2_int64**30, "more elements than an int32 counts")
    call penstock_box(d, start8, count8)
    call check(start8(2) == 4 * 2_int64**30 + 1, "a start beyond int32")
    call penstock_box(d, start, count, ierr)
    call check_status(ierr, PENSTOCK_INVALID, "a box that int32 cannot tell")
    call check_said("integer(int64)")
    call penstock_free(d)

    ! The first row and the others, as two boxes in a list; and odd and even elements, as runs of one.
    call penstock_boxes([4, columns], reshape([1, 3 * rank + 1, 2, 3 * rank + 1], [2, 2]), &
                        reshape([1, 3, 3, 3], [2, 2]), d)
    call check(penstock_elements(d) == 12, "boxes")
    call penstock_put(f, "boxes", [a(1, :), a(2:4, :)], d)
    call penstock_free(d)
    call penstock_runs([4, columns], [(12 * rank + i, i=1, 11, 2), (12 * rank + i, i=2, 12, 2)], [(1, i=1, 12)], d)
    from_runs(:12) = reshape(a, [12])
    call penstock_put(f, "runs", [from_runs(1:11:2), from_runs(2:12:2)], d)
    call penstock_free(d)
    allocate (g(4, rank), source=rank)
    call penstock_ragged(rank, d, [4])
    call penstock_put(f, "ragged", g, d)
    call penstock_free(d)
    call penstock_ragged(int(rank, int64), d)
    call penstock_put(f, "ragged scalars", g(1, :), d)
    call penstock_free(d)
    call penstock_per_rank([4], d)
    call penstock_put(f, "per rank", a(:, 1), d)
    call penstock_put(f, "per rank strided", transpose(a(1:3, :)), d, ierr=ierr)
    call check_status(ierr, PENSTOCK_MISMATCH, "per rank: another shape")
    call penstock_abandon(f)

    call penstock_create(world, path, f)
    call penstock_put(f, "per rank strided", whole(:, 1 + rank), d)
    call penstock_free(d)
    call penstock_replicated([4, columns], d)
    call penstock_put(f, "replicated", whole, d)
    call penstock_free(d)
    call penstock_grid([4, columns], [1, size_of_world], rank, d)
    call penstock_put(f, "grid", a, d)
    call penstock_free(d)
    call penstock_boxes([4, columns], reshape([1, 3 * rank + 1, 2, 3 * rank + 1], [2, 2]), &
                        reshape([1, 3, 3, 3], [2, 2]), d)
    call penstock_put(f, "boxes", [a(1, :), a(2:4, :)], d)
    call penstock_free(d)
    call penstock_runs([4, columns], [(12 * rank + i, i=1, 11, 2), (12 * rank + i, i=2, 12, 2)], [(1, i=1, 12)], d)
    call penstock_put(f, "runs", [from_runs(1:11:2), from_runs(2:12:2)], d)
    call penstock_free(d)
    call penstock_ragged(rank, d, [4])
    call penstock_put(f, "ragged", g, d)
    call penstock_free(d)
    call penstock_close(f)

    call penstock_open(world, path, f)
    call penstock_get(f, "boxes", b, [4, columns], [1, 3 * rank + 1])
    call penstock_get(f, "replicated", whole)
    call penstock_commit(f)
    call check(all(b == a), "boxes")
    call penstock_get(f, "runs", b, [4, columns], [1, 3 * rank + 1])
    call penstock_get(f, "per rank strided", start, [4, size_of_world], [1, 1], ierr=ierr)
    call check_status(ierr, PENSTOCK_MISMATCH, "rank")
    call penstock_abandon(f)
    call penstock_open(world, path, f)
    call penstock_get(f, "runs", b, [4, columns], [1, 3 * rank + 1])
    call penstock_get_widened(f, "runs", wide, [4, columns], [1_int64, int(3 * rank + 1, int64)])
    deallocate (g)
    allocate (g(4, size_of_world * (size_of_world - 1) / 2))
    call penstock_get(f, "ragged", g)
    call penstock_close(f)
    call check(all(b == a), "runs")
    call check(all(wide == a), "widened")
    call check(all(g == spread([((i, j=1, i), i=0, size_of_world - 1)], 1, 4)), "ragged rows follow the ranks")
  end subroutine

  subroutine attributes()
    type(penstock_file) :: f
    integer(int64) :: count
    integer :: type, length, i4(3)
    integer(int8) :: i1
    real(real32) :: r4(2)
    complex(real64) :: z
    character(len=8) :: words(2), word
    call penstock_create(world, path, f)
    call penstock_put(f, "group/t", [1.0, 2.0], comment="of Kelvin  ", dims=["x"])
    call penstock_put(f, "area", reshape([1.0, 2.0, 3.0, 4.0], [2, 2]), dims=["x   ", "long"])
    call penstock_put(f, "mixed", [1.0], shape=[int(size_of_world, int64)], start=[rank + 1])
    call penstock_put(f, "mixed too", [1.0], shape=[size_of_world], start=[int(rank + 1, int64)])
    call penstock_group(f, "empty")
    call penstock_attribute(f, "/", "title", "a title   ")
    call penstock_attribute(f, "/", "empty", "")
    call penstock_attribute(f, "group/t", "words", ["one  ", "three"])
    call penstock_attribute(f, "group/t", "i4", [1, 2, 3])
    call penstock_attribute(f, "group/t", "every other", [real(real32) :: 1, 2, 3, 4])
    call penstock_attribute(f, "group/t", "i1", 5_int8)
    call penstock_attribute(f, "group/t", "u2", 7_int16, as=PENSTOCK_UINT16)
    call penstock_attribute(f, "group", "z", (1d0, 2d0))
    call penstock_close(f)
    call penstock_open(world, path, f)
    call check(penstock_attribute_text(f, "/", "title") == "a title" .and. &
               len(penstock_attribute_text(f, "/", "title")) == 7, "text")
    call check(len(penstock_attribute_text(f, "/", "empty")) == 0, "a text of nothing")
    call check(penstock_attribute_text(f, "group/t", "comment") == "of Kelvin", "comment")
    call check(penstock_dimension(f, "group/t", 1) == "x" .and. penstock_dimension(f, "area", 1) == "x" .and. &
               penstock_dimension(f, "area", 2) == "long", "names of dimensions")
    call check(penstock_dimension(f, "area", 3) == "" .and. penstock_dimension(f, "mixed", 1) == "", &
               "no names of dimensions")
    word = "????????"
    call penstock_attribute_get(f, "/", "title", word)
    call check(word == "a title", "a text of a fixed length")
    call penstock_attribute_get(f, "group/t", "words", words)
    call check(words(1) == "one" .and. words(2) == "three", "texts")
    call penstock_attribute_get(f, "group/t", "i4", i4(3:1:-1))
    call check(all(i4 == [3, 2, 1]), "into a section")
    call penstock_attribute_get(f, "group/t", "i1", i1)
    call penstock_attribute_get(f, "group", "z", z)
    call check(i1 == 5 .and. z == (1, 2), "scalars")
    call penstock_attribute_info(f, "group/t", "words", type, count, length)
    call check(type == PENSTOCK_TEXT(5) .and. count == 2 .and. length == 5, "info of texts")
    call penstock_attribute_info(f, "group/t", "u2", type, count)
    call check(type == PENSTOCK_UINT16 .and. count == -1, "info of a scalar")
    call penstock_attribute_get(f, "group/t", "i4", r4, ierr=ierr)
    call check_status(ierr, PENSTOCK_MISMATCH, "another number")
    call penstock_close(f)
  end subroutine

  subroutine inquiry()
    type(penstock_file) :: f
    integer(int64), allocatable :: shape(:)
    integer :: type, length
    logical :: unlimited
    call penstock_create(world, path, f, "hdf5/two_phase:writers=1")
    call check(index(penstock_plan(f), "hdf5/two_phase") == 1, "plan")
    call penstock_capture_bytes(f, 100000)
    call penstock_put(f, "b", [1, 2, 3])
    call penstock_unlimited(f, "b")
    call penstock_dataset_option(f, "rounded", "type=f32")
    call penstock_put(f, "rounded", [1.0d0, 2.0d0])
    call penstock_put(f, "a", reshape(["ab", "cd", "ef", "gh", "ij", "kl"], [3, 2]))
    call penstock_put(f, "c", 1.5d0)
    call penstock_close(f)
    call penstock_open(world, path, f)
    call penstock_describe(f, "rounded", type=type)
    call check(type == PENSTOCK_FLOAT, "an option")
    call check(penstock_count(f) == 4 .and. penstock_name(f, 1) == "a" .and. penstock_name(f, 3_int64) == "c", "names")
    call check(index(penstock_path(f), path) > 0, "path")
    call check(penstock_warnings(f) == "", "warnings: "//penstock_warnings(f))
    call penstock_describe(f, "a", shape, type, length, unlimited)
    call check(all(shape == [3, 2]) .and. type == PENSTOCK_TEXT(2) .and. length == 2 .and. .not. unlimited, &
               "describe a")
    call penstock_describe(f, "b", shape=shape, unlimited=unlimited, type=type)
    call check(size(shape) == 1 .and. shape(1) == 3 .and. unlimited .and. type == PENSTOCK_INT32, "describe b")
    call penstock_describe(f, "c", shape)
    call check(size(shape) == 0, "describe a scalar")
    call penstock_close(f)
  end subroutine

  ! The last dimension of a dataset grows; holes are zeros where that is asked for.
  subroutine grow()
    type(penstock_file) :: f
    integer :: all_of_it(2, 4)
    call penstock_create(world, path, f)
    call penstock_unlimited(f, "series")
    call penstock_partial(f, .true.)
    call penstock_xdmf(f, .false.)
    call penstock_conventions(f, "")
    if (rank == 0) call penstock_put(f, "series", reshape([1, 2], [2, 1]), [2, 1], [1, 1])
    call penstock_close(f)
    call penstock_reopen(world, path, f)
    call penstock_partial(f, .true.)
    if (rank == size_of_world - 1) call penstock_put(f, "series", reshape([7, 8], [2, 1]), [2, 4], [1, 4])
    call penstock_close(f)
    call penstock_open(world, path, f)
    call penstock_get(f, "series", all_of_it)
    call penstock_close(f)
    call check(all(all_of_it == reshape([1, 2, 0, 0, 0, 0, 7, 8], [2, 4])), "a dataset that grew")
    call penstock_reopen(world, path, f)
    if (rank == 0) call penstock_remove(f, "series ")
    call penstock_put(f, "other", 1)
    call penstock_close(f)
    call penstock_open(world, path, f)
    call check(penstock_count(f) == 1 .and. penstock_name(f, 1) == "other", "a dataset that was removed")
    call penstock_close(f)
  end subroutine

  ! A template's contents in each of three restart files, of which two are kept.
  subroutine restarts()
    type(penstock_file) :: f
    integer :: step, table(3), kept
    call penstock_create(world, path, f)
    call penstock_put(f, "table", [1, 2, 3])
    call penstock_close(f)
    do step = 1, 3
      call penstock_clone(world, path, named("uncommitted.h5"), f)
      call penstock_put(f, "step", step)
      call penstock_close_restart(f, named("restart#.h5"), 2)
    end do
    do step = 0, 1
      call penstock_open(world, named("restart"//achar(48 + step)//".h5"), f)
      call penstock_get(f, "table", table)
      call penstock_get(f, "step", kept)
      call penstock_close(f)
      call check(all(table == [1, 2, 3]) .and. kept == 3 - step, "a restart file")
      call remove(named("restart"//achar(48 + step)//".h5"))
    end do
    call penstock_open(world, named("restart2.h5"), f, ierr=ierr)
    call check_status(ierr, PENSTOCK_NOT_FOUND, "only two are kept")
    call penstock_close_restart(f, "x#.h5", 2_int64, ierr)
    call check_status(ierr, PENSTOCK_INVALID, "a file that is not open")
  end subroutine

  ! A commit in three steps.
  subroutine behind()
    type(penstock_file) :: f
    real(real64), asynchronous :: t(100)
    real(real64) :: back(100)
    logical :: done
    t = rank
    call penstock_create(world, path, f)
    call penstock_lend(f, "t", t, [100 * size_of_world], [100 * rank + 1])
    call penstock_commit_start(f)
    done = .false.
    do while (.not. done)
      call penstock_commit_test(f, done)
    end do
    call penstock_commit_wait(f)
    call penstock_close(f)
    call penstock_open(world, path, f)
    call penstock_get(f, "t", back, [100 * size_of_world], [100 * rank + 1])
    call penstock_commit_start(f)
    call check(all(back == rank), "gets are filled by commit_start")
    call penstock_commit_wait(f)
    call penstock_close(f)
  end subroutine

  subroutine care()
    type(penstock_file) :: f
    call penstock_create(world, path, f)
    call penstock_put(f, "t", spread(7777d0, 1, 1000))
    call penstock_close(f)
    call penstock_verify(world, path)
    call penstock_copy(world, path, named("copy.nc"))
    call penstock_verify(world, named("copy.nc"))
    call penstock_repair(world, path)
    call penstock_seal(world, path)
    call wait_for_all()
    if (rank == 0) call damage(7777d0)
    call wait_for_all()
    call penstock_verify(world, path, ierr)
    call check_status(ierr, PENSTOCK_DAMAGED, "verify")
    call penstock_seal(world, path, force=.true.)
    call penstock_verify(world, path)
    call penstock_open_latest(world, named("copy.n*"), f)
    call check(index(penstock_path(f), "copy.nc") > 0, "the latest")
    call penstock_close(f)
    call remove(named("copy.nc"))
  end subroutine

  ! Changes one of the numbers VALUE that are in the file.
  subroutine damage(value)
    real(real64), intent(in) :: value
    real(real64), allocatable :: words(:)
    integer :: unit, bytes, at
    open (newunit=unit, file=path, access="stream", form="unformatted")
    inquire (unit, size=bytes)
    allocate (words(bytes / 8))
    read (unit) words
    at = findloc(words, value, 1)
    call check(at > 0, "the number is in the file")
    write (unit, pos=8 * (at + 500) + 1) value + 1
    close (unit)
  end subroutine

  subroutine communicators()
    type(penstock_file) :: f
    integer :: handle, alone(3)
#if PENSTOCK_HAVE_MPI
    handle = world%mpi_val
#else
    handle = world
#endif
    call penstock_create(handle, path, f)
    call penstock_put(f, "a", [rank, 1], [2 * size_of_world], [2 * rank + 1])
    call penstock_close(f)
    call penstock_verify(handle, path)
    if (rank == size_of_world - 1) then
      call penstock_verify(path)
      call penstock_create(named("alone.h5"), f)
      call penstock_put(f, "a", [1, 2, 3])
      call penstock_close(f)
      call penstock_open(named("alone.h5"), f)
      call penstock_get(f, "a", alone)
      call penstock_close(f)
      call check(all(alone == [1, 2, 3]), "a file of one process")
    end if
    call remove(named("alone.h5"))
  end subroutine

  ! The C interface itself.
  subroutine raw()
    use penstock_c, only: c_open => penstock_open, c_count => penstock_count, c_close => penstock_close, &
                          penstock_comm_of
    type(c_ptr) :: file
#if PENSTOCK_HAVE_MPI
    ierr = c_open(penstock_comm_of(world%mpi_val), path//c_null_char, file=file)
#else
    ierr = c_open(penstock_comm_of(world), path//c_null_char, file=file)
#endif
    call check_ok(ierr, "the raw open")
    call check(c_count(file) == 1, "the raw count")
    call check_ok(c_close(file), "the raw close")
  end subroutine

  subroutine messages()
    type(penstock_file) :: f
    call check(penstock_status_name(PENSTOCK_NO_SPACE) == "no space", &
               "a status' name: "//penstock_status_name(PENSTOCK_NO_SPACE))
    call penstock_set_timeout(600.0)
    call penstock_set_timeout(600.0d0, ierr)
    call check_ok(ierr, "a timeout")
    call penstock_open(world, "", f, ierr=ierr)
    call check(ierr /= PENSTOCK_OK .and. len(penstock_message()) > 10, "a message")
  end subroutine
end program
