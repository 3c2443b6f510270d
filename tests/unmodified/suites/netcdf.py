"""netcdf.py: the parallel tests of netCDF-C, linked to the parallel netCDF that is installed."""

from pathlib import Path

import sources
from suites.place import Place
from trial import Mpi, Suite, Trial

# As run_par_test.sh and run_par_tests.sh have them: programs, and on how many ranks each.
TESTS = {
    "nc_test4/tst_mode": (1,),
    "nc_test4/tst_mpi_parallel": (4,),
    "nc_test4/tst_parallel": (4,),
    "nc_test4/tst_parallel3": (4, 16),
    "nc_test4/tst_parallel4": (1, 2, 4, 8),
    "nc_test4/tst_parallel5": (4,),
    "nc_test4/tst_nc4perf": (4,),
    "nc_test4/tst_simplerw_coll_r": (1, 2, 4),
    "nc_test4/tst_parallel_zlib": (4,),
    "nc_test4/tst_parallel_compress": (1, 4),
    "nc_test4/tst_quantize_par": (4,),
    "nc_test4/tst_parallel6": (4,),
    "h5_test/tst_h_par": (1, 2, 4),
    "h5_test/tst_h_par_compress": (1, 2, 4),
}
INSTALLED = "/usr/lib/x86_64-linux-gnu/netcdf/mpi/include"
HDF5 = "/usr/include/hdf5/openmpi"


def suite(mpi: Mpi, place: Place) -> Suite:
    source, version = place.source("netcdf")
    folder = place.built("netcdf", mpi, lambda folder: build(source, folder, mpi))
    trials = [
        Trial(f"{Path(path).name} on {ranks}", [*mpi.start(ranks), str(folder / Path(path).name)], 180)
        for path, counts in TESTS.items()
        for ranks in counts
    ]
    notes = ("Debian's netCDF is without PnetCDF: nc_test's parallel tests, which need it, are left out",)
    return Suite(f"netcdf/{mpi.name}", version, mpi, trials, notes)


def build(source: Path, folder: Path, mpi: Mpi) -> None:
    """configure makes config.h, which the tests include."""
    features = ["shared", "dap", "libxml2", "byterange", "plugins"]
    sources.call(
        str(source / "configure"), f"CC={mpi.compiler()}", f"CPPFLAGS=-I{HDF5}",
        f"LDFLAGS=-L/usr/lib/x86_64-linux-gnu/hdf5/{mpi.suffix}", *(f"--disable-{feature}" for feature in features),
        cwd=folder, log=folder / "configure.log",
    )  # fmt: skip
    words = ["-O1", "-w", f"-I{folder}", f"-I{source / 'include'}", f"-I{INSTALLED}", f"-I{HDF5}"]
    libraries = ["-lnetcdf_mpi", f"-lhdf5_{mpi.suffix}_hl", f"-lhdf5_{mpi.suffix}", "-lm"]
    for path in TESTS:
        sources.call(mpi.compiler(), *words, str(source / f"{path}.c"), *libraries, "-o", Path(path).name, cwd=folder)
