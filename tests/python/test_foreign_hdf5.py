"""test_foreign_hdf5.py: HDF5 files of other programs: what is read, what is named, what a copy refuses."""

import struct
from pathlib import Path

import h5py
import numpy as np
import pytest

import penstock


@pytest.mark.parametrize("size", [512, 4096])
def test_a_file_behind_a_user_block_is_read(tmp_path: Path, size: int) -> None:
    path = tmp_path / "matlab.mat"
    data = np.arange(300.0).reshape(100, 3)
    with h5py.File(path, "w", userblock_size=size) as other:
        other["plain"] = data
        other.create_dataset("packed", data=data, chunks=(10, 3), compression="gzip")
        other.create_dataset("rows", data=data, chunks=(10, 3))
    with path.open("r+b") as block:
        block.write(b"MATLAB 7.3 MAT-file".ljust(128))
    with penstock.open(path) as f:
        for name in ("packed", "plain", "rows"):
            np.testing.assert_array_equal(f[name][...], data)
    penstock.copy(path, tmp_path / "copy.h5")
    with pytest.raises(penstock.Unsupported, match="user block"):
        penstock.reopen(path)
    (tmp_path / "not.h5").write_bytes(bytes(512) + b"CDF\1" + bytes(5000))  # other formats begin where files do
    with pytest.raises(penstock.Damaged):
        penstock.open(tmp_path / "not.h5")


@pytest.mark.parametrize("layout", [h5py.h5d.CONTIGUOUS, h5py.h5d.COMPACT])
def test_what_a_later_hdf5_wrote_is_left_out_by_name(tmp_path: Path, layout: int) -> None:
    """Types in a version that no library knows, in the header of a dataset and of an attribute."""
    path = tmp_path / "later.h5"
    with h5py.File(path, "w", libver=("earliest", "v108")) as other:
        other["good"] = np.arange(3.0)
        created = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        created.set_layout(layout)
        h5py.h5d.create(other.id, b"later", h5py.h5t.STD_U32LE, h5py.h5s.create_simple((5,)), created)
        other["noted"] = np.arange(4.0)
        other["noted"].attrs["mark"] = np.zeros(2, "<u8")
    whole = bytearray(path.read_bytes())
    for size in (4, 8):  # class and version, bits, size, offset 0, precision: an unsigned integer
        kind = bytes([0x10, 0, 0, 0]) + struct.pack("<IHH", size, 0, 8 * size)
        assert whole.count(kind) == 1
        whole[whole.index(kind)] = 0xF0
    path.write_bytes(whole)
    with penstock.open(path) as f:
        assert list(f) == ["good", "noted"]
        assert list(f["good"][...]) == [0, 1, 2]
        assert list(f["noted"][...]) == [0, 1, 2, 3]
        assert dict(f["noted"].attrs) == {}
    with pytest.raises(penstock.Unsupported, match=r"'later' is an object that HDF5 [0-9.]+ does not know"):
        penstock.copy(path, tmp_path / "copy.h5")


def test_what_a_copy_would_lose_is_named(tmp_path: Path) -> None:
    path = tmp_path / "other.h5"
    with h5py.File(path, "w") as other:
        other["good"] = np.arange(3.0)
        other["l" * 1001] = 1.0
        other["_penstock/mine"] = 1.0
        other.create_dataset("huge", (1 << 40, 1 << 23), "f8", chunks=(1, 1 << 20))
        other["refs"] = np.array([other["good"].ref], h5py.ref_dtype)
        for name in ("one", "two"):
            other["good"].attrs[name] = other["good"].ref
    with penstock.open(path) as f:
        assert list(f) == ["good"]
        assert list(f["good"][...]) == [0, 1, 2]
        said = "\n".join(f.warnings)
    for words in (
        "'" + "l" * 60 + "...' is an object with a name of more than 1000 bytes",
        "'_penstock/mine'",
        "'huge' is a dataset of more than 2^63 bytes",
        "'refs'",
        "'good@one'",
        "'good@two'",
    ):
        assert words in said
    with pytest.raises(penstock.Unsupported):
        penstock.copy(path, tmp_path / "copy.h5")


def test_a_copy_that_fails_in_reading_names_the_file_once(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "other.h5"
    path.parent.mkdir()
    (tmp_path / "away.bin").write_bytes(bytes(10))
    with h5py.File(path, "w") as other:
        other.create_dataset("away", (10,), "u1", external=[("../away.bin", 0, 10)])
    with pytest.raises(penstock.Unsupported) as refused:
        penstock.copy(path, tmp_path / "copy.h5")
    said = str(refused.value)
    assert said.endswith(
        "its values are in '../away.bin', outside the folder of its file, where penstock does not look"
    )
    assert said.count(str(path)) == 1


@pytest.mark.parametrize("of_dataset", [True, False])
def test_a_copy_that_would_round_is_refused(tmp_path: Path, of_dataset: bool) -> None:
    path = tmp_path / "long.h5"
    wide = np.longdouble(1) + np.longdouble(2) ** -60
    with h5py.File(path, "w") as other:
        other["x"] = np.array([wide]) if of_dataset else np.zeros(1)
        if not of_dataset:
            other["x"].attrs["wide"] = wide
    with pytest.raises(penstock.Unsupported, match="cannot be copied without loss"):
        penstock.copy(path, tmp_path / "copy.h5")


def test_the_first_of_two_links_names_a_group(tmp_path: Path) -> None:
    path = tmp_path / "linked.h5"
    with h5py.File(path, "w") as other:
        other["g/x"] = np.arange(3.0)
        other["h"] = other["g"]
    with penstock.open(path) as f:
        assert list(f) == ["g/x"]


def test_a_copy_of_a_file_without_checksums_has_them(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "plain.h5", "w") as other:
        other["x"] = np.arange(1000.0)
    penstock.copy(tmp_path / "plain.h5", tmp_path / "copy.h5")
    penstock.verify(tmp_path / "copy.h5")


def test_a_dataset_that_cannot_be_read_spares_the_others(tmp_path: Path) -> None:
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as h:
        h.create_dataset("a", data=np.arange(1000), chunks=(1000,), compression="gzip")
        h["b"] = np.arange(3)
        place = h["a"].id.get_chunk_info(0)
    whole = bytearray(path.read_bytes())
    whole[place.byte_offset : place.byte_offset + place.size] = bytes(place.size)
    path.write_bytes(whole)
    with penstock.open(path) as f:
        with pytest.raises(penstock.Error, match="'a'"):
            f["a"][...]
        assert f["b"][...].tolist() == [0, 1, 2]


@pytest.mark.parametrize("version", ["earliest", "v108", "latest"])
def test_a_truncated_file_has_our_sentence_first(tmp_path: Path, version: str) -> None:
    path = tmp_path / "cut.h5"
    with h5py.File(path, "w", libver=(version, "latest")) as file:
        file["q"] = np.ones(10_000)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(penstock.Damaged) as cut:
        penstock.open(path)
    told = f"'{path}' is a truncated HDF5 file: it has {len(whole) // 2} of {len(whole)} bytes, so it was not "
    assert str(cut.value).startswith(told)
    assert "copy it again, or use an earlier file (HDF5: truncated file: eof = " in str(cut.value)
    path.write_bytes(whole[:8])
    with pytest.raises(penstock.Damaged, match=r"damaged or truncated HDF5 file of 8 bytes: copy it again.* \(HDF5: "):
        penstock.open(path)
