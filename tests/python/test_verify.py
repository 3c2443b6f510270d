"""test_verify.py: `penstock verify`, and the record of checksums as docs/formats/checksums.md has it, read by h5py."""

import json
import subprocess
from pathlib import Path

import h5py
import numpy
import pytest

from conftest import Penstock
from penstock.base import launch
from penstock.cli.verify import agrees
from penstock.crc64 import crc64


def sums_by_the_page(words: numpy.ndarray) -> dict[int, tuple[int, list[int]]]:
    """By the CRC of a dataset's name: elements of a block, and each block's sum."""
    assert words[0].tobytes() == b"PNSTSUM1"
    length = int(words[5])
    assert int(words[length - 1]) == crc64(words[: length - 1].astype("<u8").tobytes())
    assert not words[length:].any()
    found, at = {}, 6
    for _ in range(int(words[4])):
        name, elements, block = (int(word) for word in words[at : at + 3])
        count = -(-elements // block) if block else 0
        found[name] = (block, [int(word) for word in words[at + 3 : at + 3 + count]])
        at += 3 + count
    assert at == length - 1
    return found


@pytest.mark.parametrize("name", ["hdf5-two_phase.h5", "hdf5-independent.h5", "phdf5.h5"])
def test_the_record_is_as_its_page_says(written: Path, name: str) -> None:
    with h5py.File(written / name) as file:
        words = file["_penstock/checksums"][()]
        sums = sums_by_the_page(words)
        seen = 0

        def check(path: str, item: object) -> None:
            nonlocal seen
            if not isinstance(item, h5py.Dataset) or path.startswith("_penstock") or item.size == 0:
                return
            block, blocks = sums[crc64(path.encode())]
            data = item[()].ravel()
            little = data.astype(data.dtype.newbyteorder("<")).tobytes()
            size = block * data.dtype.itemsize
            assert [crc64(little[i : i + size]) for i in range(0, len(little), size)] == blocks, path
            seen += 1

        file.visititems(check)
        assert seen > 10
        if not name.startswith("phdf5"):
            head = (written / name).read_bytes()[: int(words[2])]
            assert len(head) > 1000
            assert crc64(head) == int(words[3])


def test_files_that_are_whole(penstock: Penstock, written: Path) -> None:
    names = [
        "hdf5-two_phase.h5",
        "netcdf-two_phase.nc",
        "raw-two_phase.raw.json",
        "hdf5-independent-placement-per_rank.h5",
        "pnetcdf.nc",
    ]
    ran = penstock("verify", *[str(written / name) for name in names])
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.count("all agree") == len(names)
    for name in names:
        assert name in ran.stdout


def test_by_hand_the_program_says_a_line_for_each_file(build: Path, written: Path) -> None:
    program = str(build / "bin" / "penstock-verify")
    names = [str(written / name) for name in ("hdf5-two_phase.h5", "netcdf-two_phase.nc")]

    def said(*words: str) -> list[dict[str, object]]:
        ran = subprocess.run(
            [program, *words], env=launch.environment(), capture_output=True, text=True, check=True, timeout=300
        )
        return [json.loads(line) for line in ran.stdout.splitlines()]

    assert [line["file"] for line in said(*names)] == names
    moved = said("--progress", names[0])
    assert len(moved) > 1
    assert all("share" in line for line in moved[:-1])
    for word in ("--help", "-h"):
        told = subprocess.run([program, word], env=launch.environment(), capture_output=True, text=True, check=True)
        assert told.stdout == "usage: penstock-verify [--progress] FILE...\n"


def test_damage_is_named(penstock: Penstock, written: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.h5"
    data = bytearray((written / "hdf5-two_phase.h5").read_bytes())
    with h5py.File(written / "hdf5-two_phase.h5") as file:
        found: list[tuple[str, int]] = []
        file.visititems(
            lambda path, item: (
                found.append((path, item.id.get_offset()))
                if isinstance(item, h5py.Dataset) and item.id.get_offset() and not path.startswith("_penstock")
                else None
            )
        )
    name, at = found[len(found) // 2]
    data[at] ^= 1
    damaged.write_bytes(data)
    ran = penstock("verify", str(damaged), str(written / "hdf5-two_phase.h5"))
    assert ran.returncode == 1
    assert f"'{name}': elements (" in ran.stdout
    assert "modified since its commit" in ran.stdout  # it is a copy: its time is its own
    assert ran.stdout.count("all agree") == 1
    lines = penstock("verify", "--json", str(damaged)).stdout.splitlines()
    assert [damage["dataset"] for damage in json.loads(lines[-1])["found"]["damages"]] == [name]


def test_what_has_no_checksums_is_said(penstock: Penstock, tmp_path: Path) -> None:
    with h5py.File(tmp_path / "plain.h5", "w") as file:
        file["x"] = numpy.arange(10)
    ran = penstock("verify", "plain.h5")
    assert ran.returncode == 1
    assert ran.stderr.strip().endswith("plain.h5' has no checksums")
    ran = penstock("verify", "absent.h5")
    assert ran.returncode == 2
    assert "absent.h5" in ran.stdout + ran.stderr


@pytest.mark.parametrize("what", ["lost", "damages", "files", "metadata_differ"])
def test_what_does_not_agree(what: str) -> None:
    found: dict[str, object] = {"lost": [], "damages": [], "files": [], "metadata_differ": False, "modified": True}
    assert agrees({"file": "f", "found": found})
    assert not agrees({"file": "f", "found": {**found, what: ["something"]}})
    assert not agrees({"file": "f", "error": "no such file"})
