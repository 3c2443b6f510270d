! checkpoint.f90: all calls of penstock in the solver. Local calls need no ierr: their failures make close fail.
module checkpoint
  use, intrinsic :: iso_fortran_env, only: int64
  use mpi_f08
  use penstock
  use plate
  implicit none

contains

  ! Collective; the same ierr on all ranks. The file is independent of the number of ranks.
  subroutine checkpoint_write(path, plan, p, ierr)
    character(*), intent(in) :: path, plan
    type(plate_type), intent(inout), target :: p
    integer, intent(out) :: ierr
    type(penstock_file) :: f
    call penstock_create(p%comm, path, f, plan, ierr=ierr)
    if (ierr /= PENSTOCK_OK) return
    call penstock_lend(f, "temperature", p%now(1:p%nx, 1:p%ny), shape=[p%n, p%n], start=[p%x0, p%y0])  ! no copy is made
    call penstock_attribute(f, "temperature", "units", "K")
    call penstock_attribute(f, "/", "step", p%step)
    call penstock_attribute(f, "/", "residual", p%residual)
    call penstock_attribute(f, "/", "time", p%time)
    call penstock_close(f, ierr)  ! the whole new file, or what was there before
  end subroutine

  ! Collective. Returns the size of the plate in the file.
  subroutine checkpoint_size(comm, path, n, ierr)
    type(MPI_Comm), intent(in) :: comm
    character(*), intent(in) :: path
    integer(int64), intent(out) :: n
    integer, intent(out) :: ierr
    type(penstock_file) :: f
    integer(int64), allocatable :: shape(:)
    n = 0
    call penstock_open(comm, path, f, ierr=ierr)
    if (ierr /= PENSTOCK_OK) return
    call penstock_describe(f, "temperature", shape=shape, ierr=ierr)
    if (ierr == PENSTOCK_OK) then
      n = shape(1)
      call penstock_close(f, ierr)
    else
      call penstock_abandon(f)  ! the same on all ranks: all of them know what is in the file
    end if
  end subroutine

  ! Collective. Fills a plate of that size.
  subroutine checkpoint_read(path, p, ierr)
    character(*), intent(in) :: path
    type(plate_type), intent(inout), target :: p
    integer, intent(out) :: ierr
    type(penstock_file) :: f
    call penstock_open(p%comm, path, f, ierr=ierr)
    if (ierr /= PENSTOCK_OK) return
    call penstock_get(f, "temperature", p%now(1:p%nx, 1:p%ny), shape=[p%n, p%n], start=[p%x0, p%y0])
    call penstock_attribute_get(f, "/", "step", p%step)
    call penstock_attribute_get(f, "/", "residual", p%residual)
    call penstock_attribute_get(f, "/", "time", p%time)
    call penstock_close(f, ierr)
  end subroutine
end module
