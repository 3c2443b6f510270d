"""test_raw_chunks.py: compressed datasets of raw: as small as in HDF5, read by every tool, changed, damaged, lost."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as library
from conftest import Penstock

FIELD = np.fromfunction(lambda i, j, k: np.sin(i / 20) + np.cos(j / 30) * k, (70, 91, 110))
COUNTS = (np.arange(1_000_003) % 1000).astype("i4")
ZEROS = np.zeros((300, 300))
CODECS = ["deflate", "zstd", "lz4", "blosc", "zfp"]


def make(path: Path, plan: str) -> Path:
    """The file to be opened."""
    with library.create(path, plan=plan) as file:
        file["fields/rho"] = FIELD
        file["counts"] = COUNTS
        file["zeros"] = ZEROS
        file["small"] = np.arange(10)
    return path if path.suffix == ".h5" else path.with_name(path.name + ".json")


def index(path: Path) -> dict[str, Any]:
    return {d["name"]: d for d in json.loads(path.read_text())["datasets"]}


def part(path: Path) -> Path:
    return path.with_name(json.loads(path.read_text())["parts"][0])


@pytest.mark.parametrize("more", ["", ",chunk_bytes=4KiB"])
@pytest.mark.parametrize("codec", CODECS)
def test_it_is_as_small_as_hdf5_and_has_every_value(tmp_path: Path, penstock: Penstock, codec: str, more: str) -> None:
    paths = [make(tmp_path / name, f":compression={codec}{more}") for name in ("a.h5", "a.raw")]
    told = [
        {d["name"]: d for d in json.loads(penstock("info", str(path), "--json").stdout)["found"]["datasets"]}
        for path in paths
    ]
    for name in ("fields/rho", "counts", "zeros"):
        for key in ("filters", "stored_bytes", "chunk", "plain"):
            assert told[1][name][key] == told[0][name][key], (name, key)
    assert told[1]["small"]["plain"]
    assert index(paths[1])["zeros"]["chunks"] == []
    with library.open(paths[1], plan=":verify=always") as file:
        np.testing.assert_array_equal(file["fields/rho"][3:50, ::7, 5:], FIELD[3:50, ::7, 5:])
        for name, values in (("fields/rho", FIELD), ("counts", COUNTS), ("zeros", ZEROS), ("small", np.arange(10))):
            np.testing.assert_array_equal(file[name][...], values)
    assert penstock("verify", str(paths[1])).returncode == 0


def test_it_is_converted_both_ways(tmp_path: Path, penstock: Penstock) -> None:
    path = make(tmp_path / "a.raw", ":compression=zstd")
    h5, raw, plain = (str(tmp_path / name) for name in ("b.h5", "c.raw", "d.raw"))
    penstock("convert", str(path), h5, "--plan", ":compression=lz4")
    penstock("convert", h5, raw, "--plan", ":compression=blosc")
    penstock("convert", raw + ".json", plain)
    with library.open(plain + ".json") as file:
        np.testing.assert_array_equal(file["fields/rho"][...], FIELD)
        np.testing.assert_array_equal(file["counts"][...], COUNTS)
    assert "offset" in index(Path(plain + ".json"))["counts"]
    assert index(Path(raw + ".json"))["counts"]["filters"][0]["id"] == 32001
    assert penstock("verify", raw + ".json", "--against", str(path)).returncode == 0


def test_a_picture_is_drawn_of_it(tmp_path: Path, penstock: Penstock) -> None:
    path = make(tmp_path / "a.raw", ":compression=zstd")
    penstock("view", str(path), "fields/rho", "-o", str(tmp_path / "p.png"))
    assert (tmp_path / "p.png").stat().st_size > 1000


def test_what_stays_is_copied_as_it_is_and_what_grows_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.raw"
    plan = ":compression=zstd,chunk_bytes=64KiB"
    rows = np.fromfunction(lambda i, j: np.sin(i) * j, (100, 1000))
    with library.create(path, plan=plan) as file:
        file["stays"] = FIELD
        file["grows"] = rows[:50]
        file.unlimited("grows")
    index_path = tmp_path / "a.raw.json"
    chunks = index(index_path)["stays"]["chunks"]
    before = [part(index_path).read_bytes()[at : at + size] for _, at, size, _ in chunks]
    with library.reopen(index_path, plan=plan) as file:
        file["grows"] = library.block(rows[50:], (100, 1000), (50, 0))
    chunks = index(index_path)["stays"]["chunks"]
    assert [part(index_path).read_bytes()[at : at + size] for _, at, size, _ in chunks] == before
    with library.reopen(index_path, plan=":compression=none") as file:
        file["more"] = np.arange(5)
    assert "chunk" not in index(index_path)["stays"]
    with library.open(index_path, plan=":verify=always") as file:
        np.testing.assert_array_equal(file["stays"][...], FIELD)
        np.testing.assert_array_equal(file["grows"][...], rows)


@pytest.mark.parametrize("codec", CODECS)
def test_damage_in_a_chunk_is_found(tmp_path: Path, penstock: Penstock, codec: str) -> None:
    path = make(tmp_path / "a.raw", f":compression={codec}")
    data = bytearray(part(path).read_bytes())
    for number, at, size, _ in index(path)["fields/rho"]["chunks"]:
        if number == 1:
            data[at + size // 3 : at + size // 2] = b"\x55" * (size // 2 - size // 3)
    part(path).write_bytes(data)
    with library.open(path) as file:
        np.testing.assert_array_equal(file["counts"][...], COUNTS)
    with pytest.raises(library.Error, match="fields/rho"), library.open(path, plan=":verify=always") as file:
        file["fields/rho"][...]
    found = penstock("verify", str(path))
    assert found.returncode == 1
    assert "fields/rho" in found.stdout + found.stderr


@pytest.mark.parametrize("codec", CODECS)
def test_no_damage_is_more_than_an_error(tmp_path: Path, codec: str) -> None:
    """Of the index or the part, one byte or one number at a time."""
    values = np.fromfunction(lambda i, j: np.sin(i / 9) * j, (40, 50))
    with library.create(tmp_path / "a.raw", plan=f":compression={codec},chunk_bytes=2KiB") as file:
        file["a"] = values
    path = tmp_path / "a.raw.json"
    text, data, random = path.read_text(), part(path).read_bytes(), np.random.default_rng(7)
    numbers = [0, 1, 2, 3, 255, 2**16, 2**31, 2**32 - 1, 2**32, 2**62, 2**63 - 1]
    refused = 0
    for i in range(300):
        described = json.loads(text)
        one = described["datasets"][0]
        chunk = one["chunks"][random.integers(len(one["chunks"]))]
        changed = bytearray(data)
        if i % 3 == 0:
            chunk[random.integers(4)] = int(random.choice(numbers))
        elif i % 3 == 1:
            of = [one["chunk"], one["shape"], *(f["values"] for f in one["filters"] if f["values"])][i // 3 % 4 - 1]
            of[random.integers(len(of))] = int(random.choice(numbers[:8]))
        else:
            changed[chunk[1] + random.integers(chunk[2])] ^= 1 << int(random.integers(8))
        path.write_text(json.dumps(described))
        part(path).write_bytes(changed)
        try:
            with library.open(path) as opened:
                if opened["a"].size < 1_000_000:
                    assert opened["a"][...].dtype == values.dtype
        except library.Error:
            refused += 1
    assert refused > 50


def test_a_part_that_is_cut_off_is_lost(tmp_path: Path) -> None:
    path = make(tmp_path / "a.raw", ":compression=zstd")
    end = max(at + size for _, at, size, _ in index(path)["fields/rho"]["chunks"])
    with part(path).open("r+b") as file:
        file.truncate(end - 1)
    with pytest.raises(library.Error, match="where the index needs"):
        library.open(path)
    with library.open(path, plan=":lost_parts=zeros") as opened:
        assert not opened["fields/rho"][...].any()


def test_a_filter_that_nobody_knows_is_said(tmp_path: Path) -> None:
    path = make(tmp_path / "a.raw", ":compression=zstd")
    path.write_text(path.read_text().replace("32015", "32099"))
    with library.open(path) as file:
        np.testing.assert_array_equal(file["zeros"][...], ZEROS)
        with pytest.raises(library.Unsupported, match=r"cannot decode its chunks \(shuffle, 32099"):
            file["counts"][...]
