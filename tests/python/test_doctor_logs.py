"""test_doctor_logs.py: logs that are damaged, partial, oddly named or many, and what the program says of them."""

import json
import os
import random
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from conftest import Penstock
from jobs import GIB, LOGS, MIB, job, logs, record
from known_jobs import crowded, slow_target
from penstock.base.errors import UserError
from penstock.cli.say import unbroken
from penstock.diagnose.diagnosis import diagnose
from penstock.diagnose.many import each_of
from penstock.diagnose.text import print_diagnosis
from penstock.jobs.darshan.reader import read_log
from penstock.jobs.darshan.writer import write_darshan
from penstock.jobs.job import SEGMENT, SHARED, FunctionTime, Job, Traced


@logs
@pytest.mark.parametrize(
    ("name", "rules", "share"),
    [
        ("imbalanced-io", {"C3", "C2"}, (0.777, 0.834)),
        ("skew-autobench-ior", {"C1", "C7"}, (0.922, 0.989)),
        ("mpi_io_test_with_dxt", {"N1"}, (0.516, 0.671)),
        ("partial_data_dxt", {"A4"}, (0.269, 0.269)),
    ],
)
def test_public_logs(name: str, rules: set[str], share: tuple[float, float]) -> None:
    found = diagnose(read_log(LOGS / f"{name}.darshan"))
    outer = found.facts.outermost
    assert (outer.mean_share, outer.slowest_share) == pytest.approx(share, abs=0.001)
    assert found.findings[0].rule in rules
    assert {one.rule for one in found.findings if one.severity == "HIGH"} <= rules


@logs
def test_partial_data_lower_the_confidence() -> None:
    made = read_log(LOGS / "partial_data_dxt.darshan")
    assert any("DXT_POSIX is partial" in trouble for trouble in made.troubles)
    (finding,) = (one for one in diagnose(made).findings if one.rule == "A4")
    assert finding.confidence < 0.7


@logs
def test_the_program_prints_its_verdict_first_and_writes_all(penstock: Penstock, tmp_path: Path) -> None:
    done = penstock("doctor", str(LOGS / "imbalanced-io.darshan"), "--json", "out.json")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("I/O takes 83.4 % of the run, 170 of 204 core-hours. First: ")
    content = json.loads((tmp_path / "out.json").read_text())
    assert done.stdout.splitlines()[0] == content["verdict"]["text"]  # one line, where it is no terminal
    assert content["schema"] == "penstock.doctor/1"
    assert content["findings"][0]["evidence"]
    assert content["job"]["ranks"] == 496


def verdict_or_error(path: Path) -> str:
    try:
        return diagnose(read_log(path)).verdict
    except UserError as error:
        return str(error)


