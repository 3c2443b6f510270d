"""test_monitor_record.py: what is recorded comes back as last, average and maximum, of nodes, file systems and jobs."""

import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.base.errors import UserError
from penstock.operate.monitor.file_systems import FileSystem
from penstock.operate.monitor.history import read_history, to_record
from penstock.operate.monitor.jobs import Job
from penstock.operate.monitor.outputs import Output
from penstock.operate.monitor.record import APPLICATION, VERSION, Record
from penstock.operate.monitor.sample import Node, Sample

DAY = 86400.0
START = 1_800_000_000.0


def job(name: str = "slurm-4711", phase: str = "write", write: float | None = 100.0, path: str = "/s/out.h5") -> Job:
    output = Output(path, "write", "hdf5/two_phase", 0, 2, 2, 1.0, 50, 100, progress=0.5)
    return Job(name, "heat", "heat -n 3", "ada", 2, 2, phase, {phase: 2}, 0.0, write, 4, None, [output], [1, 2])


def sample(
    clock: float, seconds: float, write: float | None, jobs: list[Job] | None = None, host: str = "n1"
) -> Sample:
    system = FileSystem("/scratch", [], "lustre", "10.0.0.1@tcp:/scratch", False)
    system.read_bytes_per_second, system.write_bytes_per_second, system.used = 0.0, write, 0.25
    return Sample(host, clock, seconds, Node(0.0, write or 0.0), [system], [], jobs or [], [], 0, 0)


def recorded(path: Path, *samples: Sample, keep: float = 7.0) -> Path:
    with Record(path, keep) as record:
        for one in samples:
            record.add(one)
        assert record.lost == 0, record.trouble
    return path


def test_averages_weigh_intervals_by_their_length(tmp_path: Path) -> None:
    file = recorded(
        tmp_path / "a.sqlite",
        sample(START, 1.0, 100.0),
        sample(START + 3, 3.0, 300.0),
        sample(START + 4, 1.0, None),  # of an interval that nobody knows
        sample(START + 5, 1.0, 0.0),
    )
    history = read_history([file], None)
    write = history.file_systems[0].figures["write"]
    assert (write.last, write.average, write.maximum) == (0.0, (100 + 900 + 0) / 5, 300.0)
    assert write.maximum_time == START + 3
    assert history.nodes[0].figures["write"].average == (100 + 900 + 0 + 0) / 6
    record = to_record(history, [file])
    assert record["file_systems"][0]["mount"] == "/scratch"
    assert record["file_systems"][0]["write"]["maximum_time"] == "2027-01-15T08:00:03+00:00"
    json.dumps(record)


def test_jobs_are_joined_to_what_the_file_systems_did_meanwhile(tmp_path: Path) -> None:
    file = recorded(
        tmp_path / "a.sqlite",
        sample(START, 1.0, 7000.0),
        sample(START + 1, 1.0, 100.0, [job(write=90.0)]),
        sample(START + 2, 1.0, 300.0, [job(phase="compute", write=10.0), job("pmix-1")]),
        sample(START + 3, 1.0, 9000.0),
    )
    (one,) = read_history([file], "slurm-4711").jobs
    assert (one.host, one.ranks, one.commits, one.outputs) == ("n1", 2, 4, ["/s/out.h5"])
    assert (one.write.total, one.write.average, one.write.maximum) == (100.0, 50.0, 90.0)
    assert one.phases == {"write": 0.5, "compute": 0.5}
    (meanwhile,) = one.meanwhile
    assert (meanwhile.figures["write"].average, meanwhile.figures["write"].maximum) == (200.0, 300.0)
    assert [found.id for found in read_history([file], None).jobs] == ["slurm-4711", "pmix-1"]
    with pytest.raises(UserError, match="no job 'slurm-1' was recorded"):
        read_history([file], "slurm-1")


def test_several_nodes_are_merged_and_a_file_counts_once(tmp_path: Path) -> None:
    one = recorded(tmp_path / "n1.sqlite", sample(START, 1.0, 100.0, [job()]))
    other = recorded(tmp_path / "n2.sqlite", sample(START, 1.0, 500.0, [job(write=None)], host="n2"))
    history = read_history([one, other, one], None)
    assert [(node.host, node.figures["write"].last) for node in history.nodes] == [("n1", 100.0), ("n2", 500.0)]
    assert [(found.host, found.write.average) for found in history.jobs] == [("n1", 100.0), ("n2", None)]


