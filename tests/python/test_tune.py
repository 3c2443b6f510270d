"""test_tune.py: the search for the fastest plan, and the file of wisdom that keeps it."""

import json
import multiprocessing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import Penstock
from penstock.base import launch
from penstock.cli import tune
from penstock.cli.problems import problems_of, stands_for, workload_of
from penstock.measure.campaign.program import ask
from penstock.measure.tune import probe, regret, wisdom
from penstock.measure.tune.candidates import candidates
from penstock.measure.tune.elsewhere import elsewhere
from penstock.measure.tune.predict import Predicted, Prediction, by_promise, predict
from penstock.measure.tune.regret import Regret, summary

SMALL = ("block2d", "--total", "256KiB", "--np", "2")


@pytest.fixture(autouse=True)
def _of_this_test(build: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs that were built, and wisdom of its own."""
    monkeypatch.setenv("PENSTOCK_BIN", str(build / "bin"))
    monkeypatch.setenv("PENSTOCK_WISDOM", str(tmp_path / "wisdom.json"))


@pytest.fixture
def _few_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search with all of them takes 20 s."""
    transports = ("two_phase", "two_phase:io=buffered", "independent")

    def few(_mpi: launch.Mpi, form: str, _ranks: int) -> list[str]:
        return [f"{form}/{transport}" for transport in transports]

    def estimated_of_few(mpi: launch.Mpi, problem: dict[str, Any]) -> Predicted:
        found = predict(mpi, problem)
        return found if found.estimated in transports else replace(found, estimated=None)

    monkeypatch.setattr(tune, "candidates", few)
    monkeypatch.setattr(regret, "candidates", few)
    monkeypatch.setattr(regret, "predict", estimated_of_few)


def entry(problem: dict[str, Any], plan: str = "independent") -> wisdom.Entry:
    return wisdom.Entry(problem, plan, 0.5, 0.4, 0.6, "2026-11-27", 0.1, 12, 60)


@pytest.mark.usefixtures("_few_plans")
def test_what_tune_finds_is_used(penstock: Penstock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = penstock("tune", *SMALL, "--budget", "40", "--format", "raw", "--wisdom", "found.json")
    assert done.returncode == 0, done.stderr
    assert "Kept as wisdom in found.json" in done.stdout
    entries = wisdom.read(tmp_path / "found.json")
    assert [one["problem"]["operation"] for one in entries] == ["write", "read"]
    assert all(one["ratio"] <= 1 for one in entries)
    # Whatever was faster here, another plan shows that wisdom is used.
    for one in entries:
        one["plan"] = "independent"
    (tmp_path / "other.json").write_text(json.dumps({"schema": wisdom.SCHEMA, "entries": entries}))
    monkeypatch.setenv("PENSTOCK_WISDOM", str(tmp_path / "other.json"))
    used = (
        "bench",
        *SMALL,
        "--readers",
        "2",
        "--repetitions",
        "1",
        "--methods",
        "raw,raw/two_phase",
        "--json",
        "used.json",
    )
    done = penstock(*used)
    assert done.returncode == 0, done.stderr
    for line in json.loads((tmp_path / "used.json").read_text())["results"]:
        if line["method"] == "raw":
            assert line["plan"] == "raw/independent"
            assert line["reason"].startswith("wisdom of ")
        else:
            assert line["plan"] == "raw/two_phase"
            assert line["reason"] == ""


def test_the_bench_keeps_what_it_measured(penstock: Penstock, tmp_path: Path) -> None:
    words = ("bench", *SMALL, "--repetitions", "6", "--methods", "raw/two_phase,raw/independent")
    done = penstock(*words, "--wisdom", "kept.json")
    assert done.returncode == 0, done.stderr
    assert "Kept in kept.json: write by raw/" in done.stdout
    kept = wisdom.read(tmp_path / "kept.json")
    assert [one["problem"]["operation"] for one in kept] == ["write", "read"]
    assert [one["problem"]["placement"] for one in kept] == ["single", ""]
    for methods in ("raw/independent,raw/two_phase", "raw/two_phase,raw/per_process"):
        done = penstock("bench", *SMALL, "--methods", methods, "--wisdom", "kept.json")
        assert done.returncode == 2
        assert "--wisdom compares with the default plan: name FORMAT/two_phase first of --methods" in done.stderr
    few = ("bench", *SMALL, "--repetitions", "2", "--methods", "raw/two_phase,raw/independent", "--wisdom", "kept.json")
    assert "Nothing was kept in kept.json: under 6 repetitions" in penstock(*few).stdout
    assert wisdom.read(tmp_path / "kept.json") == kept
    done = penstock("bench", *SMALL, "--count-only", "--wisdom", "kept.json")
    assert "--wisdom is for one WORKLOAD on one number of ranks" in done.stderr


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ((), "which workload?"),
        (("--np", "2"), "which workload?"),
        (("block2d", "--methods", "raw"), "--methods: penstock tune sets it for each of its rounds"),
        (("block2d", "--seed=3"), "--seed: penstock tune sets it for each of its rounds"),
        (("block2d", "--budget", "0"), "--budget must be a number of seconds over 0"),
        (("block2d", "--budget", "inf"), "--budget must be a number of seconds over 0"),
        (("metadata",), "penstock tune is for workloads: metadata measures something else"),
        (("block2d", "--count-only"), "--count-only is of penstock bench only"),
        (("block2d", "--compute=1"), "--compute measures writing in the background"),
        (("block2d", "--wisdom", "numbers.json"), "numbers.json: its entries or machines are no lists of objects"),
        (("block2d", "--wisdom", "/proc/nowhere/wisdom.json"), "/proc/nowhere"),
        (("block2d", "--wisdom", "damaged.json"), "damaged.json is no file of wisdom (JSON)"),
        (("block2d", "--wisdom", "newer.json"), "its schema is 'penstock.wisdom/2', not 'penstock.wisdom/1'"),
        (("block2d", "--format", "hdf6"), "there is no format 'hdf6'"),
    ],
)
def test_mistakes_are_named(penstock: Penstock, tmp_path: Path, words: tuple[str, ...], complaint: str) -> None:
    (tmp_path / "damaged.json").write_text("{")
    (tmp_path / "numbers.json").write_text('{"schema": "penstock.wisdom/1", "entries": [1]}')
    (tmp_path / "newer.json").write_text('{"schema": "penstock.wisdom/2", "entries": []}')
    done = penstock("tune", *words)
    assert done.returncode == 2, done.stdout
    assert complaint in done.stderr


