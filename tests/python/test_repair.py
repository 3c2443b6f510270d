"""test_repair.py: `penstock verify --repair` and `--seal`, and the index of a set with parity, by its page."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any

import h5py
import numpy
import pytest

from conftest import Penstock
from penstock.base import launch
from penstock.crc64 import crc64

Write = Callable[[str, str], Path]


@pytest.fixture
def write(build: Path, tmp_path: Path) -> Write:
    """Writes a checkpoint of three datasets with a plan on 3 ranks, by the program that the torture has."""

    def run(name: str, plan: str) -> Path:
        program = build / "bin" / "torture"
        if not program.is_file():
            pytest.skip("build/bin/torture is not built")
        words = [str(program), "write", "--path", str(tmp_path / name), "--plan", plan, "--version", "1"]
        command = [*launch.mpiexec(launch.Mpi.openmpi, 3), *words]
        ran = subprocess.run(
            command, cwd=tmp_path, env=launch.environment(), capture_output=True, text=True, timeout=120, check=False
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return tmp_path / name

    return run


def index_of(path: Path) -> dict[str, Any]:
    if path.suffix == ".h5":
        with h5py.File(path) as file:
            text = file["_penstock/index"][()].tobytes()
    else:
        text = path.read_bytes()
    index: dict[str, Any] = json.loads(text)
    return index


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize(
    ("name", "plan"),
    [
        ("set.h5", "hdf5/two_phase:placement=per_rank,parity=1"),
        ("set.nc", "netcdf/two_phase:placement=parts,parts=2,parity=1"),
        ("set.raw", "raw/independent:placement=rank_order,parity=1"),
    ],
)
def test_any_file_of_a_set_is_rebuilt(write: Write, penstock: Penstock, name: str, plan: str) -> None:
    path = write(name, plan)
    master = path if path.exists() else path.with_name(f"{name}.json")
    index = index_of(master)
    before = files_of(path.parent)
    parity = index["parity"]
    names = [*index["parts"], parity["file"]]
    sums = [*parity["parts"], parity]
    for part, meant in zip(names, sums, strict=True):
        assert len(before[part]) == meant["bytes"]
        assert f"{crc64(before[part]):016x}" == meant["crc64"]
    longest = parity["bytes"]
    padded = [numpy.frombuffer(before[part].ljust(longest, b"\0"), numpy.uint8) for part in index["parts"]]
    assert reduce(numpy.bitwise_xor, padded).tobytes() == before[parity["file"]]

    for np, part in enumerate(names, 1):
        (path.parent / part).unlink()
        ran = penstock("verify", "--repair", "--np", str(np), str(master))
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert part in ran.stdout
        assert "it is missing" in ran.stdout
        assert files_of(path.parent) == before
        ran = penstock("verify", str(master))
        assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "nothing to repair" in penstock("repair", str(master)).stdout

    data = bytearray(before[names[0]])
    data[0] ^= 1  # of a header, where the format has one
    (path.parent / names[0]).write_bytes(data)
    ran = penstock("verify", str(master))
    assert ran.returncode == 1
    assert names[0] in ran.stdout
    assert "penstock verify --repair" in ran.stdout
    (path.parent / names[-1]).unlink()
    ran = penstock("repair", str(master))
    assert ran.returncode == 1
    assert names[0] in ran.stderr
    assert names[-1] in ran.stderr
    (path.parent / names[-1]).write_bytes(before[names[-1]])
    assert penstock("clean", "--dry-run", str(path.parent)).stdout.startswith("nothing")
    line = json.loads(penstock("verify", "--repair", "--json", str(master)).stdout.splitlines()[-1])
    assert line["rebuilt"].endswith(names[0])
    kept = Path(line["kept"])  # it was written after the commit, for all that is known on purpose
    assert kept.read_bytes() == data
    assert penstock("clean", "--older-than", "0s", str(path.parent)).stdout.startswith("nothing")
    kept.unlink()
    assert files_of(path.parent) == before
    with (path.parent / names[0]).open("r+b") as file:
        file.truncate(1)
    assert f"what was there is now {path.parent.resolve()}/" in penstock("repair", str(master)).stdout


def test_options_that_do_not_go_together(penstock: Penstock) -> None:
    assert "one at a time" in penstock("verify", "--repair", "--seal", "x.h5").stderr
    ran = penstock("verify", "--force", "x.h5")
    assert (ran.returncode, ran.stderr) == (2, "penstock: --force is about --seal\n")


def test_clean_knows_parity_files(write: Write, penstock: Penstock) -> None:
    path = write("set.h5", "hdf5/two_phase:placement=parts,parts=2,parity=1")
    parity = str(index_of(path)["parity"]["file"])
    old = path.parent / parity.replace(parity.split(".g")[1][:16], "0123456789abcdef")
    shutil.copy(path.parent / parity, old)
    ran = penstock("clean", "--older-than", "0s", str(path.parent))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert not old.exists()
    assert (path.parent / parity).exists()
    assert "all agree" in penstock("verify", str(path)).stdout


def test_what_a_tool_changed_is_sealed(write: Write, penstock: Penstock) -> None:
    path = write("file.h5", "hdf5/two_phase")
    with h5py.File(path, "r+") as file:
        found: list[str] = []
        file.visititems(
            lambda name, item: (
                found.append(name)
                if isinstance(item, h5py.Dataset) and item.size and not name.startswith("_penstock")
                else None
            )
        )
        dataset = file[found[0]]
        flat = dataset[()].reshape(-1)
        flat[0] = flat[-1] + 1
        dataset[...] = flat.reshape(dataset.shape)
        file["added"] = numpy.arange(1000)
        file.attrs["note"] = "changed by hand"
    os.utime(path)
    assert "modified since its commit" in penstock("verify", str(path)).stdout
    ran = penstock("verify", "--seal", str(path))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert f"'{found[0]}': elements (" in ran.stdout
    ran = penstock("verify", str(path))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    with h5py.File(path) as file:
        assert file.attrs["note"] == "changed by hand"
        assert (file["added"][()] == numpy.arange(1000)).all()
        assert file[found[0]][()].reshape(-1)[0] == flat[0]
    before = files_of(path.parent)
    assert penstock("seal", str(path)).returncode == 0
    with h5py.File(path) as file:
        offset = file[found[0]].id.get_offset()
    times = path.stat()
    data = bytearray(before[path.name])
    data[offset] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    ran = penstock("seal", str(path))
    assert ran.returncode == 1
    assert "this is damage" in ran.stderr
    assert path.read_bytes() == data
    assert penstock("verify", "--seal", "--force", str(path)).returncode == 0
    assert "all" in penstock("verify", str(path)).stdout
    assert [left for left in path.parent.iterdir() if left.name.endswith(".partial")] == []


@pytest.mark.parametrize("parity", [0, 1])
@pytest.mark.parametrize("name", ["set.h5", "set.raw"])
def test_a_set_is_sealed(write: Write, penstock: Penstock, name: str, parity: int) -> None:
    way = "hdf5" if name.endswith("h5") else "raw"
    path = write(name, f"{way}/two_phase:placement=parts,parts=2,parity={parity}")
    master = path if path.exists() else path.with_name(f"{name}.json")
    index = index_of(master)
    entry = next(d for d in index["datasets"] if d.get("blocks") or "file" in d)
    block = entry["blocks"][0] if "blocks" in entry else {"part": index["parts"].index(entry["file"]), **entry}
    part = path.parent / index["parts"][block["part"]]
    with part.open("r+b") as file:
        file.seek(block["offset"])
        byte = file.read(1)[0]
        file.seek(block["offset"])
        file.write(bytes([byte ^ 1]))
    newer = master.stat().st_mtime_ns + 10**9
    os.utime(part, ns=(newer, newer))
    ran = penstock("verify", str(master))
    assert ran.returncode == 1
    assert "modified since its commit" in ran.stdout
    ran = penstock("verify", "--seal", str(master))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    os.utime(part, ns=(0, 0))
    ran = penstock("verify", str(master))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "all agree" in ran.stdout
    after = index_of(master)
    assert after["generation"] == index["generation"]
    if not parity:
        assert "parity" not in after
        return
    assert not (path.parent / index["parity"]["file"]).exists()
    before = files_of(path.parent)
    part.unlink()
    assert penstock("repair", str(master)).returncode == 0
    assert files_of(path.parent) == before
