"""test_engines.py: other tools read what the engines wrote, and find the same elements in all of their files."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import h5py
import hdf5plugin
import netCDF4
import numpy as np
import pytest

from conftest import BUILD, Penstock

EXTENSIONS = {"phdf5": "h5", "netcdf4": "nc", "pnetcdf": "nc"}
DATASETS = (
    "grids/plane",
    "grids/cube",
    "large/lines",
    "memories/deep_ghosts",
    "runs/mixed",
    "types/i8",
    "types/u64",
    "growing/field",
)
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One file of everything by each engine that is built, written on three ranks."""
    program, launcher = BUILD / "bin" / "conformance", shutil.which("mpiexec.openmpi")
    if not program.is_file() or launcher is None:
        pytest.skip("build/bin has no conformance, or there is no mpiexec.openmpi")
    folder = tmp_path_factory.mktemp("engines")
    written = {}
    for engine, extension in EXTENSIONS.items():
        command = [launcher, "-n", "3", str(program), "--engine", engine, "--write", str(folder / engine)]
        subprocess.run(command, cwd=folder, env=os.environ | ENVIRONMENT, check=False, capture_output=True, timeout=120)
        path = folder / engine / f"{engine}.{extension}"
        if path.is_file():
            written[engine] = path
    return written


def elements(engine: str, path: Path, name: str) -> np.ndarray[Any, Any]:
    """Dataset NAME of a file, read by the library that the engine's users have."""
    if engine == "phdf5":
        with h5py.File(path) as file:
            return np.asarray(file[name])
    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        return np.asarray(file[name if engine == "netcdf4" else name.replace("/", "__")])


@pytest.mark.parametrize("name", DATASETS)
def test_same_elements(files: dict[str, Path], name: str) -> None:
    found = {engine: elements(engine, path, name) for engine, path in files.items()}
    assert "phdf5" in found
    for values in found.values():
        assert values.size > 0
        np.testing.assert_array_equal(values, found["phdf5"])


def test_complex_and_attributes(files: dict[str, Path]) -> None:
    with h5py.File(files["phdf5"]) as file:
        plain = np.asarray(file["types/complex128"])
        units = file["attributes/fluid/rho"].attrs["units"]
    assert plain.dtype == np.complex128
    assert bytes(units) == b"kg m-3"
    for engine in ("netcdf4", "pnetcdf"):
        if engine not in files:
            pytest.skip(f"engine {engine} is not built")
        with netCDF4.Dataset(files[engine]) as file:
            name = "attributes/fluid/rho"
            assert file[name if engine == "netcdf4" else name.replace("/", "__")].units == "kg m-3"


@pytest.mark.parametrize(("tool", "engines"), [("h5dump", ("phdf5", "netcdf4")), ("ncdump", ("netcdf4", "pnetcdf"))])
def test_headers(files: dict[str, Path], tool: str, engines: tuple[str, ...]) -> None:
    if shutil.which(tool) is None:
        pytest.skip(f"there is no {tool}")
    for engine in engines:
        if engine in files:
            option = "-H" if tool == "h5dump" else "-h"
            done = subprocess.run([tool, option, str(files[engine])], capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            assert "rho" in done.stdout


def test_shuffle_goes_before_a_filter(penstock: Penstock, tmp_path: Path) -> None:
    """The chunks are those of h5py with gzip and shuffle, of the same size."""
    plain, filtered = tmp_path / "a.h5", tmp_path / "b.h5"
    values = np.fromfunction(lambda i, j: np.sin(i / 20) + np.cos(j / 30), (300, 400))
    with h5py.File(plain, "w") as file:
        same = {"chunks": (100, 400), "compression": "gzip", "compression_opts": 4, "shuffle": True}
        file.create_dataset("x", data=values, **same)
    plan = "phdf5:chunked=true,chunk=100x400,collective=true,shuffle=true,filter=deflate"
    done = penstock("convert", str(plain), str(filtered), "--plan", plan)
    assert done.returncode == 0, done.stderr
    with h5py.File(plain) as one, h5py.File(filtered) as other:
        assert other["x"]._filters == one["x"]._filters
        assert other["x"].id.get_storage_size() == one["x"].id.get_storage_size()
        np.testing.assert_array_equal(other["x"][...], values)


def test_a_filter_of_hdf5plugin(penstock: Penstock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks that phdf5 compressed by Zstandard are what h5py unpacks, and what phdf5 wrote plain."""
    monkeypatch.setenv("HDF5_PLUGIN_PATH", str(hdf5plugin.PLUGIN_PATH))
    packed = "phdf5:chunked=true,collective=true,filter=zstd,level=3"
    small = ("block2d", "--np", "2", "--total", "1MiB", "--repetitions", "1", "--keep")
    done = penstock("bench", *small, "--methods", f"phdf5,{packed}")
    assert done.returncode == 0, done.stderr
    names = sorted(tmp_path.rglob("data.h5"))
    assert len(names) == 2
    arrays, filters = [], []
    for name in names:
        with h5py.File(name) as file:
            dataset = next(item for item in file.values() if isinstance(item, h5py.Dataset))
            arrays.append(dataset[()])
            filters.append(dataset._filters)
    assert [list(f) for f in filters] == [[], ["32015"]]
    assert np.array_equal(arrays[0], arrays[1])