def test_wisdom_is_shown_with_what_it_is_elsewhere(penstock: Penstock, tmp_path: Path) -> None:
    sizes = {"ranks": 4, "ranks_per_node": 4, "bytes_per_rank": 1 << 20, "blocks_per_rank": 1, "run_bytes": 4096}
    kind = {"format": "hdf5", "placement": "single", "durable": True, "in_memory": False}
    problem = sizes | kind | {"operation": "write", "filesystem": "ext4", "mpi": "Open MPI v4.1.4"}
    wisdom.keep(tmp_path / "wisdom.json", [entry(problem, "two_phase:buffer_bytes=1MiB,io=direct,writers=2")])
    done = penstock("tune", "--show")
    assert done.returncode == 0, done.stderr
    for line in (
        f"{tmp_path}/wisdom.json: 1 entry",
        "  write 1 MiB on each of 4 ranks (4 on a node), 1 block, runs of 4 KiB, durable, placement single, ext4, "
        "Open MPI v4.1.4",
        "  plan: hdf5/two_phase:buffer_bytes=1MiB,io=direct,writers=2: 0.500 (0.400 to 0.600) of the default's time; "
        "measured 2026-11-27",
        "  IOR: -a MPIIO -c --posix.odirect",
        "  MPI-IO hints: romio_cb_write=enable, cb_nodes=2, cb_buffer_size=1048576, direct_write=true",
        "  HDF5: H5Pset_dxpl_mpio with H5FD_MPIO_COLLECTIVE",
    ):
        assert line in done.stdout.splitlines()
    assert "absent.json: no wisdom" in penstock("tune", "--show", "--wisdom", "absent.json").stdout