@logs
@pytest.mark.parametrize("seed", range(12))
def test_damaged_logs_end_in_one_line(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    source = sorted(LOGS.glob("*.darshan"))[seed % 2]
    data = bytearray(source.read_bytes())
    if seed % 3 == 0:
        data = data[: chance.randrange(len(data))]
    else:
        for _ in range(40):
            data[chance.randrange(len(data))] = chance.randrange(256)
    path = tmp_path / "damaged.darshan"
    path.write_bytes(data)
    said = verdict_or_error(path)
    assert said.count("\n") == 0
    assert said.startswith(("I/O takes ", "Not I/O: ", "Not I/O as far as the log tells: ", f"{path}: "))


def test_a_log_cut_before_its_first_record_is_not_read(penstock: Penstock, tmp_path: Path) -> None:
    write_darshan(slow_target(), tmp_path / "x.darshan")
    data = (tmp_path / "x.darshan").read_bytes()
    errors = []
    for length in range(300, len(data), 100):
        (tmp_path / "x.darshan").write_bytes(data[:length])
        said = verdict_or_error(tmp_path / "x.darshan")
        assert said.startswith((f"{tmp_path}", "I/O takes ", "Not I/O as far as the log tells: "))
        errors += [length] * ("none of its records can be read" in said)
    assert errors
    (tmp_path / "x.darshan").write_bytes(data[: errors[0]])
    assert penstock("doctor", "x.darshan").returncode == 2


def test_accesses_that_cannot_be_read_are_said(tmp_path: Path) -> None:
    chance = np.random.default_rng(7)
    segments = np.zeros(5000, SEGMENT)
    segments["offset"], segments["length"] = chance.integers(0, 1 << 40, 5000), 4096
    segments["start"] = segments["end"] = np.sort(chance.random(5000)) * 90

    def accesses() -> Iterator[Traced]:
        for rank in range(64):
            yield Traced("POSIX", f"/scratch/{rank}", rank, "n0", segments[:0], segments)

    whole = replace(crowded({}), has_traced=True, traced=accesses)
    path = tmp_path / "x.darshan"
    write_darshan(whole, path)
    assert diagnose(read_log(path)).job.troubles == ()
    data = path.read_bytes()
    path.chmod(0o600)
    path.write_bytes(data[: len(data) // 2])
    found = diagnose(read_log(path))
    assert [
        one for one in found.job.troubles if one.startswith("DXT_POSIX cannot be read whole, accesses are missing (")
    ]
    assert found.verdict.startswith("I/O takes 40 % of the run")


def test_a_module_of_a_later_darshan_is_said_and_passed_over(tmp_path: Path) -> None:
    """The header has the place and length of 64 modules, of which a version knows some twenty."""
    path = tmp_path / "x.darshan"
    write_darshan(slow_target(), path)
    data = bytearray(path.read_bytes())
    of_posix = next(at for at in range(0, 256, 8) if 0 < int.from_bytes(data[at : at + 8], "little") < len(data))
    data[of_posix + 50 * 16 : of_posix + 50 * 16 + 16] = (len(data) - 64).to_bytes(8, "little") + bytes([32] + 7 * [0])
    path.chmod(0o600)
    path.write_bytes(data)
    found = diagnose(read_log(path))
    assert found.findings[0].rule == "I2"
    assert "a module is in it that this PyDarshan does not know" in found.job.troubles


def test_a_logs_name_may_be_any_bytes(tmp_path: Path) -> None:
    path = tmp_path / "\udcff.darshan"
    write_darshan(slow_target(), tmp_path / "x.darshan")
    (tmp_path / "x.darshan").rename(path)
    assert read_log(path).ranks == 64


def test_numbers_that_cannot_be_are_taken_as_nothing(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    wild = {"F_READ_TIME": 1e300, "F_WRITE_TIME": float("inf"), "F_VARIANCE_RANK_BYTES": 1e200, "F_META_TIME": 1.0}
    made = job(record("POSIX", "/scratch/out", SHARED, WRITES=5000, BYTES_WRITTEN=MIB, SIZE_WRITE_0_100=5000, **wild))
    write_darshan(made, tmp_path / "x.darshan")
    found = diagnose(read_log(tmp_path / "x.darshan"))
    assert found.job.troubles == ("POSIX: 3 numbers that cannot be, taken as 0",)
    assert found.facts.posix.seconds.tolist() == [1.0]
    assert not recwarn.list


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "No such file or directory"),
        (b"", "0 bytes are no Darshan log"),
        (b"not a log " * 1000, "no Darshan log, or a damaged one"),
    ],
)
def test_what_is_no_log_is_said_in_one_line(
    penstock: Penstock, tmp_path: Path, content: bytes | None, words: str
) -> None:
    if content is not None:
        (tmp_path / "x.darshan").write_bytes(content)
    done = penstock("doctor", "x.darshan")
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr


@logs
def test_a_folder_of_logs_is_ranked_by_what_is_lost(penstock: Penstock, tmp_path: Path) -> None:
    folder = tmp_path / "logs" / "2026"
    folder.mkdir(parents=True)
    for source in LOGS.glob("*.darshan"):
        (folder / source.name).write_bytes(source.read_bytes())
    (folder / "broken.darshan").write_bytes(b"x" * 5000)
    (folder / "notes.txt").write_text("no log")
    done = penstock("doctor", "logs", "--json", "all.json", "--processes", "2")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("4 jobs, 578.8 core-hours")
    assert "not read: logs/2026/broken.darshan: no Darshan log, or a damaged one" in " ".join(done.stdout.split())
    content = json.loads((tmp_path / "all.json").read_text())
    lost = [one["lost_core_hours"] for one in content["jobs"]]
    assert lost == sorted(lost, reverse=True)
    assert [Path(one["source"]).stem for one in content["jobs"]][:2] == ["skew-autobench-ior", "imbalanced-io"]
    assert content["libraries"]["MPI-IO"]["jobs"] == 4
    assert content["areas"]["/lus/theta-fs0"]["written_bytes"] == pytest.approx(52_938_480_076, rel=0.01)
    assert content["patterns"]["shared, collective"]["jobs"] == 2
    assert len(content["unreadable"]) == 1


def test_traces_in_a_folder_are_ranked_among_the_logs(penstock: Penstock, tmp_path: Path) -> None:
    from penstock.jobs.trace.counters import WRITE
    from test_trace import block, calls, paths, trace

    (tmp_path / "logs" / "4711").mkdir(parents=True)
    write_darshan(slow_target(), tmp_path / "logs" / "a.darshan")
    for rank in range(2):
        trace(
            tmp_path / "logs" / "4711" / "0",
            rank,
            2,
            block("PATH", paths("a")),
            block("CALL", calls((WRITE, 0, 0, 1, 0, 7))),
        )
    (tmp_path / "logs" / "others").mkdir()
    (tmp_path / "logs" / "others" / "a.trace").write_text("")
    done = penstock("doctor", "logs", "--json", "-")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [(one["source"], one["written_bytes"]) for one in told["jobs"]][1:] == [("logs/4711/0", 14)]
    assert not told["unreadable"]


def _killed(_path: Path) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


def test_a_process_that_was_killed_is_said() -> None:
    with pytest.raises(UserError, match="was killed"):
        list(each_of([Path("a")], 1, _killed, lambda: None))


def test_names_that_are_no_utf8_are_read_and_shown(penstock: Penstock, tmp_path: Path) -> None:
    folder = tmp_path / "f\udcff"
    folder.mkdir()
    write_darshan(slow_target(), folder / "l\udcfe.darshan")
    result = penstock("doctor", str(folder / "l\udcfe.darshan"), "--html", "why.html", "--json", "why.json")
    assert result.returncode == 0, result.stderr
    assert "I2" in result.stdout
    assert json.loads((tmp_path / "why.json").read_text())["job"]["source"].endswith("l\udcfe.darshan")
    assert "f?" in (tmp_path / "why.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_names_that_are_no_text_are_printed_in_any_locale(tmp_path: Path, encoding: str) -> None:
    write_darshan(slow_target(), tmp_path / "odd\udcff.darshan")
    command = [sys.executable, "-m", "penstock", "doctor", str(tmp_path)]
    environment = os.environ | {"PYTHONIOENCODING": f"{encoding}:strict", "COLUMNS": "300"}
    ran = subprocess.run(command, env=environment, capture_output=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr
    assert rb"odd\xff" in ran.stdout


EVIL = "/scratch/\x1b]0;gone\x07\n[/x] [a]"
HARMLESS = r"/scratch/\x1b]0;gone\x07\n[/x] [a]"


def evil_job() -> Job:
    """Its program, its files and the places in its source have names that are orders to a terminal and to rich."""
    return job(
        record("POSIX", EVIL, rank=0, WRITES=8192, BYTES_WRITTEN=8 * GIB, SEQ_WRITES=8192, F_WRITE_TIME=40, OPENS=1),
        program=EVIL,
        troubles=(f"trouble {EVIL}",),
        functions=(FunctionTime("write", "POSIX", f"{EVIL}.f90:7", "h", 10, 0, GIB, 1.0, 1.0, 0, 1, ""),),
    )


def test_names_of_a_log_give_the_terminal_no_orders(capsys: pytest.CaptureFixture[str]) -> None:
    print_diagnosis(diagnose(evil_job()), unbroken())
    told = capsys.readouterr().out
    for text in (f"{HARMLESS}, job", f"Note: trouble {HARMLESS}", f"called from {HARMLESS}.f90:7", f" {HARMLESS} "):
        assert text in told
    assert re.findall(r"[^\n\x20-\x7e\xa0-\uffff]|gone\x07", told) == []


def test_a_folder_of_oddly_named_logs_is_listed(penstock: Penstock, tmp_path: Path) -> None:
    write_darshan(evil_job(), tmp_path / "[red]\x1b.darshan")
    (tmp_path / "[blue]\x1b.darshan").write_bytes(b"no log")
    ran = penstock("doctor", ".")
    assert r"[red]\x1b.darshan" in ran.stdout
    assert r"[blue]\x1b.darshan: " in ran.stdout
    assert "\x1b" not in ran.stdout + ran.stderr


def test_a_folder_without_logs_is_said(penstock: Penstock, tmp_path: Path) -> None:
    done = penstock("doctor", ".")
    assert done.returncode == 2
    assert "no Darshan logs (*.darshan), traces or profiles in it" in done.stderr


@logs
def test_writing_and_reading_are_phases_of_their_own() -> None:
    found = diagnose(read_log(LOGS / "mpi_io_test_with_dxt.darshan")).phases
    assert found[0].written > 0.99 * 2 * GIB
    assert sum(one.read for one in found[1:]) > 0.99 * 2 * GIB
    assert sum(one.weight for one in found) == pytest.approx(1)
    assert len(found[0].ranks) == 32
