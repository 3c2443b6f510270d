"""test_info.py: `penstock info` says what files are, of whatever kind, whole, damaged or hostile."""

import json
import os
import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import penstock as library
from conftest import Penstock
from penstock.base.words import size as words_size
from penstock.crc64 import crc64
from penstock.files.catalogue.series import SUM_KEY

PLANS = {
    "a.h5": "",
    "b.nc": "netcdf/two_phase",
    "set.h5": "hdf5/two_phase:placement=parts,parts=3",
    "rank.h5": "hdf5/independent:placement=per_rank",
    "c.raw": "raw/two_phase:placement=parts,parts=2,parity=1",
}


def write(path: Path, plan: str) -> None:
    with library.create(path, plan=plan) as file:
        file["rho"] = library.block(np.ones((64, 128)), shape=(64, 128), start=(0, 0), units="kg/m3")
        file["flow/u"] = library.block(np.ones((2, 3), "f4"), shape=(2, 3), start=(0, 0))
        file["step"] = library.replicated(np.int64(3))
        file["word"] = library.replicated(np.array([b"abc", b"de"]))
        file.attrs["title"] = "a title"
        file.attrs["big"] = np.int64(2**63 - 1)
        file.attributes("flow")["model"] = np.array([0.5, 2])


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    for name, plan in PLANS.items():
        write(tmp_path / name, plan)
    return {name: tmp_path / (name if name != "c.raw" else "c.raw.json") for name in PLANS}


def found(penstock: Penstock, path: Path) -> dict[str, Any]:
    ran = penstock("info", str(path), "--json")
    assert ran.returncode == 0, ran.stderr
    line = json.loads(ran.stdout)
    assert line["file"] == str(path)
    return dict(line["found"])


def test_what_was_written_is_told(penstock: Penstock, files: dict[str, Path]) -> None:
    for name, path in files.items():
        told = found(penstock, path)
        datasets = {each["name"]: each for each in told["datasets"]}
        assert {n: (d["type"], d["shape"], d["bytes"], d["checksums"]) for n, d in datasets.items()} == {
            "flow/u": ("f32", [2, 3], 24, True),
            "rho": ("f64", [64, 128], 65536, True),
            "step": ("i64", [], 8, True),
            "word": ("text[3]", [2], 6, True),
        }
        assert told["attributes"][""]["title"]["value"] == "a title"
        assert told["attributes"][""]["big"]["value"] == 2**63 - 1
        assert told["attributes"]["rho"]["units"]["value"] == "kg/m3"
        assert told["attributes"]["flow"]["model"]["value"] == [0.5, 2]
        assert told["set"] == (name not in ("a.h5", "b.nc"))
        assert told["parity"] == (name == "c.raw")
        assert all(Path(file["path"]).stat().st_size == file["bytes"] for file in told["files"])
        assert len(told["files"]) == {"set.h5": 4, "rank.h5": 2, "c.raw": 4}.get(name, 1)


def test_where_the_data_is_is_where_it_is(penstock: Penstock, files: dict[str, Path]) -> None:
    told = found(penstock, files["a.h5"])
    (offset,) = [each["offset"] for each in told["datasets"] if each["name"] == "rho"]
    assert files["a.h5"].read_bytes()[offset : offset + 65536] == np.ones((64, 128)).tobytes()


def test_what_is_not_read_is_listed_with_the_reason(penstock: Penstock, tmp_path: Path) -> None:
    path = tmp_path / "others.h5"
    with h5py.File(path, "w") as file:
        file["t"] = np.arange(3.0)
        file["words"] = np.array(["one", "three"], dtype=h5py.string_dtype())
        file["table"] = np.zeros(2, dtype=[("a", "i4"), ("b", "f8")])
        file["pointers"] = np.array([file["t"].ref], dtype=h5py.ref_dtype)
        file["soft"] = h5py.SoftLink("/t")
    reasons = [
        "'table' is a dataset of a compound type, which penstock does not have",
        "'pointers' is a dataset of references, which penstock does not have",
        "'soft' is a soft or external link",
    ]
    for words in (["info"], ["info", "--list"], ["ls"]):
        said = penstock(*words, str(path)).stdout
        for reason in reasons:
            assert f"not read: {reason}" in said, words
        assert "words" in said
        assert "text[5]" in said
    assert sorted(found(penstock, path)["unread"]) == sorted(reasons)
    with library.open(path) as file:
        assert sorted(file) == ["t", "words"]
        assert file["words"][...].tolist() == ["one", "three"]
        for reason in reasons:
            assert any(reason in warning for warning in file.warnings)
            _, name, why = reason.split("'")
            told = f"'{name}' in '{path}' cannot be read: it{why}"
            for ask, word in ((file.__getitem__, name), (file.attributes, f"/{name}")):
                with pytest.raises(library.Unsupported) as asked:
                    ask(word)
                assert told in str(asked.value)
            assert name not in file
            assert told in penstock("view", str(path), name).stderr
            assert told in penstock("convert", str(path), "copy.h5", "--only", name).stderr
            assert f"not read: {reason}" in penstock("info", str(path), "--only", name).stderr


