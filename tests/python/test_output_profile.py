"""test_output_profile.py: which part of what programs put is written, as h5py and other readers see it."""

import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

import penstock
from conftest import ROOT, run_penstock
from penstock.base import launch

PROGRAM = ROOT / "tests/python/ranks_output_profile.py"


@pytest.mark.parametrize(
    ("ranks", "extension", "plan"),
    [
        (1, "h5", ""),
        (3, "h5", ""),
        (4, "h5", "hdf5:compression=deflate"),
        (3, "nc", ""),
        (4, "h5", "hdf5/independent:placement=per_rank"),
        (3, "h5", "phdf5"),
        (4, "nc", "pnetcdf"),
    ],
)
def test_values_are_those_of_numpy(tmp_path: Path, ranks: int, extension: str, plan: str) -> None:
    command = ["mpiexec.openmpi", "-n", str(ranks), sys.executable, "-m", "mpi4py", str(PROGRAM), str(tmp_path)]
    done = subprocess.run(
        [*command, extension, plan], env=launch.environment(), capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "production.toml"
    monkeypatch.setenv("PENSTOCK_PROFILE", str(path))
    return path


def test_readers_learn_what_was_left_out(tmp_path: Path, profile: Path, build: Path) -> None:
    profile.write_text(
        "[[dataset]]\nname = 'big/*'\nwrite = false\n[[dataset]]\nname = 't'\nmean = [2, 3]\ntype = 'f32'\n"
        "[[dataset]]\nname = '[yx]'\nevery = 3\n"
    )
    t = np.random.default_rng(1).random((8, 12))
    with penstock.create(tmp_path / "a.h5") as f:
        f["t"] = penstock.block(t, t.shape, (0, 0), dims=("b", "c"))
        f["x"] = np.arange(12.0)
        f["big/u"] = t
    with h5py.File(tmp_path / "a.h5") as f:
        assert "big" not in f
        assert f["t"].dtype == "f4"
        assert np.allclose(f["t"][...], t.reshape(4, 2, 4, 3).mean(axis=(1, 3)), rtol=1e-6)
        assert (f["x"][...] == np.arange(12.0)[::3]).all()
        assert f["t"].attrs["subset_mean"].tolist() == [2, 3]
        assert f["t"].attrs["subset_start"].tolist() == [0, 0]
        assert f["t"].attrs["subset_shape"].tolist() == [8, 12]
        assert f["t"].attrs["cell_methods"] == b"b: c: mean"
        assert f["x"].attrs["subset_every"].tolist() == [3]
    shown = run_penstock("info", "--all", "a.h5", cwd=tmp_path, bin_folder=build / "bin").stdout
    for words in ("means of (2, 3) from (0, 0) of (8, 12)", "penstock_left_out", "big/u", "production.toml, crc64 "):
        assert words in shown, shown


def test_a_copy_is_not_thinned(tmp_path: Path, profile: Path, build: Path) -> None:
    profile.write_text("files = 'thin*'\n[[dataset]]\nname = '*'\nevery = 2\n")
    for name in ("thin.h5", "whole.h5"):
        with penstock.create(tmp_path / name) as f:
            f["a"] = np.arange(9)
    profile.write_text("[[dataset]]\nname = '*'\nevery = 2\n")
    with h5py.File(tmp_path / "whole.h5") as f:
        assert f["a"].shape == (9,)
        assert "penstock_profile" not in f.attrs
    assert run_penstock("convert", "thin.h5", "thin.nc", cwd=tmp_path, bin_folder=build / "bin").returncode == 0
    with penstock.open(tmp_path / "thin.nc") as f:
        assert f["a"][...].tolist() == [0, 2, 4, 6, 8]
        assert f["a"].attrs["penstock_subset"] == "every (2) from (0) of (9)"
    with penstock.reopen(tmp_path / "whole.h5") as f:  # what is there has its shape: nothing of it is thinned
        f["b"] = np.arange(9)
    with h5py.File(tmp_path / "whole.h5") as f:
        assert f["b"].shape == (9,)


def test_a_restart_file_is_not_thinned_by_surprise(tmp_path: Path, profile: Path) -> None:
    profile.write_text("[[dataset]]\nname = 'a'\nevery = 2\n")

    def write(names: str) -> None:
        with penstock.create(tmp_path / "new.h5") as f:
            for name in names:
                f[name] = np.arange(9)
            f.close_restart(tmp_path / "restart#.h5", 2)

    with pytest.raises(penstock.Invalid, match=r"production.toml:1 leaves out data: name the files"):
        write("ab")
    assert not list(tmp_path.glob("*.h5"))
    write("b")  # all of it is there
    profile.write_text("files = 'new.h5'\n" + profile.read_text())
    write("ab")
    with h5py.File(tmp_path / "restart0.h5") as f:
        assert f["a"].shape == (5,)


def test_mistakes_are_errors_on_all_ranks(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text("[[dataset]]\nname = 'a'\nevery = 2\nkeep_bit = 3\n")
    program = (
        "import sys, penstock\nfrom mpi4py import MPI\n"
        "try: penstock.create(sys.argv[1], MPI.COMM_WORLD)\n"
        "except penstock.Invalid as error: print(error)"
    )
    command = ["mpiexec.openmpi", "-n", "3", sys.executable, "-m", "mpi4py", "-c", program, str(tmp_path / "a.h5")]
    environment = launch.environment() | {"PENSTOCK_PROFILE": str(tmp_path / "p.toml")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.count("p.toml:4: 'keep_bit' is unknown") == 3, done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["p.toml"]
