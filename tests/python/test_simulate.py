"""test_simulate.py: `penstock simulate` on known machines and a user's own, and how it compares with studies."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from conftest import Penstock
from penstock.base.mounts import kind_of
from penstock.measure.simulate import machine
from penstock.measure.simulate.run import PROGRAM
from penstock.measure.tune import wisdom

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
    assert machine.load("here")["nodes"]["memory_threads"] in {1, 2}
    fastest = max(rates["write_direct_all"], rates["write_synced_all"])
    for result in json.loads(record.read_text())["results"]:
        assert (64 << 20) / result["seconds"] <= fastest


def copies_slowly(path: Path) -> Path:
    """One node like this one, with its kind of file system; memory is so slow that ranks had better not gather."""
    described = tomllib.loads(OWN.read_text())
    described["nodes"] |= {"count": 1, "cores": 4, "memory_rate": 1e6}
    described["file_system"] |= {"kind": kind_of(path.parent), "block": 4096, "smallest": 4096}
    lines = ['name = "Next year\'s"']
    for table in ("nodes", "servers", "targets", "file_system", "metadata"):
        lines += [f"[{table}]", *(f"{key} = {json.dumps(value)}" for key, value in described[table].items())]
    path.write_text("\n".join(lines))
    return path


def test_wisdom_for_a_machine_that_is_not_there_yet(
    penstock: Penstock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, kept = copies_slowly(tmp_path / "own.toml"), tmp_path / "kept.json"
    monkeypatch.setenv("PENSTOCK_WISDOM", str(kept))
    workload = ("block2d", "--total", "256KiB")
    for operation, more in (("write", []), ("read", ["--read"])):
        done = penstock(
            *("simulate", *workload, "--machine", str(own), "--np", "2,3", "--format", "raw", *more),
            *("--wisdom", str(kept)),
        )
        assert done.returncode == 0, done.stderr
        assert f"Kept in {kept}, as simulated: {operation} on 2 ranks by raw/independent, 0.0" in done.stdout
    entries = wisdom.read(kept)
    assert [(one["problem"]["operation"], one["problem"]["ranks"]) for one in entries] == [
        *(("read", 2), ("read", 3)),
        *(("write", 2), ("write", 3)),
    ]
    shown = penstock("tune", "--show").stdout
    assert "any MPI library" in shown
    assert re.search(r"of the default's time; simulated [-0-9]+ on Next year's, used where nothing was measured", shown)
    explained = penstock("plan", *workload, "--np", "2", "--format", "raw").stdout
    assert re.search(r"plan independent: wisdom of [-0-9]+, simulated on Next year's: 0\.0", explained)

    used = ("bench", *workload, "--np", "2", "--readers", "2", "--repetitions", "1", "--methods", "raw,raw/two_phase")
    for plan, reason in (
        ("raw/independent", r"wisdom of [-0-9]+, simulated on Next year's: 0\.\d\d of the default's time"),
        ("raw/two_phase:writers=1", r"wisdom of 2026-11-27: 0\.50 \[0\.40, 0\.60\] of the default's time"),
    ):
        done = penstock(*used, "--json", "used.json")
        assert done.returncode == 0, done.stderr
        lines = [
            line for line in json.loads((tmp_path / "used.json").read_text())["results"] if line["method"] == "raw"
        ]
        assert [line["operation"] for line in lines] == ["write", "read"]
        for line in lines:
            assert line["plan"] == plan
            assert re.fullmatch(reason, line["reason"])
        # Whatever the simulator says, it was measured that another plan is faster.
        measured = [
            wisdom.Entry(line["problem"], "two_phase:writers=1", 0.5, 0.4, 0.6, "2026-11-27", 0.1, 12, 60)
            for line in lines
        ]
        for one, simulated in zip(measured, (entries[2], entries[0]), strict=True):
            assert one.problem | {"mpi": ""} == simulated["problem"], "a real commit asks the same"
        wisdom.keep(kept, measured)
    assert len(wisdom.read(kept)) == 6


def test_stripes_of_new_files_are_tried_on_lustre(penstock: Penstock, tmp_path: Path) -> None:
    words = ("simulate", "block3d", "--per-rank", "8MiB", "--machine", "frontier", "--np", "1024", "--format", "hdf5")
    done = penstock(*words, "--wisdom", "kept.json")
    assert done.returncode == 0, done.stderr
    assert "hdf5/two_phase:stripe_count=-1" in done.stdout
    (kept,) = wisdom.read(tmp_path / "kept.json")
    assert kept["plan"] == "two_phase:stripe_count=64", "as fast as over all targets"
    assert kept["ratio"] < 0.3
    assert "stripe_count=" not in penstock(*words, "--read").stdout


def test_the_default_stays_where_nothing_is_much_faster(penstock: Penstock, tmp_path: Path) -> None:
    words = ("simulate", "block3d", "--per-rank", "8MiB", "--machine", "frontier", "--np", "4096")
    done = penstock(*words, "--methods", "hdf5/two_phase,hdf5/mpiio,phdf5,netcdf/two_phase", "--wisdom", "kept.json")
    assert done.returncode == 0, done.stderr
    kept = wisdom.read(tmp_path / "kept.json")
    assert [one["problem"]["format"] for one in kept] == ["hdf5", "netcdf"]
    for one in kept:
        assert (one["plan"], one["ratio"], one["simulated"]) == ("two_phase", 1, "Frontier")
        assert (one["problem"]["filesystem"], one["problem"]["ranks_per_node"]) == ("lustre", 64)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("--methods and --format: one of them", ["--format", "raw", "--methods", "raw/two_phase"]),
        ("there is no format 'hdf6'", ["--format", "hdf6"]),
        ("name FORMAT/two_phase among --methods", ["--methods", "raw/independent,phdf5,raw/gather"]),
        ("a simulation has no page cache", ["--regime", "cached"]),
        ("a simulation has no page cache", ["--warm", "--read"]),
        ("damaged.json is no file of wisdom", ["--wisdom", "damaged.json"]),
    ],
)
def test_wisdom_that_cannot_be_kept(penstock: Penstock, tmp_path: Path, said: str, words: list[str]) -> None:
    (tmp_path / "damaged.json").write_text("{")
    keep = [] if "--wisdom" in words else ["--wisdom", "kept.json"]
    done = penstock("simulate", "block2d", "--machine", "babel", "--np", "8", *keep, *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert not (tmp_path / "kept.json").exists()


def test_wisdom_needs_the_kind_of_file_system(penstock: Penstock, tmp_path: Path) -> None:
    own = copies_slowly(tmp_path / "own.toml")
    own.write_text("\n".join(line for line in own.read_text().splitlines() if not line.startswith("kind")))
    done = penstock("simulate", "block2d", "--machine", "own.toml", "--np", "2", "--wisdom", "kept.json")
    assert done.returncode == 2
    assert "Next year's: wisdom is kept for a kind of file system: [file_system] has no kind" in done.stderr


@pytest.mark.nightly
def test_what_is_published_is_about_right(penstock: Penstock) -> None:
    done = penstock("simulate", "--validate")
    assert done.returncode == 0, done.stderr
    found = re.search(r"not used to fit: (\d+) of (\d+) within", done.stdout)
    assert found
    assert int(found[1]) >= 0.8 * int(found[2]) > 0
    orders = r"Orders of others' studies that were not used to fit: (\d+) of (\d+) right, (\d+) wrong"
    right = re.search(orders, done.stdout)
    assert right
    assert int(right[1]) > 3 * int(right[3])
    assert int(right[1]) >= 0.8 * int(right[2])
