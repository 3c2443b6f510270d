! ranks.F90: what the Fortran tests share: ranks, checks that are counted, file names. With or without MPI.
module ranks
  use, intrinsic :: iso_fortran_env
  use penstock
#if PENSTOCK_HAVE_MPI
  use mpi_f08
#endif
  implicit none
  private
  public :: begin, finish, check, check_ok, check_status, check_said, named, remove, empty_folder, wait_for_all, doze
  integer, public :: rank = 0, size_of_world = 1
#if PENSTOCK_HAVE_MPI
  type(MPI_Comm), public :: world
#else
  integer, public :: world = 0
#endif
  integer :: failed = 0
  character(len=:), allocatable :: program_name

contains

  subroutine begin(name)
    character(*), intent(in) :: name
    program_name = name
#if PENSTOCK_HAVE_MPI
    call MPI_Init()
    world = MPI_COMM_WORLD
    call MPI_Comm_rank(world, rank)
    call MPI_Comm_size(world, size_of_world)
#endif
  end subroutine

  ! Collective. Leaves with 1 where any check failed on any rank.
  subroutine finish()
    integer :: all
    all = failed
#if PENSTOCK_HAVE_MPI
    call MPI_Allreduce(failed, all, 1, MPI_INTEGER, MPI_SUM, world)
    call MPI_Finalize()
#endif
    if (rank == 0) print '(2a,i0,a,i0,a)', program_name, ": ", size_of_world, " ranks, ", all, " checks failed"
    if (all > 0) error stop 1
  end subroutine

  subroutine doze(milliseconds)
    use, intrinsic :: iso_c_binding
    integer, intent(in) :: milliseconds
    interface
      integer(c_int) function usleep(microseconds) bind(C)
        import c_int
        integer(c_int), value :: microseconds
      end function
    end interface
    if (usleep(1000_c_int * milliseconds) /= 0) print '(a)', "the sleep was interrupted"
  end subroutine

  subroutine wait_for_all()
#if PENSTOCK_HAVE_MPI
    call MPI_Barrier(world)
#endif
  end subroutine

  subroutine check(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    if (condition) return
    failed = failed + 1
    if (failed < 20) write (error_unit, '(a,i0,2a)') "rank ", rank, ": not so: ", what
  end subroutine

  subroutine check_status(ierr, wanted, what)
    integer, intent(in) :: ierr, wanted
    character(*), intent(in) :: what
    call check(ierr == wanted, what//": "//penstock_status_name(ierr)//", not "//penstock_status_name(wanted)//": "// &
               penstock_message())
  end subroutine

  subroutine check_ok(ierr, what)
    integer, intent(in) :: ierr
    character(*), intent(in) :: what
    call check_status(ierr, PENSTOCK_OK, what)
  end subroutine

  ! The last error's message has each of WORDS, which are separated by "|".
  subroutine check_said(words)
    character(*), intent(in) :: words
    character(len=:), allocatable :: rest
    integer :: at
    rest = words//"|"
    do while (len(rest) > 0)
      at = index(rest, "|")
      call check(index(penstock_message(), rest(:at - 1)) > 0, &
                 "the message has '"//rest(:at - 1)//"': "//penstock_message())
      rest = rest(at + 1:)
    end do
  end subroutine

  ! A file of this program on so many ranks.
  function named(name) result(path)
    character(*), intent(in) :: name
    character(len=:), allocatable :: path
    character(len=12) :: ranks_text
    write (ranks_text, '(i0)') size_of_world
    path = "fortran-"//program_name//"-"//trim(ranks_text)//"-"//name
  end function

  ! Collective.
  subroutine remove(path)
    character(*), intent(in) :: path
    integer :: unit
    call wait_for_all()
    if (rank == 0) then
      open (newunit=unit, file=path)
      close (unit, status="delete")
    end if
    call wait_for_all()
  end subroutine

  ! Collective. Makes it, or removes what is in it.
  subroutine empty_folder(path)
    character(*), intent(in) :: path
    integer :: status
    call wait_for_all()
    if (rank == 0) then
      status = 0
      call execute_command_line("rm -rf '"//path//"' && mkdir '"//path//"'", exitstat=status)
      call check(status == 0, "an empty folder "//path)
    end if
    call wait_for_all()
  end subroutine
end module