def test_numbers_of_processes_that_are_given_again_are_other_jobs(tmp_path: Path) -> None:
    file = recorded(
        tmp_path / "a.sqlite",
        *(sample(START + t, 1.0, 0.0, [job("process-17"), job("slurm-9")]) for t in (0, 1, 1000, 1001)),
    )
    names = [found.id for found in read_history([file], None).jobs]
    assert sorted(names) == ["process-17", "process-17", "slurm-9"]


def test_what_is_older_is_forgotten(tmp_path: Path) -> None:
    days = [sample(START + day * DAY, 60.0, float(day), [job(f"slurm-{day}")]) for day in range(10)]
    file = recorded(tmp_path / "a.sqlite", *days, keep=2.0)
    history = read_history([file], None)
    assert history.nodes[0].intervals == 3
    assert [found.id for found in history.jobs] == ["slurm-7", "slurm-8", "slurm-9"]


def test_a_file_of_bounded_time_is_of_bounded_size(tmp_path: Path) -> None:
    file = tmp_path / "a.sqlite"
    sizes = []
    with Record(file, 1.0) as record:
        for day in range(6):
            for i in range(300):
                record.add(sample(START + day * DAY + i * 288, 288.0, float(i), [job(path="/s/" + "x" * 500)]))
            sizes.append(file.stat().st_size)
    assert sizes[-1] <= 1.5 * sizes[1], sizes


def test_a_file_may_have_any_name(tmp_path: Path) -> None:
    for name in ("a\udcff", "a?b#c%20d"):
        file = recorded(tmp_path / name, sample(START, 1.0, 100.0))
        assert file.is_file()
        assert len(read_history([file], None).nodes) == 1


def test_a_file_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    file = recorded(tmp_path / "a.sqlite", sample(START, 1.0, 1.0))
    with sqlite3.connect(file) as sql:
        sql.execute(f"PRAGMA user_version = {VERSION + 1}")
    for refused in (lambda: Record(file, 7.0), lambda: read_history([file], None)):
        with pytest.raises(UserError, match=r"recorded by a newer penstock .* update this one"):
            refused()


def _other(path: Path) -> None:
    with sqlite3.connect(path) as sql:
        sql.execute("CREATE TABLE theirs (x)")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (_other, "the database of something else"),
        (lambda path: path.write_bytes(b"no database at all, but a text " * 100), "is not a database"),
        (lambda path: path.mkdir(), "unable to open database file"),
    ],
)
def test_files_of_others_are_left_alone(tmp_path: Path, make: Callable[[Path], object], words: str) -> None:
    file = tmp_path / "a"
    make(file)
    before = file.read_bytes() if file.is_file() else b""
    with pytest.raises(UserError, match=words):
        Record(file, 7.0)
    assert (file.read_bytes() if file.is_file() else b"") == before


def test_empty_and_missing_files_have_no_history(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    with pytest.raises(UserError, match="nothing was recorded"):
        read_history([tmp_path / "empty"], None)
    with pytest.raises(UserError, match="no such file or folder"):
        read_history([tmp_path / "none"], None)
    assert not (tmp_path / "none").exists()


def test_a_full_disk_loses_samples_and_not_the_monitor(tmp_path: Path) -> None:
    file = tmp_path / "a.sqlite"
    with Record(file, 7.0) as record:
        record.add(sample(START, 1.0, 1.0))
        pages = record._sql.execute("PRAGMA page_count").fetchone()[0]
        record._sql.execute(f"PRAGMA max_page_count = {pages}")  # then SQLite says what it says of a full disk
        lost = 0
        for i in range(400):
            record.add(sample(START + 1 + i, 1.0, 1.0, [job(path="/s/" + "x" * 400)]))
            lost += record.trouble is not None
        assert 0 < record.lost == lost
        assert "disk is full" in (record.trouble or "")
        record._sql.execute("PRAGMA max_page_count = 100000")
        record.add(sample(START + 1000, 1.0, 2.0))
        assert record.trouble is None
    assert read_history([file], None).nodes[0].figures["write"].last == 2.0


def test_what_another_user_recorded_can_be_read(tmp_path: Path) -> None:
    file = recorded(tmp_path / "a.sqlite", sample(START, 1.0, 1.0))
    with sqlite3.connect(file) as sql:
        assert sql.execute("PRAGMA application_id").fetchone()[0] == APPLICATION
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    file.chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        assert read_history([file], None).nodes[0].intervals == 1
    finally:
        tmp_path.chmod(0o755)
