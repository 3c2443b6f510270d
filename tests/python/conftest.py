"""conftest.py: what the tests of the tools share: paths, the build, and a stand-in for penstock-bench."""

import json
import os
import stat
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis.configuration import set_hypothesis_home_dir

import in_process
from penstock.base import launch

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"

set_hypothesis_home_dir(BUILD / ".hypothesis")
hypothesis.settings.register_profile("penstock", deadline=None)  # no test is judged by a clock
hypothesis.settings.load_profile("penstock")

# Programs started so heed Ctrl-C even where the tests run in the background, for which shells have it ignored.
INTERRUPTIBLE = ["env", "--default-signal=INT"]

Penstock = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def build() -> Path:
    """The build folder, with the programs that the end-to-end tests run."""
    missing = [name for name in ("penstock", "penstock-bench") if not (BUILD / "bin" / name).is_file()]
    if missing:
        pytest.fail(f"build/bin has no {' and no '.join(missing)}: 'make build' makes them")
    return BUILD


class Counted:
    """Passes everything on to another object, and counts it by name."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.calls = inner, Counter[str]()

    def __getattr__(self, name: str) -> Any:
        self.calls[name] += 1
        return getattr(self.inner, name)


def extension(folder: str, module: str) -> Path:
    """The extension MODULE in FOLDER of the build folder: that of the dev preset must be there, others may not be."""
    found = sorted((BUILD / folder / "penstock_native").glob(f"{module}.*.so"))
    if not found:
        preset = folder.partition("/")[0] if not folder.startswith("lib") else "dev"
        missing = f"build/{folder} has no extension {module}: 'cmake --build --preset {preset}' makes it"
        pytest.fail(missing) if preset == "dev" else pytest.skip(missing)
    return found[0]


@pytest.fixture(scope="session")
def written(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file of all workloads for each method, written on 3 ranks: to be read."""
    folder = tmp_path_factory.mktemp("written")
    command = [*launch.mpiexec(launch.Mpi.openmpi, 3), str(build / "bin" / "conformance"), "--write", str(folder / "w")]
    subprocess.run(command, cwd=folder, env=launch.environment(), check=True, timeout=300)
    return folder / "w"


def run_penstock(
    *words: str, cwd: Path, bin_folder: Path, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """`penstock WORDS...` run in CWD with the programs of BIN_FOLDER, in this process: it starts no Python."""
    given = {**(os.environ if environment is None else environment), "PENSTOCK_BIN": str(bin_folder)}
    return in_process.run(list(words), cwd, given)


@pytest.fixture
def penstock(build: Path, tmp_path: Path) -> Penstock:
    """Runs `penstock` with the programs that were built, in an empty folder."""
    return lambda *words: run_penstock(*words, cwd=tmp_path, bin_folder=build / "bin")


@pytest.fixture
def stand_in(tmp_path: Path) -> Callable[[str], Path]:
    """Makes a build folder whose serial penstock-bench is the Python text given, and returns its bin folder."""

    def make(body: str) -> Path:
        folder = tmp_path / "stand-in" / "serial" / "bin"
        folder.mkdir(parents=True)
        program = folder / "penstock-bench"
        program.write_text(f"#!{sys.executable}\n{STAND_IN}{body}\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return tmp_path / "stand-in" / "bin"

    return make


STAND_IN = """
import json, os, sys, time
def option(name):
    return sys.argv[sys.argv.index(name) + 1]
def event(**fields):
    print(json.dumps(fields), flush=True)
"""


def line(method: str, seconds: float = 1.0, **changes: Any) -> dict[str, Any]:
    """A result of a record, as penstock-bench writes it."""
    return {
        "workload": "block2d",
        "method": method,
        "control": False,
        "operation": "write",
        "regime": "durable",
        "np": 4,
        "bytes": 1 << 20,
        "seconds": [seconds] * 6,
        "median": seconds,
        "low": seconds * 0.9,
        "high": seconds * 1.1,
        "bwMiB": 1 / seconds,
        "rate_label": "device",
        "ratio": None,
        "digest": "00",
        "verified": True,
        "error": None,
    } | changes


def ratio(median: float, low: float, high: float, verdict: str) -> dict[str, Any]:
    return {"to": "raw/per_process", "median": median, "low": low, "high": high, "verdict": verdict}


def record(*lines: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A record of "penstock.bench/1" with these results."""
    return {
        "schema": "penstock.bench/1",
        "workload": {"name": "block2d", "total_bytes": 1 << 20},
        "np": 4,
        "readers": 3,
        "regime": "durable",
        "repetitions": 6,
        "stopped": None,
        "baseline": "raw/per_process",
        "verified": all(entry["verified"] for entry in lines),
        "results": list(lines),
        "aa": {"write": {"smallest_claimable": 0.03}},
        "ceiling": {"best_write": 1000.0, "best_read": 2000.0},
        "warnings": [],
    } | changes


def write_record(path: Path, *lines: dict[str, Any], **changes: Any) -> Path:
    path.write_text(json.dumps(record(*lines, **changes)))
    return path
