"""test_series.py: a series as Python's own tools find it: its index, and every reference of its XDMF."""

import json
import subprocess
import xml.etree.ElementTree as Xml
from pathlib import Path

import h5py
import numpy
import pytest

from penstock.crc64 import crc64


def write_steps(build: Path, pattern: Path, options: str = "", first: int = 1, last: int = 3, plan: str = "") -> None:
    program = build / "bin" / "series_steps"
    if not program.is_file():
        pytest.fail("build/bin has no series_steps: 'make build' makes it")
    command = [str(program), str(pattern), plan, options, str(first), str(last)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=60)


def test_the_index_is_as_its_page_says(build: Path, tmp_path: Path) -> None:
    write_steps(build, tmp_path / "out-*.h5", "keep_last=2", 1, 4)
    text = (tmp_path / "out.series.json").read_bytes()
    index = json.loads(text)
    assert index["schema"] == "penstock.series/1"
    assert index["pattern"] == "out-*.h5"
    assert int(index["crc64"], 16) == crc64(text[: text.rindex(b',\n "crc64": ')])
    assert [step["iteration"] for step in index["steps"]] == [3, 4]
    for step in index["steps"]:
        info = (tmp_path / step["file"]).stat()
        assert (step["bytes"], step["changed_at"]) == (info.st_size, info.st_mtime_ns)
        with h5py.File(tmp_path / step["file"]) as file:
            assert file.attrs["iteration"] == step["iteration"]
            assert file.attrs["time"] == step["time"] == step["iteration"] / 4
            assert list(file.attrs["series"]) == [step["branch"], step["first"], step["number"]]
            assert file["provenance"].attrs["code"] == b"steps 1.0"
    names = {entry.name for entry in tmp_path.iterdir()}
    assert names == {"out.series.json", "out-00000003.h5", "out-00000004.h5"}


@pytest.mark.parametrize("options", ["xdmf=true", "xdmf=true,keep_last=2"])
def test_every_reference_of_the_xdmf_is_there(build: Path, tmp_path: Path, options: str) -> None:
    write_steps(build, tmp_path / "out-*.h5", options, 1, 3)
    write_steps(build, tmp_path / "out-*.h5", options, 3, 4)  # a restart: the headers of earlier steps are read
    kept = [3, 4] if "keep_last" in options else [1, 2, 3, 4]
    root = Xml.parse(tmp_path / "out.xmf").getroot()  # noqa: S314 (of ours)
    assert root.tag == "Xdmf"
    collections = root.findall("Domain/Grid")
    assert all(grid.get("CollectionType") == "Temporal" for grid in collections)
    seen = set()
    for collection in collections:
        grids = collection.findall("Grid")
        assert [float(grid.findall("Time")[0].get("Value", "")) for grid in grids] == [n / 4 for n in kept]
        for grid, iteration in zip(grids, kept, strict=True):
            topology = grid.find("Topology")
            assert topology is not None
            shape = [int(n) for n in topology.get("Dimensions", "").split()]
            origin, spacing = (
                [float(n) for n in (item.text or "").split()] for item in grid.findall("Geometry/DataItem")
            )
            for attribute in grid.findall("Attribute"):
                item = attribute.find("DataItem")
                assert item is not None
                file_name, _, dataset = (item.text or "").partition(":")
                with h5py.File(tmp_path / file_name) as file:
                    data = file[dataset]
                    assert shape == [int(n) for n in item.get("Dimensions", "").split()]
                    assert list(data.shape) == shape[-data.ndim :]
                    assert shape[: -data.ndim] in ([], [1])  # two dimensions are a sheet of three
                    assert (item.get("NumberType"), item.get("Precision")) == ("Float", "8")
                    assert data.dtype == numpy.float64
                    assert (data[()] == iteration).all()
                wanted = ([0, 0, 0], [1, 0.5, 0.25]) if dataset == "/rho" else ([0, 0, 0], [1, 1, 1])
                assert (origin, spacing) == wanted
                seen.add((dataset, iteration))
    assert seen == {(name, n) for name in ("/rho", "/fluid/u") for n in kept}
