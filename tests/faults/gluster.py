#!/usr/bin/env python3
"""gluster.py: writes checkpoints on a GlusterFS of three bricks, of which one may be missing, while bricks die.

python tests/faults/gluster.py [--short] --program build/bin/torture --preload build/lib/libpenstock_inject.so

The volume is dispersed, two parts of data and one of redundancy, all on this machine and mounted by FUSE.
docs/faults.md says what must hold. The last line is the sum.
"""

import argparse
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from disk import enter_namespace, folders, skip
from methods import EXTENSIONS, SMALL, STREAMS, Method, own
from record import Outcome, Record, table
from torture import Settings, Torture

BRICKS = 3
PING_SECONDS = 3  # after which a client gives a silent brick up
BRICK = """volume posix
  type storage/posix
  option directory {folder}
end-volume
volume locks
  type features/locks
  subvolumes posix
end-volume
volume brick
  type debug/io-stats
  subvolumes locks
end-volume
volume server
  type protocol/server
  option transport-type tcp
  option transport.address-family inet
  option transport.socket.bind-address 127.0.0.1
  option transport.socket.listen-port {port}
  option auth.addr.brick.allow 127.0.0.1
  subvolumes brick
end-volume
"""
CLIENT = """volume client{number}
  type protocol/client
  option transport-type tcp
  option transport.address-family inet
  option remote-host 127.0.0.1
  option remote-port {port}
  option remote-subvolume brick
  option ping-timeout {ping}
end-volume
"""
DISPERSE = """volume disperse
  type cluster/disperse
  option redundancy 1
  subvolumes {clients}
end-volume
"""


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class Volume:
    """A volume below FOLDER, mounted at PATH."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "mount"
        self.ports = [free_port() for _ in range(BRICKS)]
        self._bricks: list[subprocess.Popen[bytes] | None] = [None] * BRICKS
        self._client: subprocess.Popen[bytes] | None = None

    def _start(self, program: str, name: str, *more: str) -> subprocess.Popen[bytes]:
        files = [f"--volfile={self.folder / name}.vol", f"--log-file={self.folder / name}.log"]
        words = [
            "setpriv",
            "--pdeathsig",
            "KILL",
            program,
            "--no-daemon",
            *files,
            f"--pid-file={self.folder / name}.pid",
            *more,
        ]
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def start_brick(self, number: int) -> None:
        self._bricks[number] = self._start("glusterfsd", f"brick{number}")

    def start(self) -> str:
        """Why it did not; "" where it is there."""
        clients = ""
        for number, port in enumerate(self.ports):
            brick = self.folder / f"brick{number}"
            brick.mkdir()
            brick.with_suffix(".vol").write_text(BRICK.format(folder=brick, port=port))
            clients += CLIENT.format(number=number, port=port, ping=PING_SECONDS)
            self.start_brick(number)
        names = " ".join(f"client{number}" for number in range(BRICKS))
        (self.folder / "client.vol").write_text(clients + DISPERSE.format(clients=names))
        self.path.mkdir()
        self._client = self._start("glusterfs", "client", str(self.path))
        return "" if self.wait() else f"it does not come up: {self.last_words()}"

    def last_words(self) -> str:
        lines = [line for log in self.folder.glob("*.log") for line in log.read_text().splitlines() if "] E [" in line]
        return lines[-1] if lines else "no error in its logs"

    def wait(self, bricks: int = BRICKS) -> bool:
        """For all bricks to be connected again: as many as a file's attributes can be written to."""
        probe = self.path / "probe"
        for _ in range(200):
            try:
                if os.path.ismount(self.path):
                    probe.write_text("here")
                    probe.read_text()
                    probe.unlink()
                    if self._connected() >= bricks:
                        return True
            except OSError:
                pass
            time.sleep(0.05)
        return False

    def _connected(self) -> int:
        """Bricks on which a new folder appears."""
        folder = self.path / "connected"
        folder.mkdir()
        try:
            return sum((self.folder / f"brick{number}" / "connected").is_dir() for number in range(BRICKS))
        finally:
            folder.rmdir()

    def strike(self, signal_name: str, *numbers: int) -> str:
        """A command that ends bricks, or stops them."""
        files = " ".join(f"$(cat {self.folder}/brick{number}.pid)" for number in numbers)
        return f"kill -{signal_name} {files}"

    def revive(self) -> bool:
        """Starts what is not running, and waits for all."""
        for number, brick in enumerate(self._bricks):
            assert brick is not None
            brick.send_signal(signal.SIGCONT)
            if brick.poll() is not None:
                self.start_brick(number)
        return self.wait()

    def remove(self) -> None:
        subprocess.run(["umount", "-l", str(self.path)], check=False)
        for process in (self._client, *self._bricks):
            if process is not None:
                process.kill()
                process.wait()


@contextmanager
def volume(parent: Path, name: str) -> Iterator[Volume]:
    folder = parent / name
    folder.mkdir()
    one = Volume(folder)
    try:
        if why := one.start():
            skip(f"GlusterFS: {why}")
        yield one
    finally:
        one.remove()
        shutil.rmtree(folder, ignore_errors=True)


