"""test_campaign.py: campaigns from TOML and from options, on real ranks with few bytes, interrupted, taken up again."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import INTERRUPTIBLE, Penstock
from penstock.base.errors import UserError
from penstock.measure.campaign import execute, record
from penstock.measure.campaign.request import Request, hinted, parse_ranks, parse_size, read_request, split_words
from penstock.measure.studies import stats
from penstock.measure.studies.pooled import Pooled

CAMPAIGN = """
name = "two sizes"
ranks = [1, 3]
repetitions = 2
methods = ["hdf5/two_phase", "raw/per_process", "phdf5:collective=true"]
hints = [{}, {romio_ds_write = "disable"}]

[[workload]]
name = "block2d"
total = ["256KiB", "1MiB"]
type = "real32"

[[workload]]
name = "many"
label = "small ones"
datasets = 5
dataset-bytes = "4KiB"
methods = ["hdf5/two_phase", "pnetcdf"]
hints = []
ranks = [3]
"""


def content(path: Path) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(path.read_text())
    return made


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    path = tmp_path / "campaign.toml"
    path.write_text(CAMPAIGN)
    return path


def test_toml_says_workloads_by_methods_by_ranks_by_sizes_by_hints(campaign: Path) -> None:
    request = read_request(campaign)
    assert (request.name, request.ranks, request.repetitions) == ("two sizes", (1, 3), 2)
    assert [case.name for case in request.cases] == ["block2d total=256KiB", "block2d total=1MiB", "small ones"]
    assert request.cases[1].words == ("block2d", "--total", "1MiB", "--type", "real32")
    assert request.cases[0].methods == (
        "hdf5/two_phase",
        "raw/per_process",
        "phdf5:collective=true",
        "phdf5:collective=true,hint.romio_ds_write=disable",
    )
    assert request.cases[2].methods == ("hdf5/two_phase", "pnetcdf")
    assert [case.name for case in request.of(1)] == ["block2d total=256KiB", "block2d total=1MiB"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("repetitions = 2", "repetitions = 0"), "repetitions = 0: a number, at least 1"),
        (("ranks = [1, 3]", "ranks = []"), "ranks: at least one number"),
        (('name = "two sizes"', 'nmae = "two sizes"'), "no setting 'nmae'"),
        (("ranks = [1, 3]", "ranks = [1, 3"), "not TOML"),
        (('name = "block2d"', "size = 3"), 'a [[workload]] has a name = "block2d"'),
        (("hints = []", "hints = {}"), "hints is a list of tables"),
        (('methods = ["hdf5/two_phase", "pnetcdf"]', "methods = []"), "small ones: which methods?"),
        (('label = "small ones"', 'label = "block2d total=1MiB"'), "two cases are called 'block2d total=1MiB'"),
    ],
)
def test_a_wrong_file_is_one_clear_error(campaign: Path, change: tuple[str, str], said: str) -> None:
    assert change[0] in CAMPAIGN
    campaign.write_text(CAMPAIGN.replace(*change))
    with pytest.raises(UserError) as error:
        read_request(campaign)
    assert said in str(error.value)
    assert str(error.value).startswith(str(campaign))


def test_words_are_told_apart() -> None:
    words = ["block2d", "--repetitions", "3", "--total=1MiB", "--readers=2", "--keep", "--half-width", "5"]
    of_a_run = {"--repetitions": True, "--readers": True, "--half-width": True, "--keep": False}
    said = split_words(words, of_a_run)
    assert said.case == ("block2d", "--total=1MiB")
    assert (said.run, said.repetitions, said.half_width, said.seed) == (("--readers", "2", "--keep"), 3, 5.0, 1)
    with pytest.raises(UserError, match="--readers needs a value"):
        split_words(["block2d", "--readers"], of_a_run)
    assert parse_ranks("4,8,4") == (4, 8)
    assert [parse_size(text) for text in ("7", "2MiB", "1.5GB", "64K")] == [7, 2 << 20, 1_500_000_000, 64_000]
    assert hinted("a:b=1", {"x": "y"}) == "a:b=1,hint.x=y"
    for wrong in ("", "a", "4,0", "4;8"):
        with pytest.raises(UserError):
            parse_ranks(wrong)


@given(st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=60))
def test_intervals_are_order_statistics_that_cover_95_percent(values: list[float]) -> None:
    found = stats.interval(values)
    if len(values) < 6:
        assert found.low is None
        return
    assert found.low is not None
    assert found.high is not None
    assert found.low in values
    assert found.high in values
    assert min(values) <= found.low <= found.median <= found.high <= max(values)
    assert 0.95 <= found.coverage < 1


def test_the_published_order_statistics() -> None:
    said = {n: stats.order_statistic(n) for n in (5, 6, 9, 12, 20)}
    assert {n: k for n, (k, _) in said.items()} == {5: 0, 6: 1, 9: 2, 12: 3, 20: 6}
    assert [round(said[n][1], 3) for n in (6, 9, 12, 20)] == [0.969, 0.961, 0.961, 0.959]


def test_a_campaign_measures_every_case_on_every_number_of_ranks(
    penstock: Penstock, campaign: Path, tmp_path: Path
) -> None:
    done = penstock("campaign", "run", str(campaign), "--json", "out.json")
    assert done.returncode == 0, done.stdout + done.stderr
    made = content(tmp_path / "out.json")
    assert made["schema"] == "penstock.campaign/1"
    assert sorted(job["np"] for job in made["jobs"]) == [1, 3]
    cases = {job["np"]: [case["case"] for case in job["record"]["cases"]] for job in made["jobs"]}
    assert cases[3] == ["block2d total=256KiB", "block2d total=1MiB", "small ones"]
    assert cases[1] == cases[3][:2]
    for job in made["jobs"]:
        assert (job["record"]["schema"], job["record"]["complete"], job["record"]["verified"]) == (
            "penstock.cases/1",
            True,
            True,
        )
    assert "block2d total=1MiB: write" in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["campaign.toml", "out.json"]


def test_statistics_here_are_those_of_the_bench(penstock: Penstock, tmp_path: Path) -> None:
    words = ("--total", "64KiB", "--methods", "hdf5/two_phase,raw/per_process", "--repetitions", "6")
    done = penstock("bench", "block2d", "--np", "1,2", *words, "--json", "out.json")
    assert done.returncode == 0, done.stderr
    for job in content(tmp_path / "out.json")["jobs"]:
        (case,) = job["record"]["cases"]
        lines = {(line["method"], line["operation"]): line for line in case["results"]}
        for (method, operation), line in lines.items():
            found = stats.interval(line["seconds"])
            assert (found.median, found.low, found.high) == pytest.approx((line["median"], line["low"], line["high"]))
            assert found.coverage == pytest.approx(line["coverage"])
            if line["ratio"] is None:
                continue
            base = lines[case["baseline"], operation]["seconds"]
            control = lines["raw/per_process (A/A)", operation]["seconds"]
            smallest = stats.smallest_difference(control, base)
            assert smallest == pytest.approx(case["aa"][operation]["smallest_claimable"])
            ratio = stats.ratio(line["seconds"], base)
            assert ratio is not None
            assert (ratio.median, ratio.low) == pytest.approx((line["ratio"]["median"], line["ratio"]["low"]))
            assert stats.verdict(ratio, smallest) == line["ratio"]["verdict"], method


def test_more_repetitions_go_on_where_it_stopped(penstock: Penstock, tmp_path: Path) -> None:
    words = ("bench", "block2d", "--total", "64KiB", "--methods", "raw/per_process", "--json", "out.json")
    assert penstock(*words, "--np", "1,2", "--repetitions", "1").returncode == 0
    more = penstock(*words, "--np", "1,2,3", "--repetitions", "3", "--resume")
    assert more.returncode == 0, more.stderr
    assert "on 1, 2, 3 ranks; 3 repetitions" in more.stdout
    made = content(tmp_path / "out.json")
    parts = sorted((job["np"], job["part"], job["record"]["repetitions"]) for job in made["jobs"])
    assert parts == [(1, 0, 1), (1, 1, 2), (2, 0, 1), (2, 1, 2), (3, 0, 3)]
    assert len({job["record"]["seed"] for job in made["jobs"] if job["np"] == 1}) == 2
    series = Pooled(made).get("block2d", "raw/per_process", "write", 1)
    assert series is not None
    assert len(series.seconds) == len(series.phases["write"]) == 3
    nothing = penstock(*words, "--np", "1,2,3", "--repetitions", "3", "--resume")
    assert nothing.returncode == 0
    assert content(tmp_path / "out.json")["jobs"] == made["jobs"]


def test_another_campaign_is_not_taken_up(penstock: Penstock, tmp_path: Path) -> None:
    words = ("bench", "block2d", "--np", "1,2", "--repetitions", "1", "--json", "out.json")
    assert penstock(*words, "--total", "64KiB", "--methods", "raw/per_process").returncode == 0
    before = (tmp_path / "out.json").read_bytes()
    other = penstock(*words, "--total", "128KiB", "--methods", "raw/per_process", "--resume")
    assert other.returncode == 2
    assert "out.json is of another campaign: cases differs" in other.stderr
    assert (tmp_path / "out.json").read_bytes() == before


def test_ctrl_c_keeps_every_whole_repetition(build: Path, tmp_path: Path) -> None:
    words = ["bench", "block2d", "--total", "64KiB", "--np", "2,3", "--repetitions", "100000", "--json", "out.json"]
    command = [*INTERRUPTIBLE, sys.executable, "-m", "penstock", *words, "--methods", "raw/per_process"]
    environment = os.environ | {"PENSTOCK_BIN": str(build / "bin")}
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not _repetitions(tmp_path):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "--resume goes on from there" in errors
    made = content(tmp_path / "out.json")
    (job,) = made["jobs"]
    assert not job["record"]["complete"]
    assert job["record"]["repetitions"] >= 1
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


def _repetitions(folder: Path) -> int:
    for path in folder.glob("out.json.np*"):
        return int(json.loads(path.read_text())["repetitions"])
    return 0


def test_what_was_killed_outright_is_taken_up(penstock: Penstock, tmp_path: Path) -> None:
    words = ("bench", "block2d", "--total", "64KiB", "--methods", "raw/per_process", "--json", "out.json")
    assert penstock(*words, "--np", "1,2", "--repetitions", "2").returncode == 0
    made = content(tmp_path / "out.json")
    lost = next(job for job in made["jobs"] if job["np"] == 2)  # as if the machine had gone down during the second job
    made["jobs"].remove(lost)
    (tmp_path / "out.json").write_text(json.dumps(made))
    (tmp_path / "out.json.np2.0").write_text(json.dumps(lost["record"] | {"complete": False}))
    done = penstock(*words, "--np", "1,2", "--repetitions", "3", "--resume")
    assert done.returncode == 0, done.stderr
    parts = sorted((job["np"], job["record"]["repetitions"]) for job in content(tmp_path / "out.json")["jobs"])
    assert parts == [(1, 1), (1, 2), (2, 1), (2, 2)]
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


def test_what_stopped_early_goes_on_where_more_is_asked_for() -> None:
    def part(made: int, asked: int, stopped: str | None) -> dict[str, Any]:
        return {"np": 2, "record": {"repetitions": made, "repetitions_asked": asked, "stopped": stopped}}

    first, second = part(2, 6, "time limit"), part(3, 8, "half-width")
    for jobs, asked, done in (
        ([], 6, False),
        ([part(2, 6, None)], 6, False),
        ([part(6, 6, None)], 6, True),
        ([first], 6, True),
        ([first], 10, False),
        ([first, second], 10, True),
        ([first, second], 11, False),
    ):
        assert record.finished({"jobs": jobs, "repetitions_asked": asked}, 2) == done


@pytest.mark.parametrize("name", ["out.json", "out[1].json"])
def test_what_was_killed_is_taken_up_once(tmp_path: Path, name: str) -> None:
    request = Request(name="block2d", ranks=(2,), cases=(), repetitions=4)
    ground = execute.Ground(tmp_path, tmp_path / name)
    part = {"schema": "penstock.cases/1", "repetitions": 2, "cases": [{"results": [{"seconds": [1.0, 2.0]}]}]}
    made = record.new(request, [])
    left = tmp_path / f"{name}.np2.0"
    for _ in range(2):  # killed before it was taken in; then right after it was, before it was removed
        left.write_text(json.dumps(part))
        execute.left_behind(ground, request, made)
        assert [job["record"]["repetitions"] for job in made["jobs"]] == [2]
        assert content(tmp_path / name)["jobs"] == made["jobs"]
        assert not left.exists()


def test_a_dry_run_measures_nothing(penstock: Penstock, campaign: Path, tmp_path: Path) -> None:
    done = penstock("campaign", "run", str(campaign), "--json", "out.json", "--dry-run")
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if "block2d" in line or "small ones" in line]
    assert [(row[0], row[-5:-3]) for row in rows if "total=1MiB" in row] == [("1", ["MiB", "4"]), ("3", ["MiB", "4"])]
    assert "In all about" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["campaign.toml"]


def test_too_little_disk_or_memory_is_refused_beforehand(penstock: Penstock, tmp_path: Path) -> None:
    words = ("bench", "block2d", "--np", "1,2", "--methods", "raw/per_process", "--json", "out.json")
    for more in ((), ("--dry-run",)):
        done = penstock(*words, "--total", "800TiB", *more)
        assert done.returncode == 2
        assert "needs 880 TiB: choose another --dir or less data" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ranks", ["1", "1,2"])
def test_no_record_takes_the_place_of_a_device(penstock: Penstock, tmp_path: Path, ranks: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    words = ("block2d", "--total", "64KiB", "--methods", "raw/per_process", "--repetitions", "1")
    done = penstock("bench", *words, "--np", ranks, "--json", "pipe")
    assert done.returncode != 0
    assert "pipe is no regular file" in done.stderr, done.stderr
    assert "warm-up" not in done.stdout.lower()
    assert (tmp_path / "pipe").is_fifo()


def test_a_record_is_not_overwritten_by_another_campaign(penstock: Penstock, campaign: Path, tmp_path: Path) -> None:
    (tmp_path / "out.json").write_text("{}")
    done = penstock("campaign", "run", str(campaign), "--json", "out.json")
    assert done.returncode == 2
    assert "out.json is there already: --resume goes on with it" in done.stderr


@pytest.mark.parametrize(
    ("cases", "said"),
    [
        ("", "no JSON object with a list"),
        ('{"cases": []}', "no JSON object with a list"),
        ('{"cases": [{"case": "a"}]}', "a case is {"),
        ('{"cases": [{"case": "a", "words": ["block2d", "--methods", "x/y"]}]}', "case 'a': method 'x/y'"),
        ('{"cases": [{"case": "a", "words": ["block2d", "--size", "3"]}]}', "case 'a': "),
        ('{"cases": [{"case": "a", "words": ["block9d"]}]}', "no workload 'block9d'"),
        ('{"cases": [{"case": "a", "words": ["block2d"]}]}', "this build has none of the methods"),
        ('{"cases": [{"case": "a", "words": ["block2d", "--methods", "adios2"]}]}', "adios2: method 'adios2': engine"),
        (
            '{"cases": [{"case": "a", "words": ["many", "--methods", "raw/gather"]},'
            ' {"case": "a", "words": ["many", "--methods", "raw/gather"]}]}',
            "two cases are called 'a'",
        ),
        (
            '{"cases": [{"case": "a", "words": ["many", "--methods", "raw/gather"], "rivals": ["phdf5"]}]}',
            '"rivals" is a list of lists of methods',
        ),
        ('{"cases": [{"case": "a", "words": ["many"]}], "slow_factor": "10"}', "slow_factor is a number"),
    ],
)
def test_a_wrong_list_of_cases_names_the_case(build: Path, tmp_path: Path, cases: str, said: str) -> None:
    (tmp_path / "cases.json").write_text(cases)
    command = [str(build / "bin" / "penstock-bench"), "--cases", "cases.json", "--dir", "."]
    environment = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "refused"),
    [(["many"], "a workload"), (["--ghosts", "2"], "--ghosts"), (["--no-aa"], "--aa"), (["--keep"], "--keep")],
)
def test_options_of_a_case_cannot_stand_beside_a_list(
    build: Path, tmp_path: Path, words: list[str], refused: str
) -> None:
    command = [str(build / "bin" / "penstock-bench"), "--cases", "cases.json", "--dir", ".", *words]
    environment = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f": {refused} cannot stand beside it" in done.stderr


def test_beside_a_competing_job_every_case_is_measured_twice(penstock: Penstock, tmp_path: Path) -> None:
    words = ("bench", "block2d", "--total", "64KiB", "--methods", "raw/per_process", "--interfere=2")
    done = penstock(*words, "--np", "1,2", "--repetitions", "2", "--json", "out.json")
    assert done.returncode == 0, done.stderr
    for job in content(tmp_path / "out.json")["jobs"]:
        quiet, loud = job["record"]["cases"]
        assert (quiet["case"], loud["case"]) == ("block2d", "block2d beside a competing job")
        assert quiet["competitors"] is None
        assert loud["competitors"]["streams_per_node"] == 2
        assert loud["competitors"]["bytes_written"] > 0
        assert loud["competitors"]["seconds"] > 0
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]
