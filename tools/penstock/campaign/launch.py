"""launch.py: which program to start, under which mpiexec, in which environment."""

import os
import shutil
from enum import StrEnum
from pathlib import Path

from penstock.errors import UserError


class Mpi(StrEnum):
    """An MPI library, or none; each has a build of its own."""

    openmpi = "openmpi"
    mpich = "mpich"
    serial = "serial"


def bin_folder() -> Path | None:
    """The folder of the launcher that started us, which holds the programs of the same build; None outside a build."""
    folder = os.environ.get("PENSTOCK_BIN")
    return Path(folder) if folder else None


def packaged() -> Path | None:
    """The folder of the installed package that has what was built for each MPI library, if it is installed."""
    import importlib.util

    found = importlib.util.find_spec("penstock_native")
    places = list(found.submodule_search_locations or []) if found else []
    return Path(places[0]) if places else None


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
    package = packaged()
    if package is not None and (package / mpi.value / "bin" / name).is_file():
        return package / mpi.value / "bin" / name
    found = shutil.which(name)
    if found is None:
        built = [other.value for other in Mpi if package and (package / other.value / "bin" / name).is_file()]
        there = f"; this installation has it for --mpi {' or '.join(built)}" if built else ""
        raise UserError(f"{name} for {mpi.value} is neither in PATH nor in the folder named by PENSTOCK_BIN{there}")
    return Path(found)


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


def in_allocation() -> bool:
    """Whether Slurm starts our ranks; PENSTOCK_LAUNCHER=mpiexec says that mpiexec does."""
    wanted = os.environ.get("PENSTOCK_LAUNCHER")
    if wanted not in (None, "", "srun", "mpiexec"):
        raise UserError(f"PENSTOCK_LAUNCHER={wanted}: srun or mpiexec")
    return wanted != "mpiexec" and "SLURM_JOB_ID" in os.environ and shutil.which("srun") is not None


def environment() -> dict[str, str]:
    """Ours, with the launcher settings of mpi.env where the user has not set them otherwise."""
    lines = (Path(__file__).parents[1] / "mpi.env").read_text().splitlines()
    settings = dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    return settings | dict(os.environ)
