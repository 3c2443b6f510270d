"""test_trace.py: traces of several ranks become jobs, Darshan logs and Perfetto's JSON; damaged ones say so."""

import gzip
import json
import os
import signal
import struct
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Penstock, run_penstock
from penstock.base import launch
from penstock.base.errors import UserError
from penstock.diagnose.diagnosis import diagnose
from penstock.jobs.darshan.reader import read_log
from penstock.jobs.darshan.writer import write_darshan
from penstock.jobs.job import SHARED, Job, Record
from penstock.jobs.trace.blocks import CALL, MAGIC, TraceFile
from penstock.jobs.trace.counters import CLOSE, CREATE, MPI_OPEN_ALL, MPI_VIEW, MPI_WRITE, READ, RENAME, SYNC, WRITE
from penstock.jobs.trace.perfetto import write_perfetto
from penstock.jobs.trace.reader import read_trace

darshan = pytest.importorskip("darshan", reason="PyDarshan is not installed")

START = 1_700_000_000 * 10**9
MS = 10**6
PARTIAL = ".out.h5.0123.me.partial"


def block(kind: str, payload: bytes) -> bytes:
    return struct.pack("<4sIQ", kind.encode(), 0, len(payload)) + payload


def as_json(value: Any) -> bytes:
    return json.dumps(value).encode()


def paths(*names: str) -> bytes:
    return b"".join(struct.pack("<II", i, len(name)) + name.encode() for i, name in enumerate(names))


def calls(*rows: tuple[int, int, int, int, int, int]) -> bytes:
    """Of (operation, path, start ms, milliseconds, offset, length)."""
    table = np.zeros(len(rows), CALL)
    for i, (operation, path, start, taken, offset, length) in enumerate(rows):
        table[i] = (start * MS, taken * MS, offset, length, path, operation, 0)
    return table.tobytes()


def step(rank: int, **more: Any) -> bytes:
    phases = {"define": 0.001, "write": 0.01 * (rank + 1)}
    fixed = {"path": 1, "operation": "write", "token": "aa", "plan": "hdf5/two_phase", "start": 0, "end": 90 * MS}
    rest = {"bytes": 100, "writer": rank == 0, "datasets": [f"d{rank}", "all"], "phases": phases}
    hints = {"hints_requested": {"cb_nodes": "2"}, "hints_effective": {"cb_nodes": "1"}, "filesystem": "ext4"}
    return as_json(fixed | rest | hints | more)


