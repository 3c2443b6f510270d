"""test_monitor_screen.py: the live view of `penstock monitor`, at terminals of all sizes, and how it ends."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

import pytest
from rich.console import Console

from conftest import INTERRUPTIBLE
from penstock.operate.monitor.devices import DeviceRates
from penstock.operate.monitor.file_systems import FileSystem
from penstock.operate.monitor.jobs import Job
from penstock.operate.monitor.live import lines
from penstock.operate.monitor.outputs import Output
from penstock.operate.monitor.processes import ProcessRates
from penstock.operate.monitor.sample import Node, Sample
from penstock.operate.monitor.screen import Screen, sparks


class Terminal:
    """`penstock monitor` at a terminal of its own, of some size."""

    def __init__(self, columns: int, rows: int, **environment: str) -> None:
        self.main, here = pty.openpty()
        self.resize(columns, rows)
        command = [*INTERRUPTIBLE, sys.executable, "-m", "penstock", "monitor", "--interval", "0.2"]
        variables = os.environ | {"TERM": "xterm-256color"} | environment
        variables = {name: value for name, value in variables.items() if name not in ("COLUMNS", "LINES")}
        self.before = termios.tcgetattr(here)
        self.here = here
        self.process = subprocess.Popen(
            command,
            stdin=here,
            stdout=here,
            stderr=here,
            env=variables,
            preexec_fn=self._own,  # noqa: PLW1509
        )
        self.said = ""

    def _own(self) -> None:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.main, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read_until(self, words: str, since: int = 0) -> None:
        until = time.monotonic() + 30
        while words not in self.said[since:]:
            assert time.monotonic() < until, self.said[-2000:]
            if select.select([self.main], [], [], 0.5)[0]:
                self.said += os.read(self.main, 65536).decode(errors="replace")

    def end(self) -> int:
        until = time.monotonic() + 30
        while self.process.poll() is None and time.monotonic() < until:
            if select.select([self.main], [], [], 0.1)[0]:
                self.said += os.read(self.main, 65536).decode(errors="replace")
        after = termios.tcgetattr(self.here)
        os.close(self.here)
        while select.select([self.main], [], [], 0.1)[0]:
            try:
                self.said += os.read(self.main, 65536).decode(errors="replace")
            except OSError:
                break
        os.close(self.main)
        assert after == self.before, "the terminal is left as it was"
        assert self.said.rstrip().endswith("\x1b[?1049l"), "and so is what stood on it"
        return self.process.wait()


@pytest.mark.parametrize("way", ["q", "Ctrl-C", "signal"])
def test_at_a_terminal_it_ends_when_asked_to(way: str) -> None:
    terminal = Terminal(100, 30)
    terminal.read_until("q ends")
    match way:
        case "q":
            os.write(terminal.main, b"q")
        case "Ctrl-C":
            os.write(terminal.main, b"\x03")
        case _:
            terminal.process.send_signal(signal.SIGTERM)
    assert terminal.end() == 0
    assert "Traceback" not in terminal.said
    assert "w/s" in terminal.said


def test_a_terminal_that_becomes_narrow_is_drawn_anew() -> None:
    terminal = Terminal(120, 30)
    terminal.read_until("q ends")
    assert "other/s" in terminal.said
    here = len(terminal.said)
    terminal.resize(50, 20)
    terminal.read_until("q ends", here + 2000)
    since = terminal.said[here + 2000 :]
    os.write(terminal.main, b"q")
    assert terminal.end() == 0
    assert "other/s" not in since


def test_without_colours_there_are_none() -> None:
    terminal = Terminal(100, 30, NO_COLOR="1")
    terminal.read_until("q ends")
    os.write(terminal.main, b"q")
    terminal.end()
    assert re.search(r"\x1b\[(3|4|9)[0-9]", terminal.said) is None


def sample_of(systems: int, jobs: int) -> Sample:
    found = [FileSystem(f"/mnt/{i:05d}", [], "nfs", f"s:/{i}", False, "NFS 4.2") for i in range(systems)]
    for i, one in enumerate(found):
        one.write_bytes_per_second = float(i)
    outputs = [Output("/s/" + "long/" * 60 + "out.h5", "write", "p", 0, 1, 1, 1.0, 5, 10, 5.0, 0.5, 1.0)]
    running = [Job(f"slurm-{i}", "heat", "heat", "ada", 4, 4, "write", {"write": 4}, 0.0, 9.0, 1, None, outputs)
               for i in range(jobs)]  # fmt: skip
    return Sample("n1", 0.0, 1.0, Node(), found, [], running, [], 0, 0, [], ["trouble"])


@pytest.mark.parametrize(("columns", "rows"), [(20, 4), (25, 20), (40, 15), (80, 24), (200, 50)])
def test_ten_thousand_things_fit_into_any_terminal(columns: int, rows: int) -> None:
    console = Console(width=columns, height=rows, force_terminal=True, color_system=None)
    screen = Screen()
    screen.note = "q ends"
    screen.show(sample_of(10_000, 1000))
    with console.capture() as capture:
        console.print(screen)
    lines = capture.get().splitlines()
    assert len(lines) <= rows
    assert lines[-1] == "q ends"
    assert max(map(len, lines)) <= columns
    if columns < 40:
        return
    assert "slurm-0" in capture.get()
    assert rows < 20 or "50%" in capture.get()
    assert "/mnt/09999" in capture.get(), "the busiest is shown"


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_what_a_job_does_and_when_it_ends_is_seen_at_any_width(columns: int) -> None:
    sample = sample_of(1, 1)
    job = sample.jobs[0]
    job.program, job.id, job.phases = "penstock-bench", "pmix-1803681793", {"exchange": 4}
    job.read_bytes_per_second = job.write_bytes_per_second = 1.5 * (1 << 30)
    job.outputs[0].done_bytes, job.outputs[0].total_bytes = 1_500_000_000, 2_900_000_000
    job.outputs[0].bytes_per_second, job.outputs[0].progress, job.outputs[0].left_seconds = 1e8, 0.52, 14.0
    console = Console(width=columns, color_system=None)
    with console.capture() as capture:
        console.print(Screen().tables(sample, columns, None))
    for words in ("exchange (4)", "read 1.50 GiB/s, write 1.50 GiB/s", "52%", "14 s left"):
        assert words in capture.get()


@pytest.mark.parametrize("columns", [60, 80, 100, 120, 200])
def test_the_title_and_headings_are_one_line_each(columns: int) -> None:
    """Of a node with a long name, on which much is done."""
    much = 1.53 * (1 << 30)
    sample = sample_of(3, 0)
    sample.host = "login-node-0123.cluster.example.org"
    sample.node = Node(much, much, 123_456_789_012, 98_765_432)
    for one in sample.file_systems:
        one.mount = "/home/cluster" if one.mount.endswith("1") else one.mount
        one.read_bytes_per_second = one.write_bytes_per_second = much
        one.reads_per_second = one.writes_per_second = one.metadata_per_second = 12345.0
        one.used, one.available_bytes = 0.97, 123_456_789_012
    sample.devices = [DeviceRates("nvme0n1", "vg0-root", (), 3, much, much, 12345.0, 23456.0, 0.97, 123.4, 0.01, 0.02)]
    sample.processes = [ProcessRates(1234567, "penstock-bench", much, much, much, much, 123456.0)]
    screen = Screen()
    screen.show(sample)
    console = Console(width=columns, height=24, force_terminal=True, color_system=None)
    with console.capture() as capture:
        console.print(screen)
    shown = capture.get().splitlines()
    assert shown[0].startswith("login-node-0123")
    assert "write 1.53 GiB/s" in shown[0]
    assert shown[1].startswith("file system ")
    assert set(shown[2]) == {"─"}
    assert any(line.startswith("/home/cluster ") for line in shown[3:6]), shown
    for name in ("device ", "process "):
        at = next(i for i, line in enumerate(shown) if line.startswith(name))
        assert set(shown[at + 1]) == {"─"}


def test_names_give_the_terminal_no_orders() -> None:
    sample = sample_of(1, 1)
    evil = "/a\x1b]0;gone\x07\udcff"
    sample.file_systems[0].mount = sample.jobs[0].program = sample.jobs[0].outputs[0].path = evil
    sample.processes = [ProcessRates(7, evil, 1.0, 1.0, 1.0, 1.0, 1.0)]
    sample.gone = sample.troubles = [evil]
    console = Console(width=100, color_system=None)
    with console.capture() as capture:
        console.print(Screen().tables(sample, 100, None))
    text = capture.get() + "\n".join(lines(sample))
    assert r"/a\x1b]0;gone\x07\xff" in text
    text.encode()
    assert not set(text) & {"\x1b", "\x07"}


def test_sparks_are_as_high_as_their_rates() -> None:
    assert sparks([0, 1, 4, 8])[-4:] == " ▂▅█"
    assert sparks([]).strip() == ""