def test_for_a_person(penstock: Penstock, files: dict[str, Path]) -> None:
    ran = penstock("info", str(files["a.h5"]))
    assert ran.returncode == 0
    assert f"{files['a.h5']}: HDF5, " in ran.stdout
    assert "checksums of all datasets" in ran.stdout
    assert "rho     f64      (64, 128)  64 KiB  units kg/m3" in ran.stdout
    ran = penstock("info", "--list", str(files["a.h5"]), "--only", "r*", "--only", "/flow/*")
    assert [line.split() for line in ran.stdout.splitlines()] == [
        ["flow/u", "f32", "(2,", "3)", "24", "B"],
        ["rho", "f64", "(64,", "128)", "64", "KiB", "units=kg/m3"],
    ]
    ran = penstock("info", str(files["a.h5"]), "--only", "zz")
    assert (ran.returncode, ran.stderr) == (1, f"penstock: '{files['a.h5']}' has no dataset like zz\n")


def test_what_others_wrote(penstock: Penstock, tmp_path: Path) -> None:
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file.create_dataset("packed", data=np.ones((100, 200)), chunks=(10, 20), compression="gzip")
    (dataset,) = found(penstock, tmp_path / "other.h5")["datasets"]
    assert (dataset["chunk"], dataset["plain"], dataset["checksums"]) == ([10, 20], False, False)
    stored = dataset["stored_bytes"]
    assert dataset["filters"] == ["deflate 4"]
    assert 0 < stored < 16000
    said = penstock("info", "other.h5").stdout
    assert "no checksums: not written by penstock" in said
    assert f"chunks (10, 20), deflate 4: {words_size(stored)}, {160000 / stored:.3g} : 1" in said


def test_a_folder_has_sets_once_and_marks_what_is_left_over(
    penstock: Penstock, files: dict[str, Path], tmp_path: Path
) -> None:
    with library.series(tmp_path / "out-*.h5") as series, series.step(0, 0.5) as file:
        file["q"] = library.replicated(np.arange(3.0))
    with library.create_stream(tmp_path / "log.streams") as stream:
        stream.write(b"hello")
    (tmp_path / "notes.txt").write_text("not ours\n")
    (tmp_path / ".x.h5.0123456789abcdef.fedcba987654-17-4711..elsewhere.partial").write_bytes(b"")
    ran = penstock("info", ".")
    assert ran.returncode == 0, ran.stderr
    lines = dict(line.split("  ", 1) for line in ran.stdout.splitlines())
    assert {name.strip() for name in lines} >= {path.name for path in files.values()} | {
        "out.series.json",
        "log.streams",
    }
    assert not any(".g" in name or name == "notes.txt" for name in lines)
    assert "a series of 1 step\n" in ran.stdout
    assert "time 0.5" in penstock("info", "out.series.json").stdout
    assert "penstock streams log.streams" in penstock("info", "log.streams").stdout


def test_a_lost_part_is_told(penstock: Penstock, files: dict[str, Path], tmp_path: Path) -> None:
    next(tmp_path.glob("set.h5.g*.part000001.h5")).unlink()
    ran = penstock("info", str(files["set.h5"]))
    assert ran.returncode == 1
    assert "MISSING: " in ran.stdout
    assert "part000001.h5  MISSING" in ran.stdout


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty (0 bytes)"),
        (b"\x89HDF\r\n\x1a\n" + bytes(40), "broken"),
        (b"CDF\x05" + b"\xff" * 60, "broken"),
        (b'{"schema": "penstock.index/1"', "broken"),
        (b'{"schema": "penstock.series/1", "steps": 7}', "its index cannot be read"),
    ],
    ids=["empty", "hdf5", "netcdf", "index", "series"],
)
def test_hostile_files_are_one_line(penstock: Penstock, tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "broken").write_bytes(content)
    for command in ("info", "info --list", "ls"):
        ran = penstock(*command.split(), "broken")
        assert ran.returncode == 1
        text = (ran.stdout + ran.stderr).strip()
        assert text.count("\n") == 0, text
        assert said in text
        assert "Traceback" not in text