def trace(folder: Path, rank: int, ranks: int, *blocks: bytes, start: int = START, ended: bool = True) -> Path:
    folder.mkdir(exist_ok=True)
    job = {"schema": "penstock.trace/1", "program": "./solver in.nml", "rank": rank, "ranks": ranks, "role": "program"}
    job |= {"host": f"n{rank // 2}", "folder": "/scratch", "pid": 100 + rank, "start": start, "age": 50 * MS}
    job |= {"environment": {"SLURM_JOB_ID": "4711"}, "mounts": [["/", "ext4"], ["/scratch", "lustre"]]}
    recorder = {"recorder": rank * MS} if rank else {}  # some of before it was counted
    end = block("END ", as_json({"time": 150 * MS, "calls": 1, "calls_lost": 0} | recorder)) if ended else b""
    path = folder / f"rank{rank:06}-{start:x}-{100 + rank}.trace"
    path.write_bytes(MAGIC + block("JOB ", as_json(job)) + b"".join(blocks) + end)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Rank 0 of 3 writes 3000 bytes, and publishes them; all ranks write collectively and read some."""
    mib = 1 << 20
    for rank in range(3):
        own = calls(
            (MPI_OPEN_ALL, 0, 0, 2, 0, 0),
            (MPI_VIEW, 0, 2, 0, 0, 0),
            (MPI_WRITE + 1, 0, 3, 20, rank * mib, mib),
            (READ, 0, 30, 5 * (rank + 1), rank * 50, 50),
        )
        publishing = calls(
            (CREATE, 0, 0, 1, 0, 3000),
            (WRITE, 0, 10, 4, 0, 1000),
            (WRITE, 0, 14, 4, 1000, 1000),
            (WRITE, 0, 18, 4, 4096, 1000),
            (SYNC, 0, 22, 6, 0, 0),
            (CLOSE, 0, 28, 1, 0, 0),
            (RENAME, 0, 40, 1, 1, 0),
        )
        blocks = [block("PATH", paths(PARTIAL, "out.h5")), block("CALL", own)]
        blocks += [block("CALL", publishing)] if rank == 0 else []
        trace(tmp_path / "t", rank, 3, *blocks, block("STEP", step(rank)))
    return tmp_path / "t"


def record(job: Job, module: str) -> Record:
    (only,) = job.modules[module].records
    return only


def test_a_file_is_one_record_of_all_ranks_under_the_name_it_was_published_as(folder: Path) -> None:
    job = read_trace(folder)
    assert (job.kind, job.program, job.ranks, job.job_id) == ("trace", "./solver in.nml", 3, "4711")
    assert job.seconds == pytest.approx(0.2)  # from the start of the process
    assert job.hosts == {0: "n0", 1: "n0", 2: "n1"}
    assert job.mounts[0] == ("/scratch", "lustre")
    posix = record(job, "POSIX")
    assert (posix.path, posix.rank) == ("/scratch/out.h5", SHARED)
    expected = {"OPENS": 1, "WRITES": 3, "READS": 3, "BYTES_WRITTEN": 3000, "BYTES_READ": 150, "FDSYNCS": 1}
    expected |= {
        "CONSEC_WRITES": 1,
        "SEQ_WRITES": 2,
        "MAX_BYTE_WRITTEN": 5095,
        "SIZE_WRITE_100_1K": 3,
        "RW_SWITCHES": 1,
    }
    expected |= {
        "SIZE_READ_0_100": 3,
        "FILE_NOT_ALIGNED": 3,
        "ACCESS1_ACCESS": 50,
        "ACCESS1_COUNT": 3,
    }
    expected |= {"SLOWEST_RANK": 0, "FASTEST_RANK": 1, "SLOWEST_RANK_BYTES": 3050}
    assert {name: posix.counters[f"POSIX_{name}"] for name in expected} == expected
    assert posix.times["POSIX_F_WRITE_TIME"] == pytest.approx(0.018)  # a sync is writing
    assert posix.times["POSIX_F_READ_TIME"] == pytest.approx(0.030)
    assert posix.times["POSIX_F_MAX_READ_TIME"] == pytest.approx(0.015)
    assert posix.times["POSIX_F_WRITE_START_TIMESTAMP"] == pytest.approx(0.060)
    assert posix.times["POSIX_F_FASTEST_RANK_TIME"] == pytest.approx(0.010)
    mpi = record(job, "MPI-IO")
    assert [mpi.counters[f"MPIIO_{name}"] for name in ("COLL_OPENS", "COLL_WRITES", "VIEWS")] == [3, 3, 3]
    assert mpi.counters["MPIIO_SIZE_WRITE_AGG_100K_1M"] == 3
    assert not job.troubles


def test_steps_heat_and_segments(folder: Path) -> None:
    job = read_trace(folder)
    (one,) = job.steps
    assert (one.path, one.operation, one.bytes, one.writers) == ("/scratch/out.h5", "write", 300, (0,))
    assert one.datasets == ("all", "d0", "d1", "d2")
    assert one.phases["write"] == pytest.approx(0.03)
    assert (one.hints_requested, one.hints_effective) == ({"cb_nodes": "2"}, {"cb_nodes": "1"})
    assert one.start == pytest.approx(0.05)
    assert job.heat["POSIX"].written.sum(axis=1).tolist() == [3000, 0, 0]
    assert job.heat["MPIIO"].written.sum(axis=1).tolist() == [1 << 20] * 3
    traced = {(t.module, t.rank): t for t in job.traced()}
    assert traced["POSIX", 0].writes["offset"].tolist() == [0, 1000, 4096]
    assert traced["POSIX", 1].writes["offset"].tolist() == []
    assert traced["MPI-IO", 2].writes["offset"].tolist() == [2 << 20]
    assert traced["POSIX", 0].path == "/scratch/out.h5"
    assert len(list(job.traced())) == 6  # again


def assert_equal(job: Job, log: Path) -> None:
    """What PyDarshan reads in LOG is what JOB says."""
    report = darshan.DarshanReport(str(log), read_all=True)
    assert report.metadata["job"]["nprocs"] == job.ranks
    assert report.metadata["exe"] == job.program
    names = report.name_records
    for name, module in job.modules.items():
        frames = report.records[name].to_df()
        ours = {(one.path, one.rank): one for one in module.records}
        assert len(frames["counters"]) == len(ours)
        for part, values in (("counters", "counters"), ("fcounters", "times")):
            for row in frames[part].to_dict("records"):
                one = getattr(ours[names[row.pop("id")], row.pop("rank")], values)
                assert row == {counter: one.get(counter, 0) for counter in row}
                assert set(one) <= set(row)
    for name, kind in (("DXT_POSIX", "POSIX"), ("DXT_MPIIO", "MPI-IO")):
        theirs = {}
        for one in report.records.get(name, []):
            segments = [[tuple(s.values()) for s in one[f"{way}_segments"]] for way in ("read", "write")]
            theirs[names[one["id"]], one["rank"], one["hostname"]] = segments
        ours_traced = {
            (t.path, t.rank, t.host): [[tuple(s) for s in t.reads.tolist()], [tuple(s) for s in t.writes.tolist()]]
            for t in job.traced()
            if t.module == kind
        }
        assert theirs == ours_traced
    for name, heat in job.heat.items():
        assert report.heatmaps[name].to_df(["write"]).sum().sum() == heat.written.sum()


def test_darshans_reader_reads_the_same(folder: Path, tmp_path: Path) -> None:
    job = read_trace(folder)
    write_darshan(job, tmp_path / "x.darshan")
    assert_equal(job, tmp_path / "x.darshan")
    write_darshan(job, tmp_path / "x.darshan")  # over the old one
    assert [entry.name for entry in tmp_path.iterdir() if entry.is_file()] == ["x.darshan"]
    with pytest.raises(UserError, match="no such folder"):
        write_darshan(job, tmp_path / "none" / "x.darshan")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UserError, match="pipe is no regular file"):
        write_darshan(job, tmp_path / "pipe")
    assert (tmp_path / "pipe").is_fifo()


def test_perfetto(folder: Path, tmp_path: Path) -> None:
    write_perfetto(folder, tmp_path / "p.json")
    events = json.loads((tmp_path / "p.json").read_text())["traceEvents"]
    whole = [event for event in events if event["ph"] == "X"]
    assert len(whole) == 3 * 5 + 7  # calls of all, steps, and those of rank 0
    write = next(event for event in whole if event["name"] == "write")
    assert (write["ts"], write["dur"], write["args"]["bytes"]) == (60_000.0, 4000.0, 1000)
    assert {event["args"]["name"] for event in events if event["name"] == "process_name"} == {
        "rank 0 on n0",
        "rank 1 on n0",
        "rank 2 on n1",
    }
    write_perfetto(folder, tmp_path / "p.json.gz")
    with gzip.open(tmp_path / "p.json.gz", "rt") as file:
        assert json.load(file)["traceEvents"] == events


def test_what_tracing_cost_is_said(folder: Path, penstock: Penstock) -> None:
    assert read_trace(folder).recorder_seconds == pytest.approx(0.002)
    said = penstock("trace", str(folder)).stdout
    assert "tracing took at most 2.00 ms on any rank: 1 % of the run, 2.2 % of the time in commits and reads" in said


def test_whatever_is_cut_off_the_rest_is_read(folder: Path) -> None:
    path = sorted(folder.iterdir())[0]
    whole = path.read_bytes()
    most = 0
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        job = read_trace(folder)
        assert job.troubles, length
        written = job.modules["POSIX"].total("POSIX_BYTES_WRITTEN")
        assert written >= most
        most = max(most, written)
    assert most == 3000


def test_whatever_byte_is_wrong_there_is_an_answer(folder: Path) -> None:
    path = sorted(folder.iterdir())[0]
    whole = bytearray(path.read_bytes())
    for at in range(0, len(whole), 3):
        damaged = whole.copy()
        damaged[at] ^= 0xFF
        path.write_bytes(damaged)
        read_trace(folder)  # the other ranks are whole


ODD: tuple[Any, ...] = (None, "x", -1, 1e300, [], {}, [1], True, 10**30, "9" * 5000, "\ud800")


@pytest.mark.parametrize("kind", ["JOB ", "STEP", "END "])
def test_whatever_is_said_of_a_job_there_is_an_answer(tmp_path: Path, kind: str) -> None:
    path = trace(tmp_path / "t", 0, 1, block("PATH", paths("a", "b")), block("STEP", step(0)), ended=False)
    whole = {one.kind: one.json for one in TraceFile(path).blocks()}
    whole["END "] = {"time": 150 * MS, "calls": 1, "calls_lost": 0, "recorder": MS}
    moved = block("CALL", calls((WRITE, 0, 10, 4, 0, 1000)))
    for key, odd in ((key, odd) for key in whole[kind] for odd in ODD):
        said = whole | {kind: whole[kind] | {key: odd}}
        heads = [block(one, as_json(said[one])) for one in ("JOB ", "STEP", "END ")]
        path.write_bytes(MAGIC + heads[0] + block("PATH", paths("a", "b")) + moved + heads[1] + heads[2])
        try:
            diagnose(read_trace(path.parent))
        except UserError:
            continue
        write_perfetto(path.parent, tmp_path / "p.json")
        json.loads((tmp_path / "p.json").read_text())
        write_darshan(read_trace(path.parent), tmp_path / "x.darshan")


def test_a_path_may_be_longer_than_darshan_has_room_for(tmp_path: Path) -> None:
    name = "/".join(["d" * 200] * 40)
    moved = block("CALL", calls((WRITE, 0, 10, 4, 0, 1000)))
    path = trace(tmp_path / "t", 0, 1, block("PATH", paths(name)), moved)
    job = read_trace(path.parent)
    write_darshan(replace(job, mounts=(("/" + "m" * 4000, "x"), *job.mounts)), tmp_path / "x.darshan")
    read = read_log(tmp_path / "x.darshan")
    assert record(read, "POSIX").path == f"/scratch/{name}"[:4095]
    assert record(read, "POSIX").counters["POSIX_BYTES_WRITTEN"] == 1000


def test_nonsense_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file or folder"):
        read_trace(tmp_path / "none")
    with pytest.raises(UserError, match="run the program with PENSTOCK_TRACE"):
        read_trace(tmp_path)
    (tmp_path / "a.trace").write_bytes(b"")
    with pytest.raises(UserError, match="does not begin as one"):
        read_trace(tmp_path)


def test_the_newest_of_two_runs_and_who_is_missing(tmp_path: Path) -> None:
    for rank in range(2):
        trace(tmp_path, rank, 2, start=START)
    trace(tmp_path, 1, 2, start=START + 10**12, ended=False)
    trace(tmp_path, 0, 2, start=START + 10**12 + 1)
    job = read_trace(tmp_path)
    assert job.start == pytest.approx(START / 1e9 + 1000 - 0.05)
    said = "\n".join(job.troubles)
    assert "2 runs" in said
    assert "rank 1 did not end its trace" in said
    for path in tmp_path.glob(f"rank000000-{START + 10**12 + 1:x}-*"):
        path.unlink()
    assert "1 of 2 ranks have no trace here: 0" in "\n".join(read_trace(tmp_path).troubles)


@pytest.mark.parametrize(
    ("plan", "mpi_module"), [("hdf5/two_phase:writers=2", False), ("hdf5/servers", False), ("phdf5", True)]
)
def test_a_program_on_three_ranks(build: Path, tmp_path: Path, plan: str, mpi_module: bool) -> None:
    command = [*launch.mpiexec(launch.Mpi.openmpi, 3), str(build / "bin" / "penstock-bench"), "block2d", "--dir", "."]
    command += ["--total", "3MiB", "--methods", plan, "--repetitions", "1", "--json", "out.json"]
    environment = launch.environment() | {"PENSTOCK_TRACE": "t"}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, timeout=300, capture_output=True)
    job = read_trace(tmp_path / "t")
    assert job.ranks == 3
    assert not job.troubles
    assert ("MPI-IO" in job.modules) == mpi_module
    written = max(record.counters["POSIX_BYTES_WRITTEN"] for record in job.modules["POSIX"].records)
    assert written >= 3 << 20
    assert {one.operation for one in job.steps} == {"read", "write"}
    assert all(one.writers for one in job.steps if one.operation == "write" and plan != "phdf5")
    write_darshan(job, tmp_path / "x.darshan")
    assert_equal(job, tmp_path / "x.darshan")
    shown = run_penstock("trace", "t", "--perfetto", "p.json", cwd=tmp_path, bin_folder=build / "bin")
    assert shown.returncode == 0, shown.stderr
    assert "3 ranks on 1 node" in shown.stdout
    assert len(json.loads((tmp_path / "p.json").read_text())["traceEvents"]) > 100


def test_a_killed_program_leaves_what_it_did(build: Path, tmp_path: Path) -> None:
    program = build / "bin" / "mpi_trace"
    if not program.is_file():
        pytest.fail("build/bin has no mpi_trace: 'make build' makes it")
    result = subprocess.run([program, "killed", "t"], cwd=tmp_path, env=launch.environment(), timeout=120, check=False)
    assert result.returncode == -signal.SIGKILL
    job = read_trace(tmp_path / "t")
    assert [one.operation for one in job.steps] == ["write", "read"]
    assert job.steps[0].path == os.fspath(tmp_path.resolve() / "killed.h5")
    assert "killed" in " ".join(job.troubles)
    assert job.modules["POSIX"].partial
