"""test_replay_played.py: replays that are played: by penstock-bench, or by a stand-in where time is what matters."""

import html
import io
import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import known_jobs as known
from conftest import Penstock
from jobs import MIB
from penstock.base import launch
from penstock.cli.doctor import replay_bar
from penstock.diagnose.diagnosis import diagnose
from penstock.diagnose.finding import UNDECIDED
from penstock.diagnose.replay.play import MOVED, OverError, Played, Stage, Whole
from penstock.diagnose.replay.replay import replayed
from penstock.diagnose.replay.steps import STEP, WRITE, Case
from penstock.diagnose.replay.trial import RUN
from penstock.jobs.darshan.writer import write_darshan
from penstock.measure.campaign.run import run

UNHURRIED = "100000"  # seconds of a budget that no machine uses up, so that time does not decide what is played


@pytest.mark.parametrize("step_seconds", [1e-6, 1e-4, 5e-3])
def test_all_findings_are_played_within_the_budget_and_often_enough(
    step_seconds: float, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A machine on which each step takes so long, and a launcher a second."""
    now, played = [0.0], []

    def play(stage: Stage, cases: Sequence[Case], seconds: float, listen: Any) -> Whole:
        listen(1, 2)
        steps_of_all = [[sum(map(len, one.steps)) for one in variants] for _, variants in cases]
        each = sum(map(sum, steps_of_all)) * step_seconds
        times = min(stage.repetitions, int((seconds - 1) / max(each, 1e-9)) - 1)
        if times < 1:
            now[0] += seconds
            raise OverError
        now[0] += 1 + each * (times + 1)
        played.append((cases[0][0], times))
        made = [
            [Played(v.name, tuple([max(0.002, n * step_seconds)] * times), dict.fromkeys(MOVED, 0.0), "")
             for v, n in zip(variants, of, strict=True)]
            for (_, variants), of in zip(cases, steps_of_all, strict=True)
        ]  # fmt: skip
        return Whole(made, each, times)

    monkeypatch.setattr("penstock.diagnose.replay.replay.play", play)
    monkeypatch.setattr("penstock.diagnose.replay.replay.can_take_over", lambda mpi: True)
    monkeypatch.setattr("penstock.diagnose.replay.replay.time", SimpleNamespace(monotonic=lambda: now[0]))
    found = diagnose(known.sieving())
    told: list[tuple[str, int, int]] = []
    after = replayed(found, Stage(tmp_path, 8, launch.Mpi.openmpi, 8, 60.0), lambda *what: told.append(what))
    assert now[0] <= 60.5
    assert played
    assert ("A1" in told[0][0], *told[0][1:]) == (True, 1, 2)
    for one in after.findings:
        assert one.replayed is not None or "--budget" in one.not_replayed
        if one.replayed is not None:
            assert one.replayed.repetitions >= (6 if step_seconds < 1e-3 else 2)  # of the smallest part that is played
    if step_seconds < 1e-3:
        of_sieving = [one.replayed for one in after.findings if one.rule in ("A1", "A2")]
        assert len(of_sieving) == 2
        assert {name for name, _ in played if name in ("A1", "A2")} == {"A1"}  # one trial decides both
        for shown in of_sieving:  # of which nothing was moved here
            assert shown is not None
            assert shown.outcome == UNDECIDED
            assert shown.note.endswith("this says nothing about the finding")


def test_the_progress_of_a_replay_fits_into_80_columns() -> None:
    shown = io.StringIO()
    bar = replay_bar(Console(file=shown, width=80))
    task = bar.add_task("M1 87.3 % of the time in files goes to opening and asking for them: 1,000 calls", total=10)
    bar.update(task, completed=5)
    bar.console.print(bar.get_renderable())
    line = shown.getvalue().rstrip()
    assert len(line) <= 80
    assert line.endswith("0:00:00")
    assert "━" * 10 in line
    assert "Replaying M1 87.3 % of" in line


def test_a_run_ends_when_its_time_is_over() -> None:
    done = run(["sleep", "600"], dict(os.environ), lambda _: None, 0.2)
    assert done.status != 0


def test_sieving_is_replayed_with_its_bytes_before_and_after(penstock: Penstock, tmp_path: Path) -> None:
    log = tmp_path / "sieved.darshan"
    write_darshan(known.sieved(), log)
    page = tmp_path / "why.html"
    result = penstock("doctor", str(log), "--replay", "--dir", str(tmp_path), "--json", "-", "--html", str(page),
                      "--repetitions", "2", "--budget", UNHURRIED)  # fmt: skip
    assert result.returncode == 0, result.stderr
    findings = json.loads(result.stdout)["findings"]
    shown = next(one["replayed"] for one in findings if one["rule"] == "A1")
    assert shown is not None, findings
    asked = 16 * MIB
    assert shown["before"]["written_bytes"] == pytest.approx(8 * asked, rel=0.05)
    assert shown["before"]["read_bytes"] == pytest.approx(7 * asked, rel=0.1)  # the first finds an empty file
    assert shown["after"]["written_bytes"] == pytest.approx(asked, rel=0.01)
    assert shown["after"]["read_bytes"] == 0
    assert shown["repetitions"] >= 2
    assert shown["least"] <= shown["ratio"] <= shown["most"]
    assert shown["ranks"] == 8
    assert not shown["exact"]
    assert (shown["predicted_gain"] is None) == (shown["remedy"] == RUN)  # single calls do not say what that takes
    assert "romio_ds_write=disable" in shown["tried"]
    assert "Replayed from the log's numbers on 8 ranks" in html.unescape(page.read_text())
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith("penstock")] == []


@pytest.mark.nightly
def test_replay_on_one_rank(penstock: Penstock, tmp_path: Path) -> None:
    log = tmp_path / "small.darshan"
    write_darshan(known.sieved(), log)
    result = penstock("doctor", str(log), "--replay", "--dir", str(tmp_path), "--json", "-", "--np", "1",
                      "--repetitions", "1", "--budget", UNHURRIED)  # fmt: skip
    assert result.returncode == 0, result.stderr
    shown = [one["replayed"] for one in json.loads(result.stdout)["findings"] if one["replayed"]]
    assert shown
    assert all(one["ranks"] == 1 for one in shown)


def test_where_a_replay_cannot_be_played_it_says_why(penstock: Penstock, tmp_path: Path) -> None:
    log = tmp_path / "small.darshan"
    write_darshan(known.slow_target(), log)
    result = penstock("doctor", str(log), "--replay", "--dir", str(tmp_path / "nowhere"))
    assert result.returncode == 2
    assert f"'{tmp_path}/nowhere': no such file or folder" in result.stderr
    assert "add --replay" in penstock("doctor", str(log), "--dir", str(tmp_path)).stderr
    assert "takes one log" in penstock("doctor", str(tmp_path), "--replay").stderr
    result = penstock("doctor", str(log), "--replay", "--dir", str(tmp_path))
    assert "not replayed: a slow target is particular to that file system" in " ".join(result.stdout.split())


def test_a_trace_is_replayed_from_its_accesses_even_where_there_is_nothing_to_do(
    build: Path, penstock: Penstock, tmp_path: Path
) -> None:
    words = ["pic", "--total", "8MiB", "--methods", "phdf5", "--repetitions", "1", "--no-aa", "--dir", str(tmp_path)]
    command = [*launch.mpiexec(launch.Mpi.openmpi, 4), str(build / "bin" / "penstock-bench"), *words]
    environment = launch.environment() | {"PENSTOCK_TRACE": str(tmp_path / "t")}
    subprocess.run(command, env=environment, capture_output=True, timeout=120, check=True)
    result = penstock("doctor", str(tmp_path / "t"), "--replay", "--dir", str(tmp_path), "--json", "-",
                      "--repetitions", "1", "--budget", UNHURRIED)  # fmt: skip
    assert result.returncode == 0, result.stderr
    findings = json.loads(result.stdout)["findings"]
    assert findings
    played = [one["replayed"] for one in findings if one["replayed"]]
    said = [one["not_replayed"] for one in findings]
    assert any(one["exact"] for one in played), said


def _whole(**more: Any) -> dict[str, Any]:
    variant = {"name": "before", "interface": "posix", "steps": "a.steps", "counts": [1]} | more
    return {"schema": "penstock.pattern/1", "cases": [{"name": "one", "variants": [variant]}]}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"schema": "other"}, "no penstock.pattern/1"),
        ({"schema": "penstock.pattern/1", "cases": []}, "no cases"),
        (_whole(interface="stdio"), "no interface 'stdio'"),
        (_whole(steps="b.steps"), "b.steps: cannot be opened"),
        (_whole(counts=[2]), "ends before the steps of rank 0"),
        (_whole(counts=[1, 1]), "steps of 2 ranks, this run has 1"),
        (_whole(files=0), "files: 1 to 100000"),
        (_whole(files="many"), "type must be number"),
        (_whole(step=(9, 0, 0, 1, 0)), "no act 9"),
        (_whole(step=(0, 5, 0, 1, 0)), "5 is not one of 1"),
        (_whole(step=(0, 0, -1, 1, 0)), "its offset or its length is none"),
        (_whole(step=(0, 0, 0, 1, -3), interface="mpiio"), "its call is out of order"),
    ],
)
def test_a_pattern_that_cannot_be_is_refused(build: Path, content: dict[str, Any], said: str, tmp_path: Path) -> None:
    step = (WRITE, 0, 0, 1, 0)
    for one in content.get("cases", []):
        for variant in one["variants"]:
            step = variant.pop("step", step)
    np.array([step], STEP).tofile(tmp_path / "a.steps")
    path = tmp_path / "pattern.json"
    path.write_text(json.dumps(content))
    command = [
        str(build / "bin" / "penstock-bench"),
        "replay",
        str(path),
        "--dir",
        str(tmp_path),
    ]  # without mpiexec: one rank
    result = subprocess.run(command, env=launch.environment() | os.environ, capture_output=True, text=True, check=False)
    assert result.returncode in (1, 2), result.stderr
    assert said in result.stderr


def test_the_median_of_nothing_is_no_number() -> None:
    assert np.isnan(Played("before", (), {}, "it failed").median)
