! streams.F90: a stream of bytes for each rank, of arrays of several types, read back at positions that count from 1.
program streams
  use, intrinsic :: iso_fortran_env
  use penstock
  use ranks
  implicit none
  type(penstock_stream) :: s
  character(len=:), allocatable :: path
  real(real64) :: x(4), y(2), apart(3)
  integer(int32) :: i
  integer(int64) :: got
  character(len=5) :: word
  integer :: ierr

  call begin("streams")
  path = named("streams.bin")
  x = [1, 2, 3, 4] + 10 * rank
  call penstock_stream_create(world, path, s, options="files=1")
  call penstock_stream_write(s, x)
  call penstock_stream_write(s, 7_int32)
  call penstock_stream_write(s, "hi   ")
  call penstock_stream_write(s, x(4:1:-2))
  call penstock_stream_write(s, x + 100)
  call check(penstock_stream_bytes(s, rank) == 32 + 4 + 5 + 16 + 32, "bytes while writing")
  call penstock_stream_close(s)

  call penstock_stream_open(world, path, s)
  call check(penstock_streams(s) == size_of_world, "how many streams")
  call check(penstock_stream_bytes(s, -1) == 89 * size_of_world, "bytes of all")
  call penstock_stream_read(s, rank, 1, x, got)
  call check(got == 32 .and. all(x == [1, 2, 3, 4] + 10 * rank), "an array")
  call penstock_stream_read(s, rank, 33_int64, i, got)
  call penstock_stream_read(s, rank, 37, word, got)
  call check(i == 7 .and. word == "hi", "a number and a text")
  call penstock_stream_read(s, size_of_world - 1 - rank, 42, y, got)
  call check(all(y == [4, 2] + 10 * (size_of_world - 1 - rank)), "what was a section")
  apart = -1
  call penstock_stream_read(s, rank, 42, apart(1:3:2), got)
  call check(all(apart == [4 + 10 * rank, -1, 2 + 10 * rank]), "into a section")
  call penstock_stream_read(s, rank, 82, y, got)
  call check(got == 8, "less than asked for, at the end")
  call penstock_stream_read(s, rank, 0, y, got, ierr)
  call check_status(ierr, PENSTOCK_INVALID, "pos")
  call check_said("pos is 0|from 1")
  call penstock_stream_close(s)
  call penstock_stream_close(s, ierr)
  call check_status(ierr, PENSTOCK_INVALID, "a stream that is not open")

  call wrong_write()
  call remove(path)
  call finish()

contains

  ! A write that fails on one rank makes close fail on all.
  subroutine wrong_write()
    call penstock_stream_create(world, path, s)
    if (rank == size_of_world - 1) call assumed_size(x)
    call penstock_stream_close(s, ierr)
    call check(ierr /= PENSTOCK_OK, "close fails")
    call penstock_stream_create(world, path, s)
    call penstock_stream_abandon(s)
  end subroutine

  subroutine assumed_size(a)
    real(real64), intent(in) :: a(*)
    call penstock_stream_write(s, a)
  end subroutine
end program
