"""files.py: compares what two runs of a test have left: byte by byte, and HDF5 files otherwise by h5diff."""

import filecmp
import subprocess
from pathlib import Path

LIMIT_SECONDS = 60
SIGNATURE = b"\x89HDF\r\n\x1a\n"


def compared(left: Path, right: Path, begin: float) -> tuple[list[str], list[str]]:
    """The names of files changed since BEGIN in LEFT or RIGHT: those that are the same in both, and the others."""
    names = {path.relative_to(folder).as_posix() for folder in (left, right) for path in changed(folder, begin)}
    same = {name for name in names if equal(left / name, right / name)}
    return sorted(same), sorted(names - same)


def changed(folder: Path, begin: float) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and path.stat().st_mtime >= begin]


def equal(left: Path, right: Path) -> bool:
    if not left.is_file() or not right.is_file():
        return False
    if filecmp.cmp(left, right, shallow=False):
        return True
    with left.open("rb") as opened:
        if opened.read(len(SIGNATURE)) != SIGNATURE:
            return False
    words = ["h5diff", str(left), str(right)]
    try:
        done = subprocess.run(words, capture_output=True, timeout=LIMIT_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0
