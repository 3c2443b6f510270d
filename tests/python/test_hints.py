"""test_hints.py: `penstock hints` finds out by effect which hints are honoured; the tables are complete."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from conftest import BUILD, ROOT, run_penstock
from penstock.measure.hints.probe import differ, evidence
from penstock.measure.hints.tables import TABLES, How, known_hints


def found(folder: Path, mpi: str, *hints: str) -> dict[str, dict[str, Any]]:
    """What `penstock hints` says about HINTS on 4 ranks, by name."""
    program = BUILD / ("mpich/bin" if mpi == "mpich" else "bin") / "penstock-probe-hints"
    if not program.is_file():
        pytest.skip(f"there is no {program}")
    words = [word for hint in hints for word in ("--hint", hint)]
    out = folder / "out.json"
    done = run_penstock("hints", "--mpi", mpi, "--json", str(out), *words, cwd=folder, bin_folder=BUILD / "bin")
    assert done.returncode == 0, done.stderr
    for hint in hints:
        assert hint in done.stdout
    record = json.loads(out.read_text())
    assert (record["schema"], record["np"], record["control"]) == ("penstock.hints/1", 4, "no")
    assert {path.name for path in folder.iterdir()} == {"out.json"}
    return {entry["hint"]: entry for entry in record["hints"]}


@pytest.mark.parametrize("mpi", ["romio", "mpich"])
def test_romio_has_one_aggregator_for_a_host_until_its_list_says_otherwise(tmp_path: Path, mpi: str) -> None:
    said = found(tmp_path, mpi, "cb_nodes", "cb_config_list", "romio_ds_write")
    alone, listed = said["cb_nodes"]["probes"]
    assert (alone["with"], alone["effect"]) == ({}, False)
    assert (listed["with"], listed["effect"]) == ({"cb_config_list": "*:*"}, True)
    assert said["cb_nodes"]["evidence"].startswith("=2 only with cb_config_list=*:*: writers 4 → 2")
    assert said["cb_config_list"]["honoured"] == "yes"
    assert said["romio_ds_write"]["honoured"] == "yes"
    assert sum(said["romio_ds_write"]["probes"][0]["with_hint"]["write_bytes"]) == 1 << 20
    assert sum(said["romio_ds_write"]["probes"][0]["without_hint"]["write_bytes"]) > 3 << 20


def test_ompio_honours_few_and_echoes_all(tmp_path: Path) -> None:
    said = found(tmp_path, "ompio", "cb_nodes", "romio_cb_write", "romio_ds_write", "striping_factor")
    assert said["cb_nodes"]["honoured"] == "yes"
    assert said["cb_nodes"]["evidence"].startswith("=2: writers 1 → 2")
    for name in ("romio_cb_write", "romio_ds_write"):
        assert (said[name]["honoured"], said[name]["reported"]) == ("no", "disable")
    assert said["striping_factor"]["evidence"] == "needs Lustre"


def test_parameters_of_ompio_are_probed_by_starting_anew(tmp_path: Path) -> None:
    said = found(tmp_path, "ompio", "io_ompio_num_aggregators", "fcoll_vulcan_num_groups")
    assert said["io_ompio_num_aggregators"]["honoured"] == "yes"
    assert said["fcoll_vulcan_num_groups"]["honoured"] == "not probed"
    said = found(tmp_path, "romio", "io_ompio_num_aggregators")
    assert said["io_ompio_num_aggregators"]["evidence"] == "a parameter of Open MPI's OMPIO"


def test_a_hint_that_kills_the_program_does_not_hide_the_others(tmp_path: Path) -> None:
    said = found(tmp_path, "romio", "romio_cb_pfr", "cb_buffer_size")
    assert said["cb_buffer_size"]["honoured"] == "yes"
    if said["romio_cb_pfr"]["honoured"] != "kills":
        pytest.skip("not reproduced here: romio_cb_pfr does not kill the program")
    assert "penstock-probe-hints failed" in said["romio_cb_pfr"]["evidence"]


def test_an_unknown_hint_is_refused(tmp_path: Path) -> None:
    done = run_penstock("hints", "--hint", "nonsense", cwd=tmp_path, bin_folder=BUILD / "bin")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no hint 'nonsense' is known" in done.stderr


def test_every_hint_says_how_it_is_probed_or_why_not() -> None:
    hints = known_hints()
    names = [hint.name for hint in hints]
    assert len(names) == len(set(names))
    for hint in hints:
        assert bool(hint.probes) + bool(hint.unprobed) + bool(hint.needs) == 1, hint.name
        assert all((hint.meaning, hint.allowed, hint.default)), hint.name
        assert not (hint.probes and hint.how is How.environment), hint.name


def test_every_table_is_read() -> None:
    folder = ROOT / "tools" / "penstock" / "measure" / "hints"
    assert {path.stem for path in folder.glob("*.toml")} == set(TABLES)
    for path in folder.glob("*.toml"):
        assert path.read_text().startswith("# "), path
        assert tomllib.loads(path.read_text())["layer"]


def run(**changes: Any) -> dict[str, Any]:
    return {"writes": [1, 0], "write_bytes": [8, 0], "largest_write": [8, 0]} | changes


def test_what_differs_by_itself_is_no_effect() -> None:
    assert not differ((run(), run()), (run(), run()))
    assert differ((run(), run()), (run(writes=[2, 0]), run(writes=[2, 0])))
    assert not differ((run(), run(writes=[3, 0])), (run(writes=[2, 0]), run(writes=[2, 0])))
    assert not differ((run(), run()), (run(writes=[2, 0]), run(writes=[3, 0])))
    assert differ((run(), run()), (run(error="wrong"), run(error="wrong")))


def test_evidence_names_what_changed() -> None:
    empty = {key: [0, 0] for key in ("reads", "read_bytes", "largest_read", "locks", "direct_calls")}
    probe = {"value": "2", "with": {"a": "b"}, "without_hint": run() | empty, "with_hint": run(writes=[1, 1]) | empty}
    assert evidence(probe, alone=True) == "=2 only with a=b: writers 1 → 2, write calls 1 → 2"
    assert evidence(probe | {"with_hint": run() | empty}, alone=False) == "=2 with a=b: other ranks or other offsets"
