"""processes.py: starts launchers, hears what they say, and ends them with all that they started."""

import os
import selectors
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path


def environment() -> dict[str, str]:
    """Of every launcher: as the other tests have it."""
    settings = dict(os.environ)
    for name, value in {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_MCA_hwloc_base_binding_policy": "none",
        "OMPI_MCA_mpi_yield_when_idle": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    }.items():
        settings.setdefault(name, value)
    settings.pop("LD_PRELOAD", None)
    return settings


def start(arguments: list[str], folder: Path, settings: dict[str, str] | None = None) -> subprocess.Popen[str]:
    return subprocess.Popen(
        arguments,
        cwd=folder,
        env=settings or environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )


def end(process: subprocess.Popen[str]) -> None:
    """With all that it started: a launcher ends its ranks when it is told to."""
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def lines_of(process: subprocess.Popen[str], limit: float) -> Iterator[str]:
    """Its output, and "hung" where none comes for LIMIT seconds; the process has ended then."""
    assert process.stdout is not None
    descriptor, rest = process.stdout.fileno(), ""
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while selector.select(limit):
            data = os.read(descriptor, 65536)
            if not data:
                process.wait()
                return
            *whole, rest = (rest + data.decode(errors="replace")).split("\n")
            yield from whole
    end(process)
    yield "hung"


def hear(process: subprocess.Popen[str], limit: float) -> tuple[int | None, str]:
    """Its exit status, None where it did not end within LIMIT seconds, and its output."""
    try:
        said, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        end(process)
        return None, ""
    return process.returncode, said
