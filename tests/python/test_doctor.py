"""test_doctor.py: known defects are found first, what is healthy is left alone, and damaged logs are told in a line."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Penstock
from jobs import GIB, MIB, job, record, shared
from penstock.doctor.darshan_log import read_log
from penstock.doctor.diagnosis import diagnose
from penstock.doctor.facts import Facts
from penstock.doctor.finding import INFO
from penstock.doctor.job import SEGMENT, SHARED, Job, Traced
from penstock.doctor.many import each_of
from penstock.errors import UserError
from penstock.trace.darshan_log import write_darshan

LOGS = Path(os.environ.get("PENSTOCK_DATA", Path(__file__).parents[3] / "shared" / "data")) / "darshan"
logs = pytest.mark.skipif(not LOGS.is_dir(), reason=f"no public Darshan logs in {LOGS}")


def first(made: Job) -> str:
    return diagnose(made).findings[0].rule


def severities(made: Job) -> dict[str, str]:
    return {one.rule: one.severity for one in diagnose(made).findings}


def independent_small_writes() -> Job:
    moved, calls = 64 * 20000 * 4096, 64 * 20000
    return job(
        record("MPI-IO", INDEP_WRITES=calls, BYTES_WRITTEN=moved, F_WRITE_TIME=64 * 50, F_SLOWEST_RANK_TIME=55,
               SIZE_WRITE_AGG_1K_10K=calls),
        shared("POSIX", 64, 64, WRITES=calls, BYTES_WRITTEN=moved, F_WRITE_TIME=64 * 48, SEQ_WRITES=calls,
               SIZE_WRITE_1K_10K=calls, ACCESS1_ACCESS=4096, ACCESS1_COUNT=calls),
    )  # fmt: skip


def sieving() -> Job:
    asked = 16 * MIB
    return job(
        record("MPI-IO", INDEP_WRITES=640, BYTES_WRITTEN=asked, F_WRITE_TIME=64 * 40, F_SLOWEST_RANK_TIME=42),
        shared("POSIX", 64, 64, WRITES=640, READS=640, BYTES_WRITTEN=127 * MIB, BYTES_READ=127 * MIB, RW_SWITCHES=640,
               F_WRITE_TIME=64 * 18, F_READ_TIME=64 * 20, SEQ_WRITES=640, SEQ_READS=640, MAX_BYTE_READ=200 * MIB),
    )  # fmt: skip


def rank_0_only() -> Job:
    return job(
        record("POSIX", rank=0, WRITES=8192, BYTES_WRITTEN=8 * GIB, SEQ_WRITES=8192, F_WRITE_TIME=40, OPENS=1,
               SIZE_WRITE_100K_1M=8192, ACCESS1_ACCESS=MIB, ACCESS1_COUNT=8192),
    )  # fmt: skip


def read_by_all() -> Job:
    size = 200 * MIB
    return job(
        shared("POSIX", 64, 64, READS=64 * 200, BYTES_READ=64 * size, MAX_BYTE_READ=size - 1, SEQ_READS=64 * 200,
               F_READ_TIME=64 * 30, SIZE_READ_100K_1M=64 * 200, ACCESS1_ACCESS=MIB, ACCESS1_COUNT=64 * 200, OPENS=64),
    )  # fmt: skip


def metadata_storm() -> Job:
    return job(
        *(
            record("POSIX", f"/scratch/{i}", i % 64, OPENS=10, STATS=30, READS=10, BYTES_READ=1000, SEQ_READS=10,
                   F_META_TIME=1.5, F_READ_TIME=0.01)
            for i in range(64 * 20)
        )
    )  # fmt: skip


def one_aggregator(**more: Any) -> Job:
    moved = 50 * GIB
    return job(
        record("MPI-IO", COLL_WRITES=64 * 10, BYTES_WRITTEN=moved, F_WRITE_TIME=64 * 60, F_SLOWEST_RANK_TIME=61,
               SIZE_WRITE_AGG_10M_100M=640, VIEWS=640),
        shared("POSIX", 64, 1, WRITES=50 * 1024, BYTES_WRITTEN=moved, F_WRITE_TIME=55, SEQ_WRITES=50 * 1024,
               SIZE_WRITE_100K_1M=50 * 1024, ACCESS1_ACCESS=MIB, ACCESS1_COUNT=50 * 1024),
        **more,
    )  # fmt: skip


def slow_target() -> Job:
    stripes = {f"/scratch/{i}": (1, MIB, (7 if i in (3, 9) else i % 6,)) for i in range(64)}
    return job(
        *(
            record("POSIX", f"/scratch/{i}", i, WRITES=256, BYTES_WRITTEN=256 * MIB, SEQ_WRITES=256, OPENS=1,
                   F_WRITE_TIME=45.0 if i in (3, 9) else 4.0, SIZE_WRITE_100K_1M=256, ACCESS1_ACCESS=MIB,
                   ACCESS1_COUNT=256)
            for i in range(64)
        ),
        stripes=stripes,
    )  # fmt: skip


def healthy() -> Job:
    """Collective, aligned, on all stripes, and fast: four aggregators are at work as long as everybody waits."""
    moved = 400 * GIB
    calls = moved // (4 * MIB)
    return job(
        record("MPI-IO", COLL_WRITES=64 * 100, BYTES_WRITTEN=moved, F_WRITE_TIME=64 * 22, F_SLOWEST_RANK_TIME=23,
               SIZE_WRITE_AGG_10M_100M=6400, VIEWS=6400),
        shared("POSIX", 64, 16, WRITES=calls, BYTES_WRITTEN=moved, F_WRITE_TIME=16 * 20, SEQ_WRITES=calls,
               SIZE_WRITE_1M_4M=calls, ACCESS1_ACCESS=4 * MIB, ACCESS1_COUNT=calls, OPENS=16,
               F_MAX_WRITE_TIME=0.1),
        stripes={"/scratch/out": (16, 4 * MIB, tuple(range(16)))},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("made", "rule"),
    [
        (independent_small_writes(), "C5"),
        (sieving(), "A1"),
        (rank_0_only(), "I3"),
        (read_by_all(), "A3"),
        (metadata_storm(), "M1"),
        (one_aggregator(), "C2"),
        (one_aggregator(stripes={"/scratch/out": (16, MIB, tuple(range(16)))}), "C2"),
        (slow_target(), "I2"),
    ],
)
def test_a_known_defect_is_found_first(made: Job, rule: str) -> None:
    found = diagnose(made)
    assert found.findings[0].rule == rule, found.verdict
    assert found.findings[0].severity == ("WARN" if rule == "A3" else "HIGH")
    assert found.findings[0].evidence
    assert found.findings[0].remedies["penstock"]
    assert found.verdict.startswith("I/O takes ")
    assert found.findings[0].title in found.verdict


def test_where_nothing_is_wrong_nothing_is_said() -> None:
    found = diagnose(healthy())
    assert found.is_io
    assert found.verdict.endswith("nothing to do.")
    assert not found.worth


def test_programs_that_are_collective_are_not_told_to_be() -> None:
    for made in (one_aggregator(), healthy()):
        assert "C5" not in severities(made)


def test_small_things_beside_collective_calls_do_not_make_a_file_independent() -> None:
    moved = 50 * GIB
    made = job(
        record("MPI-IO", COLL_WRITES=64, INDEP_READS=500, BYTES_WRITTEN=moved, F_WRITE_TIME=640,
               SIZE_READ_AGG_0_100=500, SIZE_WRITE_AGG_100M_1G=64),
        shared("POSIX", 64, 1, WRITES=500, BYTES_WRITTEN=moved, F_WRITE_TIME=9),
    )  # fmt: skip
    assert Facts(made).mpi.collective.tolist() == [True]


def test_what_is_not_io_is_said_with_its_cost() -> None:
    made = job(shared("POSIX", 64, 64, WRITES=640, BYTES_WRITTEN=GIB, F_WRITE_TIME=64 * 2), ranks=64, seconds=100)
    found = diagnose(made)
    assert not found.is_io
    assert found.verdict == "Not I/O: 2 % of the run, 0.0356 of 1.78 core-hours. Look elsewhere first."
    assert {one.severity for one in found.findings} <= {"INFO"}


def test_the_outermost_interface_and_the_slowest_rank_count() -> None:
    waiting = job(
        record("MPI-IO", COLL_WRITES=640, BYTES_WRITTEN=GIB, F_WRITE_TIME=64 * 78, F_SLOWEST_RANK_TIME=80),
        shared("POSIX", 64, 1, WRITES=100, BYTES_WRITTEN=GIB, F_WRITE_TIME=0.9),
    )
    assert Facts(waiting).outermost.share == pytest.approx(0.80)
    alone = job(record("POSIX", rank=5, WRITES=1, BYTES_WRITTEN=GIB, F_WRITE_TIME=99.8))
    assert Facts(alone).outermost.slowest_share == pytest.approx(0.998)
    assert Facts(alone).outermost.mean_share == pytest.approx(0.998 / 64)


@pytest.mark.parametrize("movers", [1, 2, 5, 56, 64])
def test_how_many_ranks_move_a_shared_files_bytes(movers: int) -> None:
    made = job(shared("POSIX", 64, movers, WRITES=100, BYTES_WRITTEN=GIB, F_WRITE_TIME=1))
    assert Facts(made).posix.movers.tolist() == [movers]


def test_accesses_of_exactly_a_mebibyte_are_not_small() -> None:
    assert "A4" not in severities(rank_0_only())


def test_hints_are_judged_by_our_traces_alone() -> None:
    from penstock.doctor.job import Step

    step = Step("/scratch/out", "write", "hdf5/mpiio", 0, 1, {}, 1, (0,), ("T",), {"cb_nodes": "8"}, {"cb_nodes": "1"})
    assert severities(job(shared("POSIX", 64, 1, WRITES=1, BYTES_WRITTEN=GIB, F_WRITE_TIME=20), steps=(step,)))["H1"]


def test_negative_and_missing_numbers_are_taken_as_nothing() -> None:
    made = job(record("POSIX", WRITES=5, BYTES_WRITTEN=-7, F_WRITE_TIME=-3, F_SLOWEST_RANK_TIME=float("nan")))
    assert diagnose(made).verdict.startswith("Not I/O: 0 %")
    assert diagnose(job()).verdict.startswith("Not I/O: 0 %")


@logs
@pytest.mark.parametrize(
    ("name", "rules", "share"),
    [
        ("imbalanced-io", {"C3", "C2"}, (0.777, 0.834)),
        ("skew-autobench-ior", {"C1"}, (0.922, 0.989)),
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
    from penstock.trace.counters import WRITE
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
    assert (b"odd\xff" if encoding == "utf-8" else b"odd\\udcff") in ran.stdout


def test_a_folder_without_logs_is_said(penstock: Penstock, tmp_path: Path) -> None:
    done = penstock("doctor", ".")
    assert done.returncode == 2
    assert "no Darshan logs (*.darshan), traces or profiles in it" in done.stderr


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.pictures: list[str] = []
        self.outside: list[str] = []
        self.titles: list[str] = []
        self._in_title = False
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        said = dict(attributes)
        if said.get("role") == "img":
            self.pictures.append(said.get("aria-label") or "")
        self._in_title = self._in_title or tag in ("h3", "figcaption")
        for name in ("src", "href"):
            target = said.get(name) or ""
            if target and not target.startswith(("#", "data:")):
                self.outside.append(target)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("h3", "figcaption"):
            self._in_title = False

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.titles.append(data)


@logs
@pytest.mark.parametrize(
    ("name", "pictures"), [("imbalanced-io", 4), ("mpi_io_test_with_dxt", 6), ("partial_data_dxt", 6)]
)
def test_a_page_stands_alone_and_its_pictures_have_words(
    penstock: Penstock, tmp_path: Path, name: str, pictures: int
) -> None:
    done = penstock("doctor", str(LOGS / f"{name}.darshan"), "--html", "page.html")
    assert done.returncode == 0, done.stderr
    page = Page((tmp_path / "page.html").read_text())
    assert len(page.pictures) == pictures
    assert all(len(text) > 40 for text in page.pictures)
    assert page.outside == []


@logs
@pytest.mark.skipif(shutil.which("chromium") is None, reason="no chromium")
def test_a_browser_has_nothing_to_complain_of(penstock: Penstock, tmp_path: Path) -> None:
    done = penstock("doctor", str(LOGS / "mpi_io_test_with_dxt.darshan"), "--html", "page.html")
    assert done.returncode == 0, done.stderr
    words = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--window-size=1200,2000"]
    shot = tmp_path / "page.png"
    seen = subprocess.run(
        [str(shutil.which("chromium")), *words, f"--screenshot={shot}", f"file://{tmp_path}/page.html"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert "CONSOLE" not in seen.stderr, seen.stderr
    assert shot.stat().st_size > 100_000


def test_names_of_files_cannot_write_the_page() -> None:
    from penstock.doctor.model import fit
    from penstock.doctor.page.build import page

    evil = '/scratch/<script>alert("x")</script>'
    made = job(record("POSIX", evil, rank=0, WRITES=8192, BYTES_WRITTEN=8 * GIB, F_WRITE_TIME=40), program="<b>")
    text = page(diagnose(made), fit([made]))
    assert "<script>alert" not in text
    assert "<b>" not in text


@logs
def test_writing_and_reading_are_phases_of_their_own() -> None:
    found = diagnose(read_log(LOGS / "mpi_io_test_with_dxt.darshan")).phases
    assert found[0].written > 0.99 * 2 * GIB
    assert sum(one.read for one in found[1:]) > 0.99 * 2 * GIB
    assert sum(one.weight for one in found) == pytest.approx(1)
    assert len(found[0].ranks) == 32


def crowded(hosts: dict[int, str], **more: Any) -> Job:
    each = [
        record("POSIX", path=f"/scratch/{rank}", rank=rank, OPENS=1, WRITES=8, BYTES_WRITTEN=1 << 30, F_WRITE_TIME=40.0)
        for rank in range(16)
    ]
    return job(*each, ranks=16, hosts=hosts, **more)


def test_writers_of_a_node_are_counted_where_hosts_are_known() -> None:
    two = {rank: f"n{rank // 8}" for rank in range(16)}
    assert "P1" in {one.rule for one in diagnose(crowded(two)).findings}
    assert "P1" not in {one.rule for one in diagnose(crowded({})).findings}
    assert "P1" not in {one.rule for one in diagnose(crowded({rank: f"n{rank}" for rank in range(16)})).findings}

    def accesses() -> Iterator[Traced]:
        none = np.zeros(0, SEGMENT)
        for rank, host in two.items():
            yield Traced("POSIX", f"/scratch/{rank}", rank, host, none, none)

    from_dxt = diagnose(crowded({}, has_traced=True, traced=accesses))
    assert "P1" in {one.rule for one in from_dxt.findings}
    assert from_dxt.facts.nodes == 2


def test_a_rate_near_the_ceiling_is_said_where_that_is_known() -> None:
    found = diagnose(crowded({}), ceiling=512 * MIB)
    assert found.facts.outermost.slowest_share == pytest.approx(0.4)
    (one,) = [each for each in found.findings if each.rule == "G3"]
    assert one.severity == INFO
    assert "410 MiB/s are 80 %" in one.title
    assert "G3" not in {each.rule for each in diagnose(crowded({}), ceiling=64 * GIB).findings}
    assert "G3" not in {each.rule for each in diagnose(crowded({})).findings}


def test_a_ceiling_of_nothing_is_refused(penstock: Penstock, tmp_path: Path) -> None:
    write_darshan(slow_target(), tmp_path / "x.darshan")
    done = penstock("doctor", "x.darshan", "--ceiling", "0")
    assert (done.returncode, done.stderr) == (2, "penstock: --ceiling 0: a file system that gives nothing\n")
