"""test_simulate.py: `penstock simulate` on known machines and a user's own, and how it compares with studies."""

import json
import re
from pathlib import Path

import pytest

from conftest import Penstock
from penstock.measure.simulate import machine
from penstock.measure.simulate.run import PROGRAM

OWN = Path(machine.__file__).parent / "machines" / "supermuc.toml"


@pytest.fixture(autouse=True)
def program(build: Path) -> None:
    if not (build / "bin" / PROGRAM).exists():
        pytest.skip(f"{PROGRAM} is not built: it needs SimGrid")


@pytest.mark.parametrize("name", machine.names())
def test_each_machine_is_simulated(penstock: Penstock, tmp_path: Path, name: str) -> None:
    record = tmp_path / "out.json"
    nodes = machine.load(name)["nodes"]
    most = min(1024, nodes["count"] * nodes["cores"])
    words = ["block3d", "--per-rank", "8MiB", "--np", f"{nodes['cores']},{most}", "--json", str(record)]
    done = penstock("simulate", *words, "--machine", name)
    assert done.returncode == 0, done.stderr
    found = json.loads(record.read_text())
    assert found["schema"] == "penstock.simulation/1"
    assert len(found["results"]) == 2 * 5
    for result in found["results"]:
        assert result["seconds"] >= 0.95 * result["limit_seconds"] > 0
    assert re.search(rf"^On .*{most:,} ranks use ", done.stdout, re.M)


def test_more_ranks_of_a_large_job(penstock: Penstock, tmp_path: Path) -> None:
    record = tmp_path / "out.json"
    made = tmp_path / "page.html"
    words = ["block3d", "--per-rank", "2MiB", "--np", "32768,262144", "--machine", "frontier", "--json", str(record)]
    words += ["-o", str(made)]
    done = penstock("simulate", *words, "--methods", "hdf5/two_phase,raw/per_process", "--tasks-per-node", "64")
    assert done.returncode == 0, done.stderr
    results = json.loads(record.read_text())["results"]
    times = {(result["np"], result["method"]): result["seconds"] for result in results}
    assert times[262144, "raw/per_process"] > times[32768, "raw/per_process"]
    assert results[-1]["limit"] == "the metadata server"
    text = made.read_text()
    assert "<svg" in text
    assert " ranks use hdf5/<wbr>two_phase for one portable file, raw/<wbr>per_process otherwise." in text


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("which machine? --machine names a file that ends in .toml, or one of here, babel, ", ["block2d"]),
        ("no machine 'bable' is known", ["block2d", "--machine", "bable"]),
        ("which workload?", ["--machine", "babel"]),
        ("was not probed here: penstock tune --probe does it", ["block2d", "--machine", "here"]),
        ("need more than the 10240 nodes of Babel", ["block2d", "--machine", "babel", "--np", "100000"]),
        ("'raw/servers' cannot be simulated", ["block2d", "--machine", "babel", "--methods", "raw/servers"]),
        ("own.toml", ["block2d", "--machine", "own.toml"]),
        ("--tasks-per-node 0: a node of Babel has 4 cores", ["block2d", "--machine", "babel", "--tasks-per-node", "0"]),
        ("--tasks-per-node 5", ["block2d", "--machine", "babel", "--tasks-per-node", "5"]),
        ("--bogus", ["block2d", "--machine", "babel", "--bogus", "3"]),
        (
            "cb_nodes is a whole number over 0",
            ["block2d", "--machine", "babel", "--methods", "raw/mpiio:hint.cb_nodes=x"],
        ),
        ("the hint x is not simulated", ["block2d", "--machine", "babel", "--methods", "raw/mpiio:hint.x=1"]),
        ("--validate has its own workloads and machines", ["--validate", "--machine", "babel"]),
    ],
)
def test_errors(penstock: Penstock, said: str, words: list[str]) -> None:
    done = penstock("simulate", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_machine_of_ones_own(penstock: Penstock, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(OWN.read_text().replace("SuperMUC", "Ours").replace('block = "8MiB"', 'block = "1MiB"', 1))
    done = penstock("simulate", "block2d", "--total", "1GiB", "--machine", str(own), "--np", "64")
    assert done.stdout.startswith("Ours: writing block2d, 16 ranks on each node")
    own.write_text(own.read_text().replace("link_rate", "link_speed"))
    done = penstock("simulate", "block2d", "--machine", str(own))
    assert "[nodes] has no link_rate" in done.stderr
    for wrong in ("nodes = 3", "name = 5", "assumed = [3]", "[nodes]\ncount = nan", "[nodes]\ncount = 2026-01-01", ""):
        own.write_text(wrong)
        done = penstock("simulate", "block2d", "--machine", str(own))
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
        assert "own" in done.stderr


def test_this_machine(penstock: Penstock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wisdom, record = tmp_path / "wisdom.json", tmp_path / "out.json"
    probed = penstock("tune", "--probe", "--np", "2", "--wisdom", str(wisdom))
    assert probed.returncode == 0, probed.stderr
    monkeypatch.setenv("PENSTOCK_WISDOM", str(wisdom))
    done = penstock(
        "simulate", "block2d", "--total", "64MiB", "--machine", "here", "--np", "2,4", "--json", str(record)
    )
    assert done.returncode == 0, done.stderr
    assert re.match(r"This node, \w+, Open MPI .*: writing block2d, on one node; simulated", done.stdout)
    rates = json.loads(wisdom.read_text())["machines"][0]["bytes_per_second"]
    fastest = max(rates["write_direct_all"], rates["write_synced_all"])
    for result in json.loads(record.read_text())["results"]:
        assert (64 << 20) / result["seconds"] <= fastest


@pytest.mark.nightly
def test_what_is_published_is_about_right(penstock: Penstock) -> None:
    done = penstock("simulate", "--validate")
    assert done.returncode == 0, done.stderr
    found = re.search(r"not used to fit: (\d+) of (\d+) within", done.stdout)
    assert found
    assert int(found[1]) >= 0.8 * int(found[2]) > 0
    right = re.search(r"Orders that were not used to fit: (\d+) of (\d+) right, (\d+) wrong", done.stdout)
    assert right
    assert int(right[1]) > 3 * int(right[3])