def test_an_attribute_of_several_dimensions_has_its_shape(penstock: Penstock, tmp_path: Path) -> None:
    with h5py.File(tmp_path / "matrix.h5", "w") as file:
        file["q"] = np.arange(3.0)
        file["q"].attrs["units"] = np.array([["m", "s"]], dtype="S1")
        file.attrs["cell"] = np.arange(6).reshape(2, 3)
        file.attrs["list"] = [1, 2]
    told = found(penstock, tmp_path / "matrix.h5")["attributes"]
    assert told[""]["cell"] == {"type": "i64", "shape": [2, 3], "value": [0, 1, 2, 3, 4, 5]}
    assert (told[""]["list"]["shape"], told["q"]["units"]["shape"]) == ([2], [1, 2])
    said = penstock("info", "matrix.h5").stdout
    assert "cell  (2, 3) [0, 1, 2, 3, 4, 5]\n" in said
    assert "list  [1, 2]\n" in said
    for words in (["info", "matrix.h5"], ["ls", "--long", "matrix.h5"]):
        assert re.search(r'units.\(1, 2\) \["m", "s"\]', penstock(*words).stdout)


def test_nothing_there(penstock: Penstock, tmp_path: Path) -> None:
    ran = penstock("info", "nowhere.h5")
    assert (ran.returncode, ran.stderr) == (2, "penstock: 'nowhere.h5': no such file or folder\n")
    (tmp_path / "empty").mkdir()
    ran = penstock("info", "empty")
    assert (ran.returncode, ran.stderr) == (1, "penstock: 'empty' has no file that penstock reads\n")


def test_ls_says_what_info_says(penstock: Penstock, files: dict[str, Path], tmp_path: Path) -> None:
    path = str(files["a.h5"])
    assert penstock("ls", path, "r*").stdout == penstock("info", "-l", path, "--only", "r*").stdout
    long = penstock("ls", "--long", path).stdout
    assert long == penstock("info", "-l", "--all", path).stdout
    assert "at byte " in long
    assert penstock("ls", ".").stdout == penstock("info", ".").stdout
    with library.series(tmp_path / "out-*.h5") as series, series.step(0, 0.5) as file:
        file["q"] = library.replicated(np.arange(3.0))
    ran = penstock("ls", "out.series.json")
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "'penstock info out.series.json' says more" in ran.stderr


def test_only_some_datasets_and_several_paths(penstock: Penstock, files: dict[str, Path], tmp_path: Path) -> None:
    ran = penstock("info", str(files["a.h5"]), "--only", "r*")
    assert "1 dataset, 64 KiB:" in ran.stdout
    assert "flow/u" not in ran.stdout
    (tmp_path / "folder").mkdir()
    write(tmp_path / "folder" / "x.h5", "")
    ran = penstock("info", "-l", "folder", "a.h5")
    assert ran.stdout.startswith("folder:\nx.h5  hdf5, 4 datasets, ")
    assert "\na.h5:\nflow/u " in ran.stdout
    told = [json.loads(line)["file"] for line in penstock("info", "--json", "folder", "a.h5").stdout.splitlines()]
    assert told == ["folder/x.h5", "a.h5"]


