"""preload.py: libraries that a command gets by LD_PRELOAD: where ours are, how all ranks get them, signals, status."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from types import FrameType

from penstock.base import launch
from penstock.base.errors import UserError

LAUNCHERS = ("mpiexec", "mpirun", "srun", "orterun", "prterun")
NAMED = "OMPI_MCA_mca_base_env_list"  # what Open MPI takes to other nodes, beside what -x names, and never with it


def library(name: str, mpi: launch.Mpi | None = None) -> Path:
    """The path of our library NAME in the build or package that started us, or in an installation; where there are
    several, that of the build for MPI. UserError if none has it.
    """
    order = sorted(launch.Mpi, key=lambda one: one is not mpi)
    places = []
    if (folder := launch.bin_folder()) is not None:
        if mpi is not None and mpi is not launch.Mpi.openmpi:
            places.append(folder.parent / mpi.value / "lib" / name)
        places += [folder.parent / "lib" / name, folder.parent / "lib" / "penstock" / name]
        places += sorted(folder.parent.glob(f"lib*/*/penstock/{name}"))
    prefixes = [prefix for one in order if (prefix := launch.packaged(one)) is not None]
    for program in ("penstock", "penstock-info"):
        if (found := shutil.which(program)) is not None:
            prefixes.append(Path(found).resolve().parent.parent)
    for prefix in prefixes:
        places += [prefix / "lib" / name, prefix / "lib" / "penstock" / name, prefix / "lib64" / "penstock" / name]
        places += sorted(prefix.glob(f"lib/*/penstock/{name}"))
    for place in places:
        if place.is_file():
            return place.resolve()
    target = name.removeprefix("lib").removesuffix(".so")
    raise UserError(
        f"{name} is neither in the build nor in an installation of penstock: 'ninja -C build {target}' makes it"
    )


def preloaded(path: Path, last: bool = False) -> str:
    """LD_PRELOAD with the library PATH: before those that are there, or LAST."""
    if re.search(r"[\s:]", str(path)):
        raise UserError(f"{path}: LD_PRELOAD takes no path with a space or a colon in it")
    before = [word for word in re.split(r"[\s:]+", os.environ.get("LD_PRELOAD", "")) if word and word != str(path)]
    return ":".join([*before, str(path)] if last else [str(path), *before])


def starts_ranks(command: Sequence[str]) -> bool:
    """Whether COMMAND is that of a launcher of MPI."""
    return Path(command[0]).name.startswith(LAUNCHERS)


def with_ranks(command: Sequence[str], changes: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """COMMAND, and the CHANGES of its environment, so that ranks on other nodes get them too. MPICH's launchers and
    srun pass all on; Open MPI passes what is named, by -x for each program where the command has -x already.
    """
    named = os.environ.get(NAMED)
    if not starts_ranks(command):
        return list(command), dict(changes)
    if _has_x(command):
        own = [word for name in changes for word in ("-x", name)]
        words = [command[0], *own]
        for word in command[1:]:
            words += [word, *own] if word == ":" else [word]
        return words, dict(changes)
    return list(command), dict(changes) | {NAMED: ";".join([*([named] if named else []), *changes])}


def mpi_of(command: Sequence[str]) -> launch.Mpi | None:
    """The MPI library whose launcher begins COMMAND; None where the name does not say."""
    if not starts_ranks(command) or Path(command[0]).name.startswith("srun"):
        return None
    names = _names(command[0])
    if any("mpich" in name or "hydra" in name for name in names):
        return launch.Mpi.mpich
    return launch.Mpi.openmpi if any("openmpi" in name or "rterun" in name for name in names) else None


def _has_x(command: Sequence[str]) -> bool:
    """Whether COMMAND names variables for Open MPI by -x; srun's excludes nodes, and MPICH's launchers have none."""
    if Path(command[0]).name.startswith("srun") or mpi_of(command) is launch.Mpi.mpich:
        return False
    return any(word == "-x" and re.match(r"[A-Za-z_]\w*(=|$)", after) for word, after in pairwise(command))


def _names(launcher: str) -> list[str]:
    """LAUNCHER, and where its links lead."""
    found = shutil.which(launcher)
    return [Path(launcher).name] if found is None else [Path(launcher).name, *Path(found).resolve().parts[-2:]]


def run(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """The command's status; 128 and the signal's number where one ended it. Signals to us are its."""
    try:
        with _passing_signals() as pass_to:
            process = subprocess.Popen(command, env=environment)
            pass_to(process)
            status = process.wait()
    except OSError as error:
        status = 127 if isinstance(error, FileNotFoundError) else 126
        raise UserError(f"{command[0]}: {error.strerror}", status) from None
    return status if status >= 0 else 128 - status


@contextlib.contextmanager
def _passing_signals() -> Iterator[Callable[["subprocess.Popen[bytes]"], None]]:
    """Gives a function that names the process; what comes before it is named is passed on then."""
    process: subprocess.Popen[bytes] | None = None
    early: list[int] = []

    def passed(number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGINT:  # Ctrl-C reaches it by itself
            return
        if process is None:
            early.append(number)
        else:
            process.send_signal(number)

    def pass_to(started: "subprocess.Popen[bytes]") -> None:
        nonlocal process
        process = started
        for number in early:
            process.send_signal(number)

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
    kept = {number: signal.signal(number, passed) for number in numbers}
    try:
        yield pass_to
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
