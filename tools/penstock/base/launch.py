"""launch.py: which program to start, under which mpiexec, in which environment."""

import os
import shutil
from enum import StrEnum
from pathlib import Path

from penstock.base.errors import UserError

# Open MPI chooses its MPI-IO library at launch: here any but its own, which knows no hints of ROMIO.
ROMIO = {"OMPI_MCA_io": "^ompio"}


class Mpi(StrEnum):
    """An MPI library, or none; each has a build of its own."""

    openmpi = "openmpi"
    mpich = "mpich"
    serial = "serial"


def bin_folder() -> Path | None:
    """The folder of the launcher that started us, which holds the programs of the same build; None outside a build."""
    folder = os.environ.get("PENSTOCK_BIN")
    return Path(folder) if folder else None


def packaged(mpi: Mpi) -> Path | None:
    """The prefix of what was built for MPI, by the installed package: inside of it, or the one that it names."""
    import importlib.util

    found = importlib.util.find_spec("penstock_native")
    for place in found.submodule_search_locations or [] if found else []:
        folder = Path(place) / mpi.value
        if (folder / "prefix").is_file():
            return (folder / (folder / "prefix").read_text().strip()).resolve()
        if folder.is_dir():
            return folder
    return None


def _here() -> Mpi:
    if bin_folder() is not None:
        return Mpi.openmpi
    return next((mpi for mpi in Mpi if packaged(mpi) is not None), Mpi.openmpi)


HERE = _here()  # what the programs at hand were built for


def program(name: str, mpi: Mpi) -> Path:
    """The program NAME built for MPI: beside our launcher (build/bin; build/mpich/bin, ...), else that of the installed
    package, else the one in PATH.
    """
    folder = bin_folder()
    if folder is not None:
        beside = folder if mpi is Mpi.openmpi else folder.parent / mpi.value / "bin"
        if (beside / name).is_file():
            return beside / name
        verb = "make build" if mpi is Mpi.openmpi else f"make build-{mpi.value}"
        raise UserError(f"there is no {beside / name}; '{verb}' makes it")
    prefixes = {each: prefix for each in Mpi if (prefix := packaged(each)) is not None}
    if mpi in prefixes and (prefixes[mpi] / "bin" / name).is_file():
        return prefixes[mpi] / "bin" / name
    if (found := shutil.which(name)) is not None:
        return Path(found)
    if prefixes and mpi not in prefixes:
        raise UserError(
            f"{name} for {mpi.value} is not in this installation, which is for --mpi {' or '.join(prefixes)}"
        )
    raise UserError(
        f"{name} for {mpi.value} is neither in this installation nor in PATH; 'make install' and 'make wheel' have all "
        "programs, and so has 'pip install -C cmake.define.PENSTOCK_PROGRAMS=ON -C cmake.define.PENSTOCK_BENCH=AUTO .'"
    )


def mpiexec(mpi: Mpi, ranks: int) -> list[str]:
    """The words before a program that start RANKS of it; none for a serial build."""
    if mpi is Mpi.serial:
        if ranks != 1:
            raise UserError(f"a serial build runs on 1 rank, not {ranks}")
        return []
    if in_allocation():
        return ["srun", f"--mpi={'pmix' if mpi is Mpi.openmpi else 'pmi2'}", "--ntasks", str(ranks), "--overlap"]
    # Debian keeps each flavour under its own name; elsewhere there is usually only one.
    launcher = shutil.which(f"mpiexec.{mpi.value}") or shutil.which("mpiexec")
    if launcher is None:
        raise UserError(f"neither mpiexec.{mpi.value} nor mpiexec is in PATH")
    return [launcher, "-n", str(ranks)]


def command(name: str, mpi: Mpi, ranks: int) -> list[str]:
    """The words that start RANKS of the program NAME built for MPI."""
    path = program(name, mpi)  # first, since it says most of what is missing
    return [*mpiexec(mpi, ranks), str(path)]


def in_allocation() -> bool:
    """Whether Slurm starts our ranks; PENSTOCK_LAUNCHER=mpiexec says that mpiexec does."""
    wanted = os.environ.get("PENSTOCK_LAUNCHER")
    if wanted not in (None, "", "srun", "mpiexec"):
        raise UserError(f"PENSTOCK_LAUNCHER={wanted}: srun or mpiexec")
    return wanted != "mpiexec" and "SLURM_JOB_ID" in os.environ and shutil.which("srun") is not None


def environment() -> dict[str, str]:
    """Ours, with the launcher settings of mpi.env where the user has not set them otherwise.

    Without PENSTOCK_PROFILE: an output profile is for the user's programs, not for ours.
    """
    lines = (Path(__file__).parents[1] / "mpi.env").read_text().splitlines()
    settings = dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    return settings | {name: value for name, value in os.environ.items() if name != "PENSTOCK_PROFILE"}
