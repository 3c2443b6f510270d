"""gluster_volume.py: a GlusterFS volume from files of ours: bricks that are folders here, and mounts by FUSE."""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from disk import skip

BRICKS = 3
LOCAL = "127.0.0.1"
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
  option transport.socket.bind-address {address}
  option transport.socket.listen-port {port}
  option auth.addr.brick.allow *
  subvolumes brick
end-volume
"""
CLIENT = """volume client{number}
  type protocol/client
  option transport-type tcp
  option transport.address-family inet
  option remote-host {address}
  option remote-port {port}
  option remote-subvolume brick
  option ping-timeout {ping}
end-volume
"""
LAYOUTS = {
    "disperse": """volume disperse
  type cluster/disperse
  option redundancy 1
  subvolumes {clients}
end-volume
""",
    "distribute": """volume distribute
  type cluster/distribute
  subvolumes {clients}
end-volume
""",
}


def missing() -> str:
    """What this machine lacks for one; "" where it has all."""
    lost = next((name for name in ("glusterfsd", "glusterfs", "setpriv") if shutil.which(name) is None), None)
    if lost is not None:
        return f"no {lost}"
    return "" if Path("/dev/fuse").exists() else "no FUSE here"


def free_port(address: str) -> int:
    with socket.socket() as one:
        one.bind((address, 0))
        return int(one.getsockname()[1])


class Volume:
    """A volume of LAYOUT below FOLDER, mounted at PATH. Its bricks listen on ADDRESS."""

    def __init__(self, folder: Path, layout: str = "disperse", address: str = LOCAL) -> None:
        self.folder = folder
        self.path = folder / "mount"
        self.layout = layout
        self.address = address
        self.ports = [free_port(address) for _ in range(BRICKS)]
        self._bricks: list[subprocess.Popen[bytes] | None] = [None] * BRICKS
        self._clients: list[subprocess.Popen[bytes]] = []

    def _start(
        self, program: str, name: str, *more: str, log: str = "", inside: Sequence[str] = ()
    ) -> subprocess.Popen[bytes]:
        files = [f"--volfile={self.folder / name}.vol", f"--log-file={self.folder / (log or name)}.log"]
        words = [
            *inside,
            "setpriv",
            "--pdeathsig",
            "KILL",
            program,
            "--no-daemon",
            *files,
            f"--pid-file={self.folder / (log or name)}.pid",
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
            brick.with_suffix(".vol").write_text(BRICK.format(folder=brick, address=self.address, port=port))
            clients += CLIENT.format(number=number, address=self.address, port=port, ping=PING_SECONDS)
            self.start_brick(number)
        names = " ".join(f"client{number}" for number in range(BRICKS))
        (self.folder / "client.vol").write_text(clients + LAYOUTS[self.layout].format(clients=names))
        self.path.mkdir()
        self.mount()
        return "" if self.wait() else f"it does not come up: {self.last_words()}"

    def mount(self, name: str = "client", inside: Sequence[str] = ()) -> None:
        """Mounts it at PATH, here or where the words INSIDE lead; NAME is of its log."""
        self._clients.append(self._start("glusterfs", "client", str(self.path), log=name, inside=inside))

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
        for process in (*self._clients, *self._bricks):
            if process is not None:
                process.kill()
                process.wait()


@contextmanager
def volume(parent: Path, name: str, layout: str = "disperse", address: str = LOCAL) -> Iterator[Volume]:
    folder = parent / name
    folder.mkdir()
    one = Volume(folder, layout, address)
    try:
        if why := one.start():
            skip(f"GlusterFS: {why}")
        yield one
    finally:
        one.remove()
        shutil.rmtree(folder, ignore_errors=True)
