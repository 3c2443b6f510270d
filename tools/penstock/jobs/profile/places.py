"""places.py: the function, file and line that an address in a program or library is, as addr2line tells."""

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

CLOCKS_SECONDS = 5.0  # by which that of a file server may be ahead
Place = tuple[str, int, str]  # object, address in it, nearest exported symbol


def named(places: Iterable[Place], start: float) -> tuple[dict[Place, tuple[str, str]], list[str]]:
    """Caller and "file:line"; the library's name where there is no debug information, or no addr2line.

    Second: what kept places of a run that began at START from having names.
    """
    by_object: dict[str, list[Place]] = {}
    for place in places:
        by_object.setdefault(place[0], []).append(place)
    found: dict[Place, tuple[str, str]] = {}
    troubles = []
    for path, some in by_object.items():
        trouble = _trouble(path, start)
        troubles += [trouble] if trouble else []
        lines = [("??", "??:0")] * len(some) if trouble else _asked(path, some)
        for place, (function, line) in zip(some, lines, strict=True):
            found[place] = _named(place, function, line)
    return found, troubles


def _trouble(path: str, start: float) -> str:
    """Another program's lines are worse than none."""
    try:
        changed = bool(path) and Path(path).stat().st_mtime > start + CLOCKS_SECONDS
    except OSError as error:
        return f"{path}: {error.strerror}: what it calls has no lines"
    return f"{path} has changed since this run: what it calls has no lines" if changed else ""


def _asked(path: str, places: list[Place]) -> list[tuple[str, str]]:
    tool = shutil.which("addr2line")
    if tool is None or not path:
        return [("??", "??:0")] * len(places)
    asked = "".join(f"{address:#x}\n" for _, address, _ in places)
    command = [tool, "-a", "-i", "-f", "-C", "-e", path]
    try:
        done = subprocess.run(command, input=asked, capture_output=True, text=True, timeout=120, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return [("??", "??:0")] * len(places)
    found: list[list[str]] = []
    for line in done.stdout.splitlines():
        if line.startswith("0x"):
            found.append([])
        elif found:
            found[-1].append(line)
    if len(found) != len(places):
        return [("??", "??:0")] * len(places)
    return [_of_program(list(zip(lines[::2], lines[1::2], strict=False))) for lines in found]


def _of_program(frames: list[tuple[str, str]]) -> tuple[str, str]:
    """Returns the first of FRAMES, each inlined into the next, that is no compiler or system header such as ostream."""
    own = (frame for frame in frames if "/include/c++/" not in frame[1] and not frame[1].startswith("/usr/include/"))
    return next(own, frames[0] if frames else ("??", "??:0"))


def _named(place: Place, function: str, line: str) -> tuple[str, str]:
    path, _, symbol = place
    file, _, number = line.partition(" ")[0].rpartition(":")
    caller = function if function != "??" else symbol
    if caller == "MAIN__":
        caller = "the main program"
    where = Path(path).name or "an unknown place"
    if not file.startswith("??") and number.isdigit() and number != "0":
        where = f"{Path(file).name}:{number}"
    return caller.removesuffix("_") if file.lower().endswith((".f", ".f90")) else caller, where