def test_a_file_of_a_folder_that_cannot_be_read_is_told_and_counts(penstock: Penstock, tmp_path: Path) -> None:
    (tmp_path / "broken.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(40))
    ran = penstock("info", ".")
    assert ran.returncode == 1
    assert "broken.h5  cannot be read: " in ran.stdout
    assert penstock("ls", ".").returncode == 0


def swapped(text: bytes, good_sum: bool) -> bytes:
    """An index whose first two steps have each other's lines."""
    lines = text.splitlines(keepends=True)
    first, second = (i for i, line in enumerate(lines) if b'"iteration"' in line)
    lines[first], lines[second] = lines[second].rstrip(b"\n") + b",\n", lines[first].rstrip(b",\n") + b"\n"
    text = b"".join(lines)
    return signed(text[: text.rindex(SUM_KEY)]) if good_sum else text


def signed(body: bytes) -> bytes:
    """An index of BODY with its checksum."""
    return body + SUM_KEY + f'"{crc64(body):016x}"}}\n'.encode()


def test_a_series_is_what_its_reader_finds(penstock: Penstock, tmp_path: Path) -> None:
    pattern, index = tmp_path / "out-*.h5", tmp_path / "out.series.json"
    with library.series(pattern) as series:
        for step in (0, 7):
            with series.step(step, step / 4) as file:
                file["q"] = library.replicated(np.arange(3.0))
    whole = index.read_bytes()
    index.write_bytes(swapped(whole, good_sum=False))
    with pytest.warns(UserWarning, match="damaged"):
        series = library.open_series(pattern)
    with series:
        read = [[step.iteration, step.time, Path(step.path).name] for step in series]
        assert "damaged" in series.warnings[0]
    told = found(penstock, index)
    assert told["steps"] == read == [[0, 0.0, "out-00000000.h5"], [7, 1.75, "out-00000007.h5"]]
    assert "damaged" in told["warnings"][0]
    assert "warning: the index" in penstock("info", str(index)).stdout
    index.write_bytes(swapped(whole, good_sum=True))
    with pytest.raises(library.Damaged, match="do not ascend"):
        library.open_series(pattern)
    ran = penstock("info", str(index))
    assert ran.returncode == 1
    assert "do not ascend" in ran.stderr
    start = whole[: whole.index(b'"steps": [')]
    index.write_bytes(signed(start + b'"steps": {}'))
    assert "it has no 'pattern' or no 'steps'" in penstock("info", str(index)).stderr
    index.write_bytes(signed(whole[: whole.rindex(SUM_KEY)].replace(b"1.75", b"NaN")))
    told = found(penstock, index)
    assert told["steps"] == read
    assert "damaged" in told["warnings"][0]
    index.write_bytes(whole)
    (tmp_path / "out-00000008.h5").symlink_to("out-00000008.h5")
    told = found(penstock, index)
    assert told["steps"] == read
    assert "out-00000008.h5' was skipped: Too many levels of symbolic links" in told["warnings"][0]
    (tmp_path / "out-00000008.h5").unlink()
    # A file that has changed, and one that is no step.
    index.write_bytes(whole)
    os.utime(tmp_path / "out-00000007.h5")
    with library.create(tmp_path / "out-00000009.h5") as file:
        file["q"] = library.replicated(np.arange(3.0))
    with pytest.warns(UserWarning, match="skipped"), library.open_series(pattern) as series:
        assert len(series) == 2
    told = found(penstock, index)
    assert told["steps"] == read
    assert "out-00000009.h5' was skipped" in told["warnings"][0]


STEP = b'"iteration": 7, "time": 1.75, "file": "out-00000007.h5"'


@pytest.mark.filterwarnings("ignore:the index")
@pytest.mark.parametrize(
    "damage",
    [
        lambda _: b"",
        lambda _: b"\x00\xff garbage",
        lambda whole: whole[:150],
        lambda _: b'{"schema": "other/1"}',
        lambda _: b"[1]",
        lambda _: b'{"schema": "penstock.series/1", "steps": ' + b"[" * 100_000,
        lambda whole: signed(whole[: whole.rindex(SUM_KEY)].replace(b"penstock.series/1", b"penstock.series/2")),
        lambda whole: signed(whole[: whole.rindex(SUM_KEY)].replace(b'"pattern"', b'"other"')),
        lambda whole: signed(whole[: whole.rindex(SUM_KEY)].replace(STEP, STEP.replace(b"file", b"f"))),
        lambda whole: signed(whole[: whole.rindex(SUM_KEY)].replace(STEP, STEP.replace(b"1.75", b'"1"'))),
        lambda whole: signed(whole[: whole.rindex(SUM_KEY)].replace(b'"iteration": 7', b'"iteration": -7')),
        lambda whole: signed(whole[: whole.rindex(SUM_KEY)].replace(b'"number": 1', b'"number": 0.5')),
        lambda whole: signed(whole[: whole.rindex(SUM_KEY)].replace(b'"branch"', b'"b"')),
        lambda whole: signed(whole[: whole.index(b'{"iteration": 7')] + b"3]"),
    ],
    ids=["empty", "garbage", "cut", "foreign", "list", "deep", "schema", "pattern", "file", "time", "negative", "half",
         "branch", "number"],
)  # fmt: skip
def test_of_a_bad_index_info_says_what_its_reader_says(
    penstock: Penstock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: Callable[[bytes], bytes]
) -> None:
    monkeypatch.chdir(tmp_path)
    with library.series("out-*.h5") as series:
        for step in (0, 7):
            with series.step(step, step / 4) as file:
                file["q"] = library.replicated(np.arange(3.0))
    index = Path("out.series.json")
    before = index.read_bytes()
    index.write_bytes(damage(before))
    assert index.read_bytes() != before
    try:
        with library.open_series("out-*.h5") as series:
            said, steps = f"  warning: {series.warnings[0]}\n", len(series)
    except library.Damaged as error:
        said, steps = f"penstock: {error}\n", None
    ran = penstock("info", "out.series.json")
    assert said in (ran.stdout if steps else ran.stderr)
    if steps:
        assert f"a series of {steps} steps, files out-*.h5" in ran.stdout
    assert "a series of 2 steps" in penstock("info", ".").stdout or steps is None
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize(
    "command", ["info", "streams", "clean", "verify", "view", "diff", "convert", "ls", "catalogue"]
)
def test_links_in_a_circle_are_one_line(penstock: Penstock, tmp_path: Path, command: str) -> None:
    (tmp_path / "a.h5").symlink_to("b.h5")
    (tmp_path / "b.h5").symlink_to("a.h5")
    words = {"diff": ["b.h5"], "convert": ["c.h5"]}.get(command, [])
    ran = penstock(command, "a.h5", *words)
    assert ran.returncode != 0
    assert "Traceback" not in ran.stderr
    assert ran.stderr.startswith("penstock: ")
    assert ran.stderr.count("\n") == 1
    assert "a.h5" in ran.stderr


@pytest.mark.parametrize("damage", ["free space of no bytes", "an object beyond the end", "another signature"])
def test_a_damaged_global_heap_spares_what_is_not_in_it(tmp_path: Path, penstock: Penstock, damage: str) -> None:
    """Before, libhdf5 1.10 read the first for ever, and died of the second."""
    path = tmp_path / "x.h5"
    text = h5py.string_dtype()
    with h5py.File(tmp_path / "source.h5", "w") as other:
        other["numbers"] = np.arange(4)
    with h5py.File(path, "w") as other:
        other.create_dataset("words", data=np.array(["one", "eleven"], object), dtype=text)
        other.create_dataset("lists", (2,), dtype=h5py.vlen_dtype("i4"))[0] = [1, 2, 3]
        other["plain"] = np.arange(3)
        other["plain"].attrs["fixed"] = 7
        other["plain"].attrs["said"] = "variable"
        other["plain"].dims[0].attach_scale(other["plain"].parent.create_dataset("x", data=np.arange(3)))
        layout = h5py.VirtualLayout((4,), "i8")
        layout[:] = h5py.VirtualSource("source.h5", "numbers", (4,))
        other.create_virtual_dataset("virtual", layout)
    whole = bytearray(path.read_bytes())
    heap = whole.index(b"GCOL")
    if damage == "free space of no bytes":
        whole[heap + 16 : heap + 32] = bytes(16)
    elif damage == "an object beyond the end":
        whole[heap + 24 : heap + 32] = struct.pack("<Q", 1 << 40)
    else:
        whole[heap] = 0
    path.write_bytes(whole)
    with library.open(path) as f:
        assert f["plain"][...].tolist() == [0, 1, 2]
        assert dict(f["plain"].attrs) == {"fixed": 7}
        assert set(f) == {"plain", "x"}
        said = "\n".join(f.warnings)
    for what, name in (("a dataset", "words"), ("an attribute", "plain@said"), ("a dataset", "virtual")):
        assert f"'{name}' is {what} that cannot be read: its global heap at address {heap} is damaged: " in said
    ran = penstock("info", str(path))
    assert (ran.returncode, "'words' is a dataset that cannot be read" in ran.stdout) == (0, True)


def test_a_program_that_is_killed_names_the_file(
    penstock: Penstock, files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dying = tmp_path / "dying"
    dying.write_text("#!/bin/sh\nkill -SEGV $$\n")
    dying.chmod(0o755)
    monkeypatch.setattr("penstock.base.launch.program", lambda *_: dying)
    ran = penstock("info", str(files["a.h5"]))
    assert ran.returncode == 1
    assert f"'{files['a.h5']}': penstock-info was ended by SIGSEGV while it read this file" in ran.stderr
