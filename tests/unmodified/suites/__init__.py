"""suites: the projects whose tests run, a module for each; SUITES names them, by project and MPI library."""

from collections.abc import Callable
from functools import partial

from suites import e3sm, h5bench, hdf5, ior, mpich_io, netcdf, pnetcdf, python, romio
from suites.place import Place
from trial import MPICH, OMPIO, ROMIO, Suite

SUITES: dict[str, Callable[[Place], Suite]] = {
    f"{module.__name__.rpartition('.')[2]}/{mpi.name}": partial(module.suite, mpi)
    for module, libraries in (
        (hdf5, (OMPIO, MPICH)),
        (pnetcdf, (OMPIO, ROMIO)),
        (netcdf, (OMPIO,)),
        (romio, (OMPIO, ROMIO, MPICH)),
        (mpich_io, (OMPIO, ROMIO, MPICH)),
        (ior, (OMPIO,)),
        (e3sm, (OMPIO, ROMIO)),
        (h5bench, (OMPIO,)),
        (python, (OMPIO,)),
    )
    for mpi in libraries
}
