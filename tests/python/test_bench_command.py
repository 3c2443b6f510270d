"""test_bench_command.py: `penstock bench` around a stand-in for penstock-bench, whose behaviour the tests choose."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import INTERRUPTIBLE, line, ratio, record, run_penstock

StandIn = Callable[[str], Path]

GOOD = record(
    line("raw/per_process", 1.0),
    line("hdf5/two_phase", 0.5, ratio=ratio(0.5, 0.4, 0.6, "faster")),
)


def writes(text: dict[str, object]) -> str:
    return f"open(option('--json'), 'w').write({json.dumps(text)!r})\n"


def left_behind(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith("penstock-bench-")]


def bench(bin_folder: Path, cwd: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run_penstock("bench", *words, "--mpi", "serial", "--np", "1", cwd=cwd, bin_folder=bin_folder)


def test_a_good_run_ends_with_table_and_advice(stand_in: StandIn, tmp_path: Path) -> None:
    body = "event(event='start', total_runs=2)\nprint('a line of somebody else')\n"
    body += "event(event='run', method='m', operation='write', repetition=1, seconds=0.5, done=1, of=2)\n"
    done = bench(stand_in(body + writes(GOOD) + "event(event='done')"), tmp_path, "block2d")
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 runs to do." in done.stdout
    assert "2.00 times as fast as raw/per_process" in done.stdout
    assert "a line of somebody else" not in done.stdout
    assert left_behind(tmp_path) == []


def test_every_other_option_is_passed_on_and_ours_are_given(stand_in: StandIn, tmp_path: Path) -> None:
    body = f"open({str(tmp_path / 'arguments')!r}, 'w').write(json.dumps(sys.argv[1:]))\n" + writes(GOOD)
    done = bench(stand_in(body), tmp_path, "--type", "real32", "block2d", "--total", "1MiB", "--aa", "--methods", "a,b")
    assert done.returncode == 0, done.stderr
    given = json.loads((tmp_path / "arguments").read_text())
    assert given[:5] == ["--type", "real32", "block2d", "--total", "1MiB"]
    assert given[given.index("--methods") + 1] == "a,b"
    assert {"--progress", "--dir", "--json"} < set(given)


def test_the_record_is_kept_where_it_was_asked_for(stand_in: StandIn, tmp_path: Path) -> None:
    done = bench(stand_in(writes(GOOD)), tmp_path, "block2d", "--json", "out.json")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out.json").read_text())["schema"] == "penstock.bench/1"


def test_a_method_that_did_not_verify_fails_the_run_after_the_table(stand_in: StandIn, tmp_path: Path) -> None:
    wrong = record(line("raw/per_process"), line("hdf5/two_phase", verified=False))
    done = bench(stand_in(writes(wrong) + "sys.exit(1)"), tmp_path, "block2d")
    assert done.returncode == 1
    assert "NO" in done.stdout
    assert "hdf5/two_phase did not verify" in done.stderr


def test_a_lying_exit_status_does_not_hide_a_wrong_file(stand_in: StandIn, tmp_path: Path) -> None:
    wrong = record(line("raw/per_process"), line("hdf5/two_phase", verified=False))
    assert bench(stand_in(writes(wrong)), tmp_path, "block2d").returncode == 1


def test_a_refusal_is_one_line(stand_in: StandIn, tmp_path: Path) -> None:
    body = (
        "print('penstock-bench: no workload \\'x\\'', file=sys.stderr)\nprint('pages of a launcher', file=sys.stderr)\n"
    )
    done = bench(stand_in(body + "sys.exit(2)"), tmp_path, "x")
    assert (done.returncode, done.stderr) == (2, "penstock: no workload 'x'\n")


def test_a_crash_shows_what_was_said_last(stand_in: StandIn, tmp_path: Path) -> None:
    done = bench(stand_in("print('out of cheese', file=sys.stderr); os.abort()"), tmp_path, "x")
    assert done.returncode == 1
    assert "out of cheese" in done.stderr


def test_an_old_record_is_not_taken_for_a_new_one(stand_in: StandIn, tmp_path: Path) -> None:
    (tmp_path / "out.json").write_text(json.dumps(GOOD))
    done = bench(stand_in("sys.exit(1)"), tmp_path, "x", "--json", "out.json")
    assert done.returncode == 1
    assert "times as fast" not in done.stdout


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([], "which workload?"),
        (["block2d", "--np", "1", "--mpi", "serial", "--dir", "nowhere"], "no such file or folder"),
        (["block2d", "--np", "0"], "--np must be at least 1"),
        (["block2d", "--np", "many"], "--np"),
        (["block2d", "--mpi", "pigeons"], "--mpi"),
        (["block2d", "--np", "2", "--mpi", "serial"], "runs on 1 rank"),
        (["block2d"], "penstock-bench; 'make build' makes it"),
    ],
)
def test_bad_input_is_refused_before_anything_runs(
    stand_in: StandIn, tmp_path: Path, words: list[str], complaint: str
) -> None:
    done = run_penstock("bench", *words, cwd=tmp_path, bin_folder=stand_in("sys.exit(9)"))
    assert done.returncode == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_no_process_and_no_file(stand_in: StandIn, tmp_path: Path, how: signal.Signals) -> None:
    # A rank that starts a process of its own, writes into the scratch folder, and ignores what it is told.
    body = f"""
import signal
for each in (signal.SIGINT, signal.SIGTERM): signal.signal(each, signal.SIG_IGN)
open(os.path.join(option('--dir'), 'data'), 'w').write('x')
if os.fork() == 0: os.setpgid(0, 0)
open({str(tmp_path / "pids")!r}, 'a').write(f'{{os.getpid()}}\\n')
event(event='start', total_runs=1)
time.sleep(600)
"""
    command = [*INTERRUPTIBLE, sys.executable, "-m", "penstock", "bench", "x", "--mpi", "serial", "--np", "1"]
    environment = os.environ | {"PENSTOCK_BIN": str(stand_in(body))}
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL)
    pids = tmp_path / "pids"
    try:
        wait_until(lambda: pids.is_file() and len(pids.read_text().split()) == 2)
        process.send_signal(how)
        assert process.wait(60) == 130
        assert left_behind(tmp_path) == []
        wait_until(lambda: not any(is_alive(int(pid)) for pid in pids.read_text().split()))
    finally:
        started = pids.read_text().split() if pids.is_file() else []
        for pid in [process.pid, *map(int, started)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
