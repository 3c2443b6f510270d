"""hosts.py: hosts on one machine: each has its own network, name and mounts; a bridge joins them."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "faults"))

import gluster_volume
from disk import enter_namespace, skip

NET = "10.71.0"
BRIDGE_ADDRESS = f"{NET}.254"  # where those outside the hosts are: storage servers
NAMESPACES = ("--net", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc")  # of the program that makes hosts


class ClusterError(Exception):
    """What should have come up did not."""


def enter() -> None:
    """Starts this program again in namespaces, with what MPI needs; processes and mounts end with them."""
    for program in ("ip", "tc", "nsenter"):
        if shutil.which(program) is None:
            skip(f"no {program}")
    enter_namespace(*NAMESPACES)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the first process of a namespace ignores it otherwise
    for kind in ("veth", "bridge"):
        add = ["ip", "link", "add", f"trial-{kind}", "type", kind]
        trial = subprocess.run(add, capture_output=True, text=True, check=False)
        if trial.returncode != 0:
            skip(f"no {kind} here: {trial.stderr.strip()}")
    words = [line.partition("=") for line in (ROOT / "tools/penstock/mpi.env").read_text().splitlines()]
    os.environ.update({name: value for name, equals, value in words if equals and name.isidentifier()})
    os.environ["PENSTOCK_WISDOM"] = "none"


def run(*words: str) -> None:
    subprocess.run(words, check=True)


class Hosts:
    """h0, h1, ...: COUNT of them. What they need is in FOLDER; all see the same files until one mounts something."""

    def __init__(self, folder: Path, count: int) -> None:
        self.folder = folder
        self.names = [f"h{number}" for number in range(count)]
        self.agent = folder / "agent"
        self._keepers: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", "bridge", "type", "bridge")
        run("ip", "addr", "add", f"{BRIDGE_ADDRESS}/24", "dev", "bridge")
        run("ip", "link", "set", "bridge", "up")
        names = self.folder / "hosts"
        lines = ["127.0.0.1 localhost", *(f"{NET}.{i + 1} {name}" for i, name in enumerate(self.names))]
        names.write_text("\n".join(lines) + "\n")
        run("mount", "--bind", str(names), "/etc/hosts")
        for number in range(len(self.names)):
            self._start_host(number)
        # How an MPI library starts its processes on HOST: AGENT HOST COMMAND...
        enter = 'exec nsenter --target "$(cat "${0%/*}/$host.pid")" --net --uts --mount --root'
        self.agent.write_text(f'#!/bin/bash\nhost=$1\nshift\n{enter} bash -c "$*"\n')
        self.agent.chmod(0o755)

    def _start_host(self, number: int) -> None:
        name = self.names[number]
        there = self.folder / f"{name}.there"
        inside = f"hostname {name} && touch {shlex.quote(str(there))} && exec sleep infinity"
        namespaces = ("--net", "--uts", "--mount", "--propagation", "private")
        keeper = subprocess.Popen(["unshare", *namespaces, "--", "bash", "-c", inside])
        self._keepers.append(keeper)
        while not there.exists():
            if keeper.poll() is not None:
                raise ClusterError(f"{name} does not start: its status is {keeper.returncode}")
            time.sleep(0.01)
        pid = str(keeper.pid)
        (self.folder / f"{name}.pid").write_text(pid)
        run("ip", "link", "add", f"v{number}", "type", "veth", "peer", "name", "eth0", "netns", pid)
        run("ip", "link", "set", f"v{number}", "master", "bridge", "up")
        for words in (
            f"addr add {NET}.{number + 1}/24 dev eth0",
            "link set eth0 up",
            "link set lo up",
        ):
            run(*self.inside(number), "ip", *words.split())

    def inside(self, number: int) -> list[str]:
        """The words before a command that is to run on host NUMBER."""
        # Its root too: in a chroot, the mounts alone would lead out of it.
        return ["nsenter", "--target", str(self._keepers[number].pid), "--net", "--uts", "--mount", "--root"]

    def limit(self, rate: str) -> None:
        """RATE, as 400mbit, is the most that each host sends or receives in a second."""
        shape = ("root", "tbf", "rate", rate, "burst", "256kb", "latency", "100ms")
        for number in range(len(self.names)):
            run(*self.inside(number), "tc", "qdisc", "replace", "dev", "eth0", *shape)
            run("tc", "qdisc", "replace", "dev", f"v{number}", *shape)

    def mpiexec(self, library: str, ranks: Sequence[int], cwd: Path) -> list[str]:
        """Starts RANKS[i] ranks of LIBRARY, openmpi or mpich, on host i, one host after another."""
        slots = ",".join(f"{name}:{n}" for name, n in zip(self.names, ranks, strict=False) if n > 0)
        how = {
            "openmpi": [
                *("--mca", "plm_rsh_agent", str(self.agent), "--mca", "plm_rsh_no_tree_spawn", "1"),
                *("--mca", "oob_tcp_if_include", f"{NET}.0/24", "--mca", "btl_tcp_if_include", f"{NET}.0/24"),
                *("--mca", "pml", "ob1", "-H", slots),
            ],
            "mpich": [
                *("-launcher", "rsh", "-launcher-exec", str(self.agent), "-iface", "eth0"),
                *("-localhost", f"{NET}.1", "-hosts", slots),
            ],
        }[library]
        return [*self.inside(0), f"mpiexec.{library}", *how, "-wdir", str(cwd), "-n", str(sum(ranks))]

    def stop(self) -> None:
        for keeper in self._keepers:
            keeper.kill()
            keeper.wait()


@contextmanager
def hosts(folder: Path, count: int) -> Iterator[Hosts]:
    """REQUIRES: enter()."""
    made = Hosts(folder, count)
    try:
        made.start()
        yield made
    finally:
        made.stop()


@contextmanager
def mounted_on_all(made: Hosts, folder: Path, layout: str) -> Iterator[gluster_volume.Volume]:
    """A GlusterFS volume whose bricks are outside the hosts; each host mounts it by itself."""
    with gluster_volume.volume(folder, layout, layout, BRIDGE_ADDRESS) as volume:
        for number, name in enumerate(made.names):
            volume.mount(f"{layout}-{name}", made.inside(number))
        for number, name in enumerate(made.names):
            _wait_for_mount(made.inside(number), name, volume.path)
        yield volume


def _wait_for_mount(inside: list[str], name: str, path: Path) -> None:
    for _ in range(200):
        if subprocess.run([*inside, "mountpoint", "--quiet", str(path)], check=False).returncode == 0:
            return
        time.sleep(0.05)
    raise ClusterError(f"GlusterFS: {name} has no mount after 10 s")
