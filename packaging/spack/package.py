"""package.py: Penstock for Spack, built from a source tree of yours.

Copy this file to packages/penstock/ of a Spack repository, then: spack dev-build --source-path SOURCE penstock@main
"""

from spack.package import *


class Penstock(CMakePackage):
    """Parallel arrays into one portable file, and back: HDF5, netCDF or raw, from C, C++, Fortran and Python."""

    has_code = True

    license("Apache-2.0")
    version("main")

    variant("mpi", default=True, description="Build with MPI and parallel HDF5")
    variant("fortran", default=True, description="Build the Fortran modules")
    variant("python", default=False, description="Build the Python package and the command penstock")
    variant("bench", default=True, description="Build penstock-bench")
    variant("uring", default=True, description="Keep several requests under way at once, by io_uring")
    variant("pnetcdf", default=False, when="+mpi", description="Engine pnetcdf")
    variant("netcdf", default=False, when="+mpi", description="Engine netcdf4")
    variant("adios2", default=False, when="+mpi", description="Engine adios2")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("fmt@9:")
    depends_on("nlohmann-json@3.11:")
    depends_on("libdeflate")
    depends_on("zstd")
    depends_on("lz4")
    depends_on("c-blosc")
    depends_on("zfp@1:")
    depends_on("cli11", when="+bench")
    depends_on("mpi", when="+mpi")
    depends_on("hdf5+mpi", when="+mpi")
    depends_on("hdf5~mpi", when="~mpi")
    depends_on("liburing", when="+uring")
    depends_on("parallel-netcdf", when="+pnetcdf")
    depends_on("netcdf-c+mpi", when="+netcdf")
    depends_on("adios2+mpi", when="+adios2")
    depends_on("python@3.9:", type="build", when="+fortran")
    with when("+python"):
        extends("python@3.11:")
        depends_on("py-nanobind", type="build")
        depends_on("py-numpy", type=("build", "run"))
        depends_on("py-h5py", type="run")
        depends_on("py-typer", type="run")
        depends_on("py-rich", type="run")
        depends_on("py-matplotlib", type="run")
        depends_on("py-jinja2", type="run")
        depends_on("py-mpi4py", type="run", when="+mpi")

    def cmake_args(self):
        args = [
            self.define_from_variant("PENSTOCK_MPI", "mpi"),
            self.define_from_variant("PENSTOCK_FORTRAN", "fortran"),
            self.define_from_variant("PENSTOCK_PYTHON", "python"),
            self.define_from_variant("PENSTOCK_BENCH", "bench"),
            self.define("PENSTOCK_TESTS", self.run_tests),
            self.define("PENSTOCK_EXAMPLES", False),
            self.define("PENSTOCK_HDF5_ROOT", self.spec["hdf5"].prefix),
        ]
        for variant, package, option in (
            ("pnetcdf", "parallel-netcdf", "PNETCDF"),
            ("netcdf", "netcdf-c", "NETCDF"),
            ("adios2", "adios2", "ADIOS2"),
        ):
            if self.spec.satisfies(f"+{variant}"):
                args.append(self.define(f"PENSTOCK_{option}_ROOT", self.spec[package].prefix))
        if self.spec.satisfies("+python"):
            args.append(self.define("PENSTOCK_PYTHON_DIR", python_platlib))
        return args
