! before.f90: output as a file per process, readable only by the same number of processes in the same places.
module output
  use domain
  implicit none
contains
  subroutine write_output(step)
    integer, intent(in) :: step
    integer :: unit
    open (newunit=unit, file=name_of(step), form='unformatted', status='replace')
    write (unit) gx, gy, x0, y0, nx, ny
    write (unit) time
    write (unit) rho(1:nx, 1:ny)
    close (unit)
  end subroutine

  subroutine read_output(step)
    integer, intent(in) :: step
    integer :: unit, header(6)
    open (newunit=unit, file=name_of(step), form='unformatted', status='old')
    read (unit) header
    if (any(header /= [gx, gy, x0, y0, nx, ny])) error stop 'the file is of another number of processes'
    read (unit) time
    read (unit) rho(1:nx, 1:ny)
    close (unit)
  end subroutine

  function name_of(step) result(name)
    integer, intent(in) :: step
    character(len=19) :: name
    write (name, '(a, i5.5, a, i5.5)') 'out_', step, '.dat', rank
  end function
end module