@pytest.mark.parametrize(
    ("plan", "ior", "hint"),
    [
        ("independent", "-a POSIX", "romio_cb_read=disable"),
        ("independent:io=mmap", "-a MMAP", "romio_cb_read=disable"),
        ("mpiio", "-a MPIIO -c", "romio_cb_read=enable"),
        ("mpiio:level=2", "-a MPIIO", "romio_cb_read=disable"),
        ("mpiio:coordination=independent", "-a MPIIO", "romio_cb_read=disable"),
    ],
)
def test_plans_have_near_relatives(plan: str, ior: str, hint: str) -> None:
    found = elsewhere(plan, {"operation": "read", "filesystem": "lustre"})
    assert (found["IOR"], found["MPI-IO hints"]) == (ior, hint)
    assert "file system" not in found, "a file that is there keeps its stripes"


@pytest.mark.parametrize(
    ("plan", "changes", "stripes"),
    [
        ("two_phase", {}, "-c 8 -S 4096K"),
        ("two_phase:writers=32", {}, "-c 32 -S 4096K"),
        ("two_phase:stripe_bytes=16MiB,stripe_count=-1", {}, "-c -1 -S 16384K"),
        ("two_phase:writers=32", {"placement": "per_rank"}, "-c 1 -S 4096K"),
        ("two_phase", {"placement": "rank_order"}, "-c 8 -S 4096K"),
        ("two_phase", {"bytes_per_rank": 1 << 20}, "-c 1 -S 4096K"),
    ],
)
def test_on_lustre_there_are_stripes(plan: str, changes: dict[str, Any], stripes: str) -> None:
    large = {"ranks": 64, "bytes_per_rank": 1 << 28, "placement": "single", "operation": "write"}
    said = f"lfs setstripe {stripes} FOLDER, before the file is made"
    assert elsewhere(plan, large | {"filesystem": "lustre"} | changes)["file system"] == said
    for other in ({"filesystem": "ext4"}, {"filesystem": "lustre", "placement": "parts"}):
        assert "file system" not in elsewhere(plan, large | changes | other)


