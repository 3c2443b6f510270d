"""run.py: which recorder a program gets, and how it gets it: by the environment, its command unchanged."""

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from types import FrameType

from penstock.base import launch
from penstock.base.errors import UserError

NAME = "libpenstock_profile.so"
PROBE_BYTES = 1 << 14  # about as much as the profile of a process
LAUNCHERS = ("mpiexec", "mpirun", "srun", "orterun", "prterun")


class Collector(StrEnum):
    darshan = "darshan"
    own = "own"


def own_library() -> Path:
    """Returns the path of our recorder in the build or package that started us, or in an installation; UserError if
    none has it.
    """
    places = []
    if (folder := launch.bin_folder()) is not None:
        places += [folder.parent / "lib" / NAME, folder.parent / "lib" / "penstock" / NAME]
        places += sorted(folder.parent.glob(f"lib*/*/penstock/{NAME}"))
    prefixes = [prefix for mpi in launch.Mpi if (prefix := launch.packaged(mpi)) is not None]
    for program in ("penstock", "penstock-info"):
        if (found := shutil.which(program)) is not None:
            prefixes.append(Path(found).resolve().parent.parent)
    for prefix in prefixes:
        places += [prefix / "lib" / NAME, prefix / "lib" / "penstock" / NAME, prefix / "lib64" / "penstock" / NAME]
        places += sorted(prefix.glob(f"lib/*/penstock/{NAME}"))
    for place in places:
        if place.is_file():
            return place.resolve()
    raise UserError(
        f"{NAME} is neither in the build nor in an installation of penstock: 'ninja -C build penstock_profile' makes it"
    )


def darshan_library() -> Path | None:
    """Darshan's runtime: named by DARSHAN_RUNTIME, in LD_LIBRARY_PATH, or known to the dynamic linker."""
    named = os.environ.get("DARSHAN_RUNTIME")
    if named:
        for place in (Path(named), Path(named) / "libdarshan.so", Path(named) / "lib" / "libdarshan.so"):
            if place.is_file():
                return place.resolve()
        raise UserError(f"DARSHAN_RUNTIME={named}: there is no libdarshan.so")
    for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":"):
        if folder and (Path(folder) / "libdarshan.so").is_file():
            return (Path(folder) / "libdarshan.so").resolve()
    tool = shutil.which("ldconfig", path=f"{os.environ.get('PATH', '')}:/sbin:/usr/sbin")
    if tool is None:
        return None
    known = subprocess.run([tool, "-p"], capture_output=True, text=True, check=False).stdout
    for line in known.splitlines():
        name, _, path = line.strip().partition(" => ")
        if name.startswith("libdarshan.so") and Path(path).is_file():
            return Path(path)
    return None


def settings(library: Path, folder: Path, collector: Collector, command: Sequence[str]) -> dict[str, str]:
    """The environment of the program."""
    before = os.environ.get("LD_PRELOAD", "")
    changes = {"LD_PRELOAD": f"{library}:{before}" if before else str(library)}
    ranks = Path(command[0]).name.startswith(LAUNCHERS)
    if collector is Collector.own:
        changes["PENSTOCK_PROFILE_DIR"] = str(folder)
    elif ranks:
        changes["DARSHAN_LOGFILE"] = str(folder / "run.darshan")
    else:
        changes |= {"DARSHAN_ENABLE_NONMPI": "1", "DARSHAN_LOGFILE": str(folder / "run.darshan")}
    # To other nodes Open MPI takes what is named here; MPICH's launchers and srun take all.
    if ranks and "-x" not in command and "OMPI_MCA_mca_base_env_list" not in os.environ:
        changes["OMPI_MCA_mca_base_env_list"] = ";".join(changes)
    return changes


def make_folder(folder: Path | None) -> Path:
    made = folder or Path(f"profile-{os.environ.get('SLURM_JOB_ID') or datetime.now(UTC).strftime('%Y%m%d-%H%M%S')}")
    try:
        made.mkdir(parents=True, exist_ok=True)
        if any(made.glob("*.profile")) or any(made.glob("*.darshan")):
            raise UserError(f"{made} holds the profile of another run: name another folder with -o")
        probe(made)
    except OSError as error:
        raise UserError(f"{made}: {error.strerror}: name a folder that can be written with -o") from None
    return made.resolve()


def probe(folder: Path) -> None:
    """OSError where no profile can be written into FOLDER, on a full disk too."""
    file = folder / f".{os.getpid()}.probe"
    try:
        file.write_bytes(bytes(PROBE_BYTES))
    finally:
        file.unlink(missing_ok=True)


def run(command: Sequence[str], environment: dict[str, str]) -> int:
    """The command's status; 128 and the signal's number where one ended it. Signals to us are its."""
    try:
        with _passing_signals() as to:
            process = subprocess.Popen(command, env=os.environ | environment)
            to.append(process)
            status = process.wait()
    except OSError as error:
        status = 127 if isinstance(error, FileNotFoundError) else 126
        raise UserError(f"{command[0]}: {error.strerror}", status) from None
    return status if status >= 0 else 128 - status


@contextlib.contextmanager
def _passing_signals() -> Iterator[list["subprocess.Popen[bytes]"]]:
    to: list[subprocess.Popen[bytes]] = []

    def passed(number: int, _frame: FrameType | None) -> None:
        for process in to:
            if number != signal.SIGINT:  # Ctrl-C reaches it by itself
                process.send_signal(number)

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
    kept = {number: signal.signal(number, passed) for number in numbers}
    try:
        yield to
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
