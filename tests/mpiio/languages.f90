! languages.f90: mpif.h, `use mpi` and `use mpi_f08` write and read one file; languages FILE.
subroutine old(path, rank, ranks, good)
  implicit none
  include 'mpif.h'
  character(*), intent(in) :: path
  integer, intent(in) :: rank, ranks
  logical, intent(inout) :: good
  integer :: file, error, status(MPI_STATUS_SIZE), got
  integer(MPI_OFFSET_KIND) :: at
  double precision :: values(100), back(100)
  values = rank + 0.5d0
  call MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, error)
  good = good .and. error == MPI_SUCCESS
  at = 8 * 100 * rank
  call MPI_File_write_at_all(file, at, values, 100, MPI_DOUBLE_PRECISION, status, error)
  call MPI_Get_count(status, MPI_DOUBLE_PRECISION, got, error)
  good = good .and. got == 100
  call MPI_File_read_at(file, at, back, 100, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, error)
  good = good .and. all(back == values)
  call MPI_File_close(file, error)
  good = good .and. error == MPI_SUCCESS .and. ranks > 0
end subroutine old

subroutine module_mpi(path, rank, ranks, good)
  use mpi
  implicit none
  character(*), intent(in) :: path
  integer, intent(in) :: rank, ranks
  logical, intent(inout) :: good
  integer :: file, error, tile, status(MPI_STATUS_SIZE), got
  integer(MPI_OFFSET_KIND) :: at
  integer :: values(40), back(40)
  values = 1000 * rank + 7
  call MPI_Type_vector(10, 4, 4 * ranks, MPI_INTEGER, tile, error)
  call MPI_Type_commit(tile, error)
  call MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, error)
  at = 100000 + 16 * rank
  call MPI_File_set_view(file, at, MPI_INTEGER, tile, 'native', MPI_INFO_NULL, error)
  call MPI_File_write_all(file, values, 40, MPI_INTEGER, status, error)
  call MPI_Get_count(status, MPI_INTEGER, got, error)
  good = good .and. got == 40
  at = 0
  call MPI_File_read_at_all(file, at, back, 40, MPI_INTEGER, status, error)
  good = good .and. all(back == values)
  call MPI_File_close(file, error)
  call MPI_Type_free(tile, error)
  good = good .and. error == MPI_SUCCESS
end subroutine module_mpi

subroutine module_f08(path, rank, ranks, good)
  use mpi_f08
  implicit none
  character(*), intent(in) :: path
  integer, intent(in) :: rank, ranks
  logical, intent(inout) :: good
  type(MPI_File) :: file
  type(MPI_Status) :: status
  type(MPI_Request) :: request
  integer :: got
  integer(MPI_OFFSET_KIND) :: at
  real, asynchronous :: values(50)
  real :: back(50)
  values = 0.25 * rank
  call MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file)
  at = 200000 + 200 * rank
  call MPI_File_iwrite_at(file, at, values, 50, MPI_REAL, request)
  call MPI_Wait(request, status)
  call MPI_Get_count(status, MPI_REAL, got)
  good = good .and. got == 50
  call MPI_File_write_at_all_begin(file, at, values, 50, MPI_REAL)
  call MPI_File_write_at_all_end(file, values, status)
  call MPI_File_read_at_all(file, at, back, 50, MPI_REAL, MPI_STATUS_IGNORE)
  good = good .and. all(back == values)
  call MPI_File_close(file)
  good = good .and. ranks > 0
end subroutine module_f08

program languages
  use mpi
  implicit none
  character(4096) :: path
  integer :: rank, ranks, error
  logical :: good
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call get_command_argument(1, path)
  good = .true.
  call old(trim(path), rank, ranks, good)
  if (.not. good) print *, rank, 'mpif.h'
  call module_mpi(trim(path), rank, ranks, good)
  if (.not. good) print *, rank, 'use mpi'
  call module_f08(trim(path), rank, ranks, good)
  if (.not. good) print *, rank, 'use mpi_f08'
  call MPI_Allreduce(MPI_IN_PLACE, good, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, error)
  if (rank == 0) call execute_command_line('rm -f ' // trim(path))
  call MPI_Finalize(error)
  if (.not. good) stop 1
end program languages