def test_wisdom_that_is_switched_off_cannot_be_added_to(penstock: Penstock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_WISDOM", "none")
    done = penstock("tune", *SMALL)
    assert done.returncode == 2
    assert "PENSTOCK_WISDOM=none: unset it, or name the file with --wisdom" in done.stderr


def _keep(path: Path, number: int) -> None:
    wisdom.keep(path, [entry({"ranks": number})])


def test_a_hundred_processes_add_wisdom_at_once(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "wisdom.json"
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_keep, args=(path, number % 50)) for number in range(100)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert sorted(one["problem"]["ranks"] for one in wisdom.read(path)) == list(range(50))
    assert [one.name for one in path.parent.iterdir() if "partial" in one.name] == []


def test_new_wisdom_replaces_that_of_the_same_problem(tmp_path: Path) -> None:
    path = tmp_path / "wisdom.json"
    wisdom.keep(path, [entry({"ranks": 1}, "old"), entry({"ranks": 2}, "other")])
    wisdom.keep(path, [entry({"ranks": 1}, "new")])
    assert [(one["problem"]["ranks"], one["plan"]) for one in wisdom.read(path)] == [(1, "new"), (2, "other")]


def test_the_first_candidate_is_the_default() -> None:
    for ranks in (1, 4):
        plans = candidates(launch.HERE, "netcdf", ranks)
        assert plans[0] == "netcdf/two_phase"
        assert len(set(plans)) == len(plans)
    assert "netcdf/two_phase:writers=16" in candidates(launch.HERE, "netcdf", 16)


def test_stripes_are_tried_and_used_on_lustre(
    penstock: Penstock, build: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a file system that looks so, and is slow until a file has stripes over all targets."""
    library, said = build / "lib" / "libpenstock_lustre.so", tmp_path / "stripes"
    assert library.is_file(), "'make build' makes it"
    monkeypatch.setattr(tune, "candidates", lambda _mpi, form, _ranks: [f"{form}/two_phase"])
    monkeypatch.setenv("LD_PRELOAD", str(library))
    monkeypatch.setenv("PENSTOCK_TEST_STRIPES", str(said))
    one = ("block2d", "--total", "4MiB", "--np", "1")
    done = penstock("tune", *one, "--budget", "20", "--wisdom", "found.json")
    assert done.returncode == 0, done.stderr
    assert {"65535"} <= set(said.read_text().split()) <= {"4", "64", "65535"}
    write, read = wisdom.read(tmp_path / "found.json")
    assert (write["plan"], write["problem"]["filesystem"]) == ("two_phase:stripe_count=-1", "lustre")
    assert read["plan"] == "two_phase"
    said.unlink()
    monkeypatch.setenv("PENSTOCK_WISDOM", str(tmp_path / "found.json"))
    words = ("--readers", "1", "--repetitions", "1", "--methods", "hdf5,hdf5/two_phase", "--json", "used.json")
    done = penstock("bench", *one, *words)
    assert done.returncode == 0, done.stderr
    lines = json.loads((tmp_path / "used.json").read_text())["results"]
    plans = {line["method"]: line["plan"] for line in lines if line["operation"] == "write"}
    assert plans == {"hdf5": "hdf5/two_phase:stripe_count=-1", "hdf5/two_phase": "hdf5/two_phase"}
    assert set(said.read_text().split()) == {"65535"}
    said.unlink()
    wisdom.keep(tmp_path / "found.json", [entry(write["problem"], "two_phase:stripe_count=16")])
    done = penstock("bench", *one, *words[:-3], "hdf5,hdf5/two_phase:stripe_count=16", *words[-2:])
    assert "hdf5/two_phase:stripe_count=16 failed: writing: setting the stripes of" in done.stderr
    lines = json.loads((tmp_path / "used.json").read_text())["results"]
    errors = {line["method"]: line["error"] for line in lines if line["operation"] == "write"}
    assert not errors["hdf5"], "the file system may refuse what nobody asked for"
    assert "setting the stripes of" in errors["hdf5/two_phase:stripe_count=16"]
    assert not said.exists()


def test_what_has_expired_goes_and_links_stay(tmp_path: Path) -> None:
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    old = entry({"ranks": 1})
    wisdom.keep(real, [replace(old, expires="2020-01-01")])
    real.chmod(0o600)
    link.symlink_to(real)
    wisdom.keep(link, [entry({"ranks": 2})])
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o600
    assert [one["problem"]["ranks"] for one in wisdom.read(real)] == [2]


@pytest.mark.usefixtures("_few_plans")
def test_a_bad_plan_of_the_environment_is_found(penstock: Penstock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_PLAN", "two_phase:buffer_bytes=4KiB,writers=1")
    done = penstock("tune", "block2d", "--total", "8MiB", "--np", "2", "--budget", "40", "--regime", "cached")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "write: PENSTOCK_PLAN=hdf5/two_phase:buffer_bytes=4KiB,writers=1 takes " in said
    assert "PENSTOCK_PLAN is set, and takes precedence over wisdom: unset it to use what was found." in said


@pytest.fixture
def _short_probe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "REPETITIONS", 1)
    monkeypatch.setattr(probe, "TOTAL", "8MiB")


@pytest.mark.usefixtures("_short_probe")
def test_a_probed_machine_is_kept_and_used(penstock: Penstock, tmp_path: Path) -> None:
    before = penstock("plan", *SMALL)
    assert before.returncode == 0, before.stderr
    assert "the default, since nothing was measured here" in before.stdout
    assert "which decide nothing" in before.stdout
    done = penstock("tune", "--probe", "--np", "2")
    assert done.returncode == 0, done.stderr
    (machine,) = wisdom.machines(tmp_path / "wisdom.json")
    assert machine["ranks"] == 2
    assert all(value > 0 for table in ("bytes_per_second", "seconds") for value in machine[table].values())
    after = penstock("plan", *SMALL)
    assert after.returncode == 0, after.stderr
    assert "by an estimate; penstock tune would measure" in after.stdout
    assert "that penstock tune --probe measured here" in after.stdout
    assert after.stdout.count("on each of 2 ranks (2 on a node), 1 block") == 2  # writing and reading
    words = ("bench", *SMALL, "--readers=2", "--repetitions=1", "--methods=raw,raw/two_phase", "--json=u.json")
    used = penstock(*words)
    assert used.returncode == 0, used.stderr
    for operation in ("write", "read"):
        assert used.stdout.count(f"raw, {operation}: predicted ") == 1
    assert "raw/two_phase, write: predicted" not in used.stdout
    for line in json.loads((tmp_path / "u.json").read_text())["results"]:
        assert line["reason"].startswith("estimate: ") == (line["method"] == "raw")
        assert (line["predicted_seconds"] is not None) == (line["method"] == "raw")
    wisdom.keep(tmp_path / "wisdom.json", [entry({"ranks": 1})])
    assert wisdom.machines(tmp_path / "wisdom.json") == [machine]
    assert penstock("tune", "--probe", "block2d").returncode == 2


@pytest.mark.usefixtures("_few_plans")
def test_a_record_and_a_trace_stand_for_a_workload(
    penstock: Penstock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_TRACE", str(tmp_path / "trace"))
    words = ("bench", *SMALL, "--readers", "2", "--repetitions", "1", "--methods", "raw/two_phase", "--json", "r.json")
    assert penstock(*words).returncode == 0
    monkeypatch.delenv("PENSTOCK_TRACE")
    in_record, in_trace = problems_of(tmp_path / "r.json"), problems_of(tmp_path / "trace")
    written = next(one for one in in_record if one["operation"] == "write")
    assert written in in_trace
    assert wisdom.alike(written, written | {"bytes_per_rank": written["bytes_per_rank"] + 1000})
    assert not wisdom.alike(written, written | {"bytes_per_rank": written["bytes_per_rank"] * 2})
    assert not wisdom.alike(written, written | {"durable": False})
    assert written["ranks"] == 2
    shown = penstock("plan", "trace")
    assert shown.returncode == 0, shown.stderr
    assert "on each of 2 ranks (2 on a node), 1 block" in shown.stdout
    said = penstock("doctor", "trace")
    assert "penstock tune" in said.stdout
    assert "measures other plans for it" in " ".join(said.stdout.split())

    done = penstock("tune", "r.json", "--budget", "40")
    assert done.returncode == 0, done.stderr
    kept = [one["problem"] for one in wisdom.read(tmp_path / "wisdom.json")]
    assert any(wisdom.alike(one, written) for one in kept)
    said = penstock("doctor", "trace")
    assert "penstock tune found" in " ".join(said.stdout.split())


@pytest.mark.parametrize(
    "problem", [{"run_bytes": 4096, "bytes_per_rank": 65536}, {"run_bytes": 7, "bytes_per_rank": 70}]
)
def test_the_workload_asks_the_same_of_its_plan(problem: dict[str, Any]) -> None:
    whole = problem | {"operation": "write", "ranks": 3, "blocks_per_rank": 2, "durable": True}
    words = [*workload_of(whole), "--methods", "hdf5/two_phase"]
    (job,) = json.loads(ask(launch.HERE, *words, "--dry-run", "--problems", "--np-virtual=3", "--dir=."))
    made = job["cases"][0]["problems"][0]
    assert {name: made[name] for name in whole} == whole


def test_a_program_with_a_workloads_name_is_no_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, mode, found in (("ior", 0o755, None), ("r.json", 0o755, Path("r.json")), ("text", 0o644, Path("text"))):
        Path(name).write_text("")
        Path(name).chmod(mode)
        assert stands_for(name) == found


def test_what_is_no_record_is_refused(penstock: Penstock, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text").write_text("no JSON")
    (tmp_path / "old.json").write_text(json.dumps({"schema": "penstock.bench/1", "results": []}))
    for name, why in (("text", "not a result of penstock bench"), ("old.json", "nothing in it says what was asked")):
        done = penstock("plan", name)
        assert done.returncode == 2
        assert why in done.stderr
    assert penstock("plan", "empty").returncode != 0
    assert penstock("plan", "nonsense").returncode != 0
    assert penstock("plan").returncode == 2


def test_plans_are_tried_in_the_order_of_their_promise() -> None:
    def predicted(*seconds: float) -> Predicted:
        names = ("two_phase", "two_phase:writers=1", "independent")
        plans = tuple(Prediction(name, one, "") for name, one in zip(names, seconds, strict=True))
        return Predicted({}, True, plans, None, None, "")

    plans = ["raw/two_phase:writers=1", "raw/mpiio", "raw/independent"]
    assert by_promise(plans, [predicted(1, 2, 3)]) == ["raw/mpiio", "raw/two_phase:writers=1", "raw/independent"]
    assert by_promise(plans, [predicted(1, 2, 3), predicted(1, 3, 0.5)])[0] == "raw/independent"
    assert by_promise(plans, []) == plans


@pytest.mark.usefixtures("_short_probe", "_few_plans")
def test_regret_is_against_the_best_plan(penstock: Penstock, tmp_path: Path) -> None:
    words = ("block3d", "--total", "1MiB", "--np", "2", "--methods", "raw/two_phase", "--repetitions", "1")
    assert penstock("bench", *words, "--json", "record.json").returncode == 0
    done = penstock("bench", "--preset", "regret", "record.json", "--repetitions", "2", "--json", "regret.json")
    assert done.returncode == 0, done.stderr
    content = json.loads((tmp_path / "regret.json").read_text())
    assert {one["case"] for one in content["regret"]} == {"record.json"}
    assert {one["np"] for one in content["regret"]} == {2}
    assert [one["problem"]["operation"] for one in content["regret"]] == ["write", "read"]
    for one in content["regret"]:
        assert one["default"] == "raw/two_phase"
        if one["default"] == one["best"]:
            assert one["default_regret"] == 1
    for wrong, given in (
        ("no case 'none'; there are blocks, durable", ["--only", "none"]),
        ("'block2d' cannot stand beside it", ["--only", "many, cached", "block2d"]),
        ("--total needs a workload before it", ["--total", "1MiB"]),
        ("--time-limit cannot stand beside --preset regret", ["--time-limit", "9"]),
        ("--seed cannot stand beside --preset regret", ["block2d", "--seed=4"]),
        ("--readers needs a workload before it", ["--readers", "2"]),
        ("metadata measures something else", ["metadata"]),
        ("record.json says how many ranks there are", ["record.json", "--np", "2"]),
    ):
        refused = penstock("bench", "--preset", "regret", *given)
        assert refused.returncode == 2
        assert wrong in refused.stderr


def test_a_regret_counts_if_its_interval_excludes_one() -> None:
    one = Regret("case", 4, {"operation": "write"}, "b", "d", "e", "m", 1.5, 1.3, 1.4, 1.25, 1.4, 0.9, 1.1, 10, 1)
    said = summary([one, replace(one, measure=1.0, low=1.0)])
    assert said[0].startswith("measure: at most 1.05 in 1 of 2 problems")
    assert said[0].endswith("over 1.2 in 1 (target: none)")
    assert said[1].startswith("estimate: at most 1.25 in 2 of 2"), "from 0.9"
    assert said[2] == "default: at most 1.05 in 0 of 2, 1.25 in 0 of 2"
    assert said[3].startswith("searching took 0.10 of")
