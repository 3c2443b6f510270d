"""test_catalogue.py: `penstock catalogue` on what the library writes, on hostile files, and on hostile questions."""

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import h5py
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Penstock, run_penstock
from penstock.base.errors import UserError
from penstock.files.catalogue import netcdf, search
from penstock.files.catalogue.contents import Contents, UnreadableError
from penstock.files.catalogue.database import Catalogue
from penstock.files.catalogue.worker import Reader
from test_series import write_steps

PLANS = {"h5": "hdf5/independent", "nc": "netcdf/independent", "raw": "raw/independent"}


@pytest.fixture(scope="module")
def tree(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Steps 1 to 3 of each format, below a folder."""
    folder = tmp_path_factory.mktemp("tree")
    for name, plan in PLANS.items():
        (folder / name).mkdir()
        write_steps(build, folder / name / f"out-*.{name}", plan=plan)
    return folder


def files(root: Path, *conditions: str, names: tuple[str, ...] = (), database: Path | None = None) -> list[str]:
    catalogue = Catalogue(root, database)
    catalogue.update()
    found = catalogue.find([search.parse(text) for text in conditions], list(names))
    catalogue.close()
    return [row.path for row in found]


def test_all_formats_say_the_same(tree: Path, tmp_path: Path) -> None:
    catalogue = Catalogue(tree, tmp_path / "all.sqlite")
    assert catalogue.update().read == 12
    rows = {row.path: row for row in catalogue.find([], [])}
    catalogue.close()
    datasets = [
        {"name": "fluid/u", "type": "float64", "shape": [2, 3, 4]},
        {"name": "line", "type": "float64", "shape": [5]},
        {"name": "rho", "type": "float64", "shape": [4, 3]},
    ]
    for name, path in (
        ("h5", "h5/out-0000000{}.h5"),
        ("nc", "nc/out-0000000{}.nc"),
        ("raw", "raw/out-0000000{}.raw.json"),
    ):
        for n in (1, 2, 3):
            row = rows[path.format(n)]
            assert sorted(row.datasets, key=lambda one: str(one["name"])) == datasets, name
            found = {(one["object"], one["name"]): one["value"] for one in row.attributes}
            assert found[("", "time")] == n / 4
            assert found[("", "iteration")] == n
            assert found[("rho", "units")] == ("kg m-3" if n % 2 else "K")
            assert found[("rho", "spacing")] == "0.5, 0.25"
            assert found[("provenance", "code")] == "steps 1.0"


@pytest.mark.parametrize(
    ("conditions", "names", "steps"),
    [
        (["units=K"], (), [2]),
        (["units!=K"], (), [1, 3]),
        (["time>0.5"], (), [3]),
        (["time>=0.5", "units=K"], (), [2]),
        (["time<0.5"], ("rho",), [1]),
        (["time<=0.5"], ("u",), [1, 2]),
        (["iteration=2"], ("r*", "fluid/*"), [2]),
        (["provenance/code=steps 1.0", "rho/units=K"], (), [2]),
        (["line/units=K"], (), []),
        (["iteration=2"], ("nothing*",), []),
        (["units=K' OR '1'='1"], (), []),
        (["x' OR 1=1 --=1"], (), []),
        (["iteration=2"], ("'); DROP TABLE files; --",), []),
    ],
)
def test_searches(tree: Path, tmp_path: Path, conditions: list[str], names: tuple[str, ...], steps: list[int]) -> None:
    found = files(tree, *conditions, names=names, database=tmp_path / "one.sqlite")
    assert found == sorted(
        path.format(n) for n in steps for path in ("h5/out-{:08}.h5", "nc/out-{:08}.nc", "raw/out-{:08}.raw.json")
    )


@pytest.mark.parametrize("text", ["", "units", "=K", "time>soon", "a<b", "<>"])
def test_conditions_that_are_none(text: str) -> None:
    with pytest.raises(UserError, match="--where"):
        search.parse(text)


def test_only_what_changed_is_read_again(build: Path, tmp_path: Path) -> None:
    write_steps(build, tmp_path / "out-*.h5", last=2)
    catalogue = Catalogue(tmp_path, None)
    assert catalogue.update().read == 3
    changes = catalogue.update()
    assert (changes.read, changes.known, changes.gone) == (0, 3, 0)
    with h5py.File(tmp_path / "out-00000001.h5", "a") as file:
        file.attrs["note"] = "later"
    (tmp_path / "out-00000002.h5").unlink()
    changes = catalogue.update()
    assert (changes.read, changes.known, changes.gone) == (1, 1, 1)
    assert [row.path for row in catalogue.find([search.parse("note=later")], [])] == ["out-00000001.h5"]
    catalogue.close()


def test_the_command(penstock: Penstock, tree: Path, tmp_path: Path) -> None:
    done = penstock("catalogue", str(tree), "--database", "c.sqlite", "--where", "units=K", "--name", "rho", "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["schema"] == "penstock.catalogue/1"
    assert [row["matched"] for row in found["files"]] == [[{"object": "rho", "name": "units", "value": "K"}]] * 3
    done = penstock("catalogue", str(tree), "--database", "c.sqlite", "--where", "units=K")
    assert "h5/out-00000002.h5" in done.stdout
    assert "rho/units=K" in done.stdout
    assert "3 files; 0 read, 12 as they were" in done.stdout
    for wrong in (["absent"], [str(tree), "--where", "units"], [str(tree), "--database", "no/such/folder/c.sqlite"]):
        done = penstock("catalogue", *wrong)
        assert done.returncode != 0
        assert done.stderr.startswith("penstock: ")
        assert "Traceback" not in done.stderr
    (tmp_path / "c.sqlite").write_bytes(b"this is no database, and long enough to be seen as none" * 100)
    done = penstock("catalogue", str(tree), "--database", "c.sqlite")
    assert done.returncode == 1
    assert "cannot be used" in done.stderr


def test_hostile_files_are_named_lines(tree: Path, tmp_path: Path, build: Path) -> None:
    rng = random.Random(5)
    samples = [path for path in tree.rglob("out*") if path.is_file() and ".g" not in path.name]
    for number in range(120):
        data = bytearray(rng.choice(samples).read_bytes())
        for _ in range(rng.randrange(1, 12)):
            data[rng.randrange(min(len(data), 2500))] = rng.randrange(256)
        (tmp_path / f"{number}.bin").write_bytes(data[: rng.randrange(len(data)) if number % 3 == 0 else len(data)])
    (tmp_path / "\udcff\n\x1b[31m.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + b"\xff" * 100)
    (tmp_path / "deep.json").write_text('{"schema": "penstock.index/1", "format": "raw", "datasets": ' + "[" * 100000)
    (tmp_path / "cdf.nc").write_bytes(b"CDF\x05" + b"\xff" * 64)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path)
    done = run_penstock("catalogue", ".", cwd=tmp_path, bin_folder=build / "bin")
    assert done.returncode == 0, done.stderr
    assert "unreadable" in done.stdout
    assert "\x1b[31m" not in done.stdout
    assert not done.stderr


def test_a_reader_that_dies_or_stalls_is_a_line(tree: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ends = tmp_path / "ends"
    ends.mkdir()
    (ends / "sitecustomize.py").write_text(
        "import penstock.files.catalogue.read as c, os, time\n"
        "before = c.read\n"
        "def read(path, kind):\n"
        "    if 'dies' == path.name: os.abort()\n"
        "    if 'stalls' == path.name: time.sleep(60)\n"
        "    return before(path, kind)\n"
        "c.read = read\n"
    )
    monkeypatch.setenv("PYTHONPATH", f"{ends}:{Path(netcdf.__file__).parents[3]}")
    begin = time.monotonic()
    with Reader(limit_seconds=5) as reader:
        assert "SIGABRT" in str(reader.read(tmp_path / "dies", "hdf5"))
        assert isinstance(reader.read(tree / "h5" / "out-00000001.h5", "hdf5"), Contents)
        assert "more than 5 s" in str(reader.read(tmp_path / "stalls", "hdf5"))
        assert isinstance(reader.read(tree / "nc" / "out-00000001.nc", "netcdf"), Contents)
    assert time.monotonic() - begin < 50


def test_two_at_once(tree: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "penstock", "catalogue", str(tree), "--database", str(tmp_path / "c"), "--json"]
    environment = os.environ | {"PYTHONPATH": str(Path(netcdf.__file__).parents[3])}
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) for _ in range(4)
    ]
    for process in running:
        out, error = process.communicate(timeout=120)
        assert process.returncode == 0, error
        assert len(json.loads(out)["files"]) == 12


@given(st.binary(max_size=400), st.sampled_from([1, 2, 5]))
def test_any_bytes_as_a_netcdf_header(data: bytes, version: int) -> None:
    path = Path(f"/dev/shm/penstock-test-{os.getpid()}.nc")  # noqa: S108
    path.write_bytes(b"CDF" + bytes([version]) + data)
    try:
        netcdf.read(path)
    except UnreadableError:
        pass
    finally:
        path.unlink()
