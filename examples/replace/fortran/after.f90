! after.f90: output as one file of all processes, readable on any number of processes and by h5dump, h5py, ParaView.
module output
  use domain
  use penstock
  implicit none
contains
  subroutine write_output(step)
    integer, intent(in) :: step
    type(penstock_file) :: f
    call penstock_create(comm, name_of(step), f)
    call penstock_put(f, 'rho', rho(1:nx, 1:ny), shape=[gx, gy], start=[x0 + 1, y0 + 1])
    call penstock_attribute(f, '/', 'time', time)
    call penstock_close(f)
  end subroutine

  subroutine read_output(step)
    integer, intent(in) :: step
    type(penstock_file) :: f
    call penstock_open(comm, name_of(step), f)
    call penstock_attribute_get(f, '/', 'time', time)
    call penstock_get(f, 'rho', rho(1:nx, 1:ny), shape=[gx, gy], start=[x0 + 1, y0 + 1])
    call penstock_close(f)
  end subroutine

  function name_of(step) result(name)
    integer, intent(in) :: step
    character(len=12) :: name
    write (name, '(a, i5.5, a)') 'out_', step, '.h5'
  end function
end module
