"""test_verifier.py: the bench's verifier verified: writes that a preloaded wrapper falsifies are caught and located."""

import json
import re
import subprocess
from pathlib import Path

import h5py
import numpy as np
import numpy.typing as npt
import pytest
from netCDF4 import Dataset

from penstock.base import launch

FAULTS = {
    "zero": "(zeroed)",
    "flip": "one bit flipped",
    "shift": "of 'field'",
    "swap": "of 'field'",
    "stale": "stale: element",
}
METHODS = {
    "hdf5/two_phase:io=buffered": ".h5",
    "hdf5/two_phase:io=buffered,checksums=none": ".h5",
    "hdf5/independent": ".h5",
    "netcdf/two_phase:io=buffered": ".nc",
    "raw/gather:io=buffered": ".bin",
    "raw/per_process": "",
    "raw/mpiio": ".bin",
    "phdf5:collective=true": ".h5",
    "pnetcdf": ".nc",
}
RANKS = 4
EXTENT = 724  # of a square of 4 MiB, in 2 x 2 blocks


def bench(build: Path, folder: Path, method: str, fault: str | None, *more: str) -> subprocess.CompletedProcess[str]:
    """One warm-up and one repetition, whose files stay."""
    library = build / "lib" / "libpenstock_corrupt.so"
    if not library.is_file():
        pytest.fail("build/lib has no libpenstock_corrupt.so: 'make build' makes it")
    settings = ["env", f"LD_PRELOAD={library}", f"PENSTOCK_CORRUPT={fault}"] if fault else []
    words = [
        "block2d",
        "--total",
        "4MiB",
        "--methods",
        method,
        "--repetitions",
        "1",
        "--keep",
        "--dir",
        str(folder),
        *more,
    ]
    command = [*launch.mpiexec(launch.Mpi.openmpi, RANKS), *settings, str(build / "bin" / "penstock-bench"), *words]
    command += ["--json", str(folder / "out.json")]
    return subprocess.run(command, env=launch.environment(), capture_output=True, text=True, timeout=120, check=False)


def values(folder: Path, method: str) -> npt.NDArray[np.float64]:
    """What the repetition left, by a reader that is not ours."""
    ending = METHODS[method]
    if ending == ".h5":
        with h5py.File(next(folder.glob("**/data.h5"))) as file:
            return np.asarray(file["field"][...])
    if ending == ".nc":
        with Dataset(str(next(folder.glob("**/data.nc")))) as file:
            file.set_auto_mask(False)
            return np.asarray(file["field"][...])
    return from_raw(next(folder.glob("**/data.json")))


def from_raw(sidecar: Path) -> npt.NDArray[np.float64]:
    """By the blocks that each file of a raw set holds."""
    files = sorted(
        path for path in sidecar.parent.iterdir() if path.suffix != ".json" and path.stat().st_size > 1 << 16
    )
    if len(files) == 1:
        return np.fromfile(files[0], "<f8", EXTENT * EXTENT).reshape(EXTENT, EXTENT)
    half = EXTENT // 2
    whole = np.empty((EXTENT, EXTENT))
    for rank, path in enumerate(files):
        y, x = divmod(rank, 2)
        block = np.fromfile(path, "<f8", half * half).reshape(half, half)
        whole[y * half : (y + 1) * half, x * half : (x + 1) * half] = block
    return whole


@pytest.fixture(scope="module")
def truth(build: Path, tmp_path_factory: pytest.TempPathFactory) -> npt.NDArray[np.float64]:
    folder = tmp_path_factory.mktemp("truth")
    done = bench(build, folder, "hdf5/independent", None)
    assert done.returncode == 0, done.stderr
    return values(folder, "hdf5/independent")


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("method", METHODS)
def test_a_falsified_write_is_caught_and_located(
    build: Path, tmp_path: Path, truth: npt.NDArray[np.float64], method: str, fault: str
) -> None:
    done = bench(build, tmp_path, method, fault)
    assert done.returncode == 1, done.stdout
    record = json.loads((tmp_path / "out.json").read_text())
    assert not record["verified"]
    (error,) = {line["error"] for line in record["results"]}
    found = values(tmp_path, method)
    wrong = np.argwhere(found.view(np.uint64) != truth.view(np.uint64))
    assert len(wrong) > 0, "the wrapper changed nothing"
    y, x = (int(one) for one in wrong[0])
    assert f"'field', element ({y}, {x}): " in error
    assert FAULTS[fault] in error
    writer = 2 * (y >= EXTENT // 2) + (x >= EXTENT // 2)
    assert f"written by rank {writer}" in error
    assert f"{len(wrong)} wrong in all" in error


@pytest.mark.parametrize("method", METHODS)
def test_without_a_fault_the_wrapper_changes_nothing(
    build: Path, tmp_path: Path, truth: npt.NDArray[np.float64], method: str
) -> None:
    done = bench(build, tmp_path, method, "none")
    assert done.returncode == 0, done.stderr
    assert np.array_equal(values(tmp_path, method), truth)


@pytest.mark.parametrize("method", ["hdf5/two_phase:io=buffered", "hdf5/independent", "raw/gather:io=buffered"])
def test_a_falsified_read_is_caught(build: Path, tmp_path: Path, method: str) -> None:
    done = bench(build, tmp_path, method, "read")
    assert done.returncode == 1, done.stdout
    assert re.search(r"element \(\d+, \d+\): expected .*one bit flipped", done.stdout + done.stderr)


def test_a_read_that_reads_nothing_is_caught_where_memory_has_what_was_written(build: Path, tmp_path: Path) -> None:
    done = bench(build, tmp_path, "hdf5/independent", "lost", "--own-ranks")
    assert done.returncode == 1, done.stdout
    record = json.loads((tmp_path / "out.json").read_text())
    assert all("verification by reading back: " in line["error"] for line in record["results"])


def test_the_truth_differs_from_repetition_to_repetition(truth: npt.NDArray[np.float64]) -> None:
    assert len(np.unique(truth)) == EXTENT * EXTENT
