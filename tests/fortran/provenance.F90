! provenance.F90: where a file comes from, stored by a Fortran program and read back as attributes.
program provenance
  use, intrinsic :: iso_fortran_env
  use penstock
  use ranks
  implicit none
  integer :: ierr

  call begin("provenance")
  call stored(named("p.h5"))
  call stored(named("p.nc"))
  call wrong_calls()
  call finish()

contains

  subroutine stored(path)
    character(*), intent(in) :: path
    character(*), parameter :: keys(9) = [character(len=12) :: "user", "host", "date", "machine", "directory", &
                                          "command_line", "penstock", "hdf5", "mpi"]
    type(penstock_file) :: f
    character(len=:), allocatable :: text, input
    character(len=20) :: mine
    integer(int64), allocatable :: shape(:)
    integer(int8), allocatable :: bytes(:)
    integer :: i, type
    input = repeat("gamma = 1.4"//new_line("a"), 5000)
    write (mine, '(a,i0)') "of process ", rank
    call penstock_create(world, path, f)
    call penstock_put(f, "a", 1)
    call penstock_provenance(f, "code", mine)  ! as any text, without the blanks at its end
    call penstock_provenance(f, "input", input)
    if (rank == 0) call penstock_provenance(f, "compiler", compiler_version())
    call penstock_provenance(f, "empty", "", ierr)
    call check_ok(ierr, "an empty text")
    call penstock_provenance_collect(f)
    call penstock_close(f)

    call penstock_open(world, path, f)
    call check(penstock_attribute_text(f, "provenance", "code") == "of process 0", "process 0 counts")
    call check(len(penstock_attribute_text(f, "provenance", "code")) == 12, "without blanks")
    call check(penstock_attribute_text(f, "provenance", "compiler") == trim(compiler_version()), "the compiler")
    do i = 1, size(keys)
      text = penstock_attribute_text(f, "provenance", trim(keys(i)), ierr)
      call check_ok(ierr, trim(keys(i)))
      call check(len(text) > 0, "something is known of "//trim(keys(i)))
      if (keys(i) == "date") call check(len(text) == 20 .and. text(11:11) == "T" .and. text(20:20) == "Z", &
                                        "a date: "//text)
      if (keys(i) == "command_line") call check(index(text, "fortran_provenance") > 0, "the command line: "//text)
    end do
    call penstock_describe(f, "provenance/input", shape=shape, type=type)
    call check(type == PENSTOCK_UINT8 .and. size(shape) == 1 .and. shape(1) == len(input), &
               "a long text is a dataset of bytes")
    allocate (bytes(shape(1)))
    call penstock_get(f, "provenance/input", bytes, as=PENSTOCK_UINT8)
    call penstock_close(f)
    call check(all(transfer(input, bytes) == bytes), "a long text")
    call remove(path)
  end subroutine

  ! With ierr on the rank itself, without at close, on all.
  subroutine wrong_calls()
    type(penstock_file) :: f, closed
    call penstock_provenance(closed, "code", "x", ierr)
    call check_status(ierr, PENSTOCK_INVALID, "a file that is not open")
    call check_said("penstock_provenance|not open|penstock_create")
    call penstock_provenance_collect(closed, ierr)
    call check_status(ierr, PENSTOCK_INVALID, "a file that is not open")
    call check_said("penstock_provenance_collect|not open")
    call penstock_create(world, named("p.h5"), f)
    call penstock_provenance(f, "input", "a = 1"//achar(0)//"b = 2", ierr)
    call check_status(ierr, PENSTOCK_INVALID, "a text that would be cut")
    call check_said("penstock_provenance 'input'|character 6|NUL")
    call penstock_abandon(f)
    call penstock_create(world, named("p.h5"), f)
    call penstock_put(f, "a", 1)
    if (rank == size_of_world - 1) call penstock_provenance(f, "", "no key")
    call penstock_close(f, ierr)
    call check_status(ierr, PENSTOCK_INVALID, "a key of nothing")
  end subroutine
end program
