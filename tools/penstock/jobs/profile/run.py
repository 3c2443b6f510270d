"""run.py: which recorder a program gets, and how it gets it: by the environment, its command unchanged."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from penstock.base.errors import UserError
from penstock.base.preload import preloaded, starts_ranks

NAME = "libpenstock_profile.so"
PROBE_BYTES = 1 << 14  # about as much as the profile of a process


class Collector(StrEnum):
    darshan = "darshan"
    own = "own"


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
    """The environment of the program, beside what is there."""
    changes = {"LD_PRELOAD": preloaded(library)}
    if collector is Collector.own:
        return changes | {"PENSTOCK_PROFILE_DIR": str(folder)}
    alone = {} if starts_ranks(command) else {"DARSHAN_ENABLE_NONMPI": "1"}
    return changes | alone | {"DARSHAN_LOGFILE": str(folder / "run.darshan")}


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