class Bricks:
    """Cases: a volume of its own for each, since what a brick missed is healed at no certain time."""

    def __init__(self, torture: Torture, folder: Path) -> None:
        self.torture = torture
        self.folder = folder
        self._count = 0

    def run(self, method: Method, ranks: int, points: int) -> None:
        """One brick or two that die, or fall silent, at POINTS calls of the write."""
        calls = self.case(method, ranks, "none", (), 0, 0)
        places = [(rank, at) for rank, number in enumerate(calls) for at in range(1, number + 1)]
        for bricks, name in (((2,), "KILL"), ((1, 2), "KILL"), ((2,), "STOP"), ((1, 2), "STOP")):
            few = points if name == "KILL" else points // 2
            for i in range(few):
                rank, at = places[(2 * i + 1) * len(places) // (2 * few)]
                self.case(method, ranks, name, bricks, rank, at)

    def case(self, method: Method, ranks: int, name: str, bricks: tuple[int, ...], rank: int, at: int) -> list[int]:
        """How many calls each rank makes."""
        self._count += 1
        with volume(self.folder, f"volume{self._count}") as one:
            pages = self.torture.settings.pages / f"case{self._count}"
            target = one.path / "run" / f"state{method.extension}"
            target.parent.mkdir()
            words = ["--plan", method.plan, "--scale", "4", "--path", str(target)]
            made, said = self.torture.run(ranks, pages, ["write", *words, "--version", "1"])
            before = {entry.name for entry in target.parent.iterdir()}
            if made != 0 or "refused" in said:
                self.torture.record.refuse(method, said.strip() or f"exit status {made}", False)
                return []
            strike = ["--strike", f"{rank},command,{at}", "--command", one.strike(name, *bricks)] if bricks else []
            code, said = self.torture.run(ranks, pages, ["write", *words, "--pages", str(pages), *strike])
            if not one.revive():
                skip(f"GlusterFS does not come up again: {one.last_words()}")
            state, _, call, why = self.torture.check(target, pages, rank)
            ended = re.search(r"^ended\t(.*)\t(alike|differ)\t(.*)$", said, re.MULTILINE)
            status = ended[1] if ended else "unknown"
            left = sorted({entry.name for entry in target.parent.iterdir()} - before)
            defect = judge(code, ended, state, len(bricks), left)
            text = f"{why} {ended[3] if ended else ''} {' '.join(left)}"
            fault = f"{name} of {len(bricks)}" if bricks else "none"
            self.torture.record.add(method, ranks, Outcome(fault, rank, at, call, status, state, defect, text), False)
            if os.environ.get("PENSTOCK_SHOW"):
                print(method.plan, fault, rank, at, call, status, state, text, flush=True)
            return [int(n) for n in re.findall(r"^calls\t\d+\t(\d+)$", said, re.MULTILINE)]


def judge(code: int | None, ended: "re.Match[str] | None", state: str, missing: int, left: list[str]) -> str:
    """One missing brick may not even be noticed; with two there is an error, or the write was over."""
    if code is None or state in ("lost", "damaged"):
        return "hang" if code is None else state
    if ended is None or ended[2] == "differ":
        return "crash" if ended is None else "differ"
    if ended[1] != "ok" and missing < 2:
        return "refused"
    allowed = {"ok": ("new",), "in doubt": ("old", "new")}.get(ended[1], ("old",))
    return "" if state in allowed else "state"  # what could not be removed is left


def methods(is_short: bool) -> list[Method]:
    ways = {"independent": (SMALL,), "two_phase": (SMALL,), "servers": ("",)}
    if is_short:
        return own("hdf5", {"two_phase": ways["two_phase"]}, ("",))
    return [m for name in EXTENSIONS for m in own(name, ways, ("", "placement=parts,parts=2"))] + STREAMS


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes on a GlusterFS whose bricks die.")
    parser.add_argument("--program", required=True, help="the test program 'torture'")
    parser.add_argument("--preload", required=True, help="the libraries to preload, with colons between them")
    parser.add_argument("--launcher", default="mpiexec.openmpi", help="what starts ranks; '' without MPI")
    parser.add_argument("--only", default="", help="methods whose plan has this in it")
    parser.add_argument("--short", action="store_true", help="less than a minute")
    options = parser.parse_args()
    enter_namespace()
    for program in ("glusterfsd", "glusterfs", "setpriv"):
        if shutil.which(program) is None:
            skip(f"no {program}")
    if not Path("/dev/fuse").exists():
        skip("no FUSE here")
    preload = ":".join(str(Path(library).resolve()) for library in options.preload.split(":"))
    begin, record = time.monotonic(), Record()
    with folders("penstock-gluster-") as folder:
        (folder / "pages").mkdir()
        program = str(Path(options.program).resolve())
        settings = Settings(program, preload, options.launcher.split(), folder, folder / "pages")
        bricks = Bricks(Torture(settings, record), folder)
        for method in methods(options.short):
            if options.only in method.plan:
                bricks.run(method, 2 if settings.launcher else 0, 2 if options.short else 6)
    print("\n".join(table(record, False)))
    defects = sum(sum(tally.defects.values()) for tally in record.tallies.values())
    faults = sum(tally.faults for tally in record.tallies.values())
    passed = faults > 0 and defects == 0
    print(f"gluster: {'passed' if passed else 'FAILED'}: {faults} writes, {time.monotonic() - begin:.0f} s")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
