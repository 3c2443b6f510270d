#!/usr/bin/env python3
"""cluster.py: several hosts, as they are to MPI: ranks on them write and verify, and read what other hosts wrote.

python tests/cluster/cluster.py [--short] --build build [--mpich build/mpich]

The hosts are namespaces of this machine, joined by a bridge: messages between them go by TCP, and they share no memory
of MPI's. Files are on a folder that all hosts see alike, and on GlusterFS, mounted on each host by itself. The last
line is the sum. The exit status is 77 if GlusterFS was left out and nothing failed.
"""

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import hosts  # isort: skip  # it leads to tests/faults
import gluster_volume
from disk import SKIPPED, folders, skip

HOSTS = 4
LIMIT_SECONDS = 300
BENCH = ("--dir", ".", "--total", "1MiB", "--repetitions", "1", "--methods", "hdf5/two_phase")
QUICK = ("--quick", "--only", "everything")  # one workload, which has something of all


@dataclass(frozen=True)
class Library:
    """An MPI library, and the folder of what was built with it."""

    name: str
    build: Path


class Cluster:
    """Runs programs on HOSTS and counts what failed."""

    def __init__(self, made: hosts.Hosts) -> None:
        self.hosts = made
        self.passed = 0
        self.failed: list[str] = []

    def run(self, name: str, words: Sequence[str], wanted: str = r", 0 failures$") -> str:
        """What WORDS print. It must have WANTED in it, and the exit status 0."""
        begin = time.monotonic()
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
            status, said = done.returncode, done.stdout + done.stderr
        except subprocess.TimeoutExpired as late:
            status, said = -1, f"no end after {LIMIT_SECONDS} s\n{late.stdout!r}"
        good = status == 0 and re.search(wanted, said, re.MULTILINE) is not None
        print(f"{'passed' if good else 'FAILED'}  {name}  {time.monotonic() - begin:.1f} s", flush=True)
        if good:
            self.passed += 1
        else:
            self.failed.append(name)
            print(said, flush=True)
        return said

    def conformance(self, where: str, library: Library, ranks: Sequence[int], cwd: Path, *words: str) -> None:
        start = self.hosts.mpiexec(library.name, ranks, cwd)
        told = " ".join(word for word in words if word not in QUICK).replace(f"{cwd}/", "")
        name = f"{where}, {library.name}, {'+'.join(map(str, ranks))} ranks: {told}"
        self.run(name, [*start, str(library.build / "bin" / "conformance"), *words])

    def nodes(self, library: Library, cwd: Path) -> None:
        """Everything else says nothing if the ranks believe that they are on one node."""
        record = cwd / "record.json"
        start = self.hosts.mpiexec(library.name, (2, 2), cwd)
        bench = [str(library.build / "bin" / "penstock-bench"), "block2d", *BENCH]
        self.run(f"{library.name}: two ranks on each node", [*start, *bench, "--json", str(record)], "")
        found = json.loads(record.read_text())["results"][0]["problem"]["ranks_per_node"] if record.exists() else 0
        if found != 2:
            self.failed.append(f"{library.name}: {found} ranks on a node")
            print(f"FAILED  the library sees {found} ranks on a node, not 2")


OURS = [("--plan", f"/{transport}") for transport in ("two_phase", "servers", "independent")]
# On more ranks than cores, MPI-IO over TCP takes a minute or more for each.
BY_MPI_IO = [("--plan", "/mpiio"), *(("--engine", engine) for engine in ("phdf5", "netcdf4", "pnetcdf"))]


def on_one_folder(cluster: Cluster, libraries: Sequence[Library], cwd: Path, short: bool) -> None:
    """All hosts see the same files at once: a failure here is not the file system's."""
    shapes = ((2, 2, 1),) if short else ((2, 2), (3, 1), (1, 1, 1, 1), (4, 1, 2), (4, 4, 4, 4))
    for library in libraries:
        cluster.nodes(library, cwd)
        for ranks in shapes:
            if library.name == "openmpi" or sum(ranks) <= 4:  # more ranks of MPICH spin on the same cores
                for words in OURS[:2] if short else OURS:
                    cluster.conformance("one folder", library, ranks, cwd, *words, *QUICK)
        for words in () if short else BY_MPI_IO if library.name == "openmpi" else BY_MPI_IO[:1]:
            cluster.conformance("one folder", library, (2, 1), cwd, *words, *QUICK)
    on_local_scratch(cluster, libraries[0], cwd)


def on_local_scratch(cluster: Cluster, library: Library, cwd: Path) -> None:
    """Each host's servers write to a file system that no other host sees, and from there to the common folder."""
    scratch = cwd / "scratch"
    scratch.mkdir()
    for number in range(HOSTS):
        mount = ("mount", "-t", "tmpfs", "-o", "size=64m", "none", str(scratch))
        subprocess.run([*cluster.hosts.inside(number), *mount], check=True)
    start = cluster.hosts.mpiexec(library.name, (2, 2, 1), cwd)
    bench = [str(library.build / "bin" / "penstock-bench"), "block3d", *BENCH[:-1], f"hdf5/servers:scratch={scratch}"]
    cluster.run("scratch: on each host, by hdf5/servers", [*start, *bench], r"^write +hdf5/servers\S+ .* verified")
    for number in range(HOSTS):
        look = [*cluster.hosts.inside(number), "ls", "-A", str(scratch)]
        cluster.run(f"scratch: nothing is left on h{number}", look, r"\A\Z")


def on_gluster(cluster: Cluster, library: Library, folder: Path, short: bool) -> None:
    """What one host has written, the others read from mounts of their own."""
    for layout in ("distribute",) if short else ("distribute", "disperse"):
        with hosts.mounted_on_all(cluster.hosts, folder, layout) as volume:
            for words in OURS[:1] if short else OURS + BY_MPI_IO[:1]:
                ranks = (2, 2, 1) if words in OURS else (2, 1)
                cluster.conformance(layout, library, ranks, volume.path, *words, *QUICK)
            freshness(cluster, library, volume.path, 2 if short else 6)
            if layout == "disperse":
                subprocess.run(volume.strike("KILL", 2), shell=True, check=True)
                freshness(cluster, library, volume.path, 2)
                if not volume.revive():
                    raise hosts.ClusterError(f"GlusterFS: a brick does not come back: {volume.last_words()}")
                freshness(cluster, library, volume.path, 2)
            files = volume.path / "files"
            cluster.conformance(layout, library, (2, 1), volume.path, "--write", str(files), "--plan", "/two_phase")
            # On hosts of which some had no part in the write.
            for readers in ((0, 1, 1), (0, 0, 1, 1)) if not short else ((0, 0, 2, 1),):
                cluster.conformance(layout, library, readers, volume.path, "--read", str(files), "--plan", "/two_phase")


def freshness(cluster: Cluster, library: Library, folder: Path, turns: int) -> None:
    """After a commit every host reads what was committed, also one that had read the file before."""
    target, torture = folder / "state.h5", str(library.build / "bin" / "torture")
    for turn in range(turns):
        version = turn % 2 + 1
        ranks = ((2, 1), (0, 0, 2, 1))[version - 1]
        words = [torture, "write", "--plan", "hdf5/two_phase", "--path", str(target), "--version", str(version)]
        start = cluster.hosts.mpiexec(library.name, ranks, folder)
        cluster.run(
            f"{folder.parent.name}: version {version} is written", [*start, *words], ("", "^ended\tok")[version - 1]
        )
        for number, name in enumerate(cluster.hosts.names):
            read = [*cluster.hosts.inside(number), torture, "check", "--path", str(target)]
            cluster.run(f"{folder.parent.name}: and read on {name}", read, ("^old\t", "^new\t")[version - 1])


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs on several hosts, which are namespaces of this machine.")
    parser.add_argument("--build", type=Path, required=True, help="the folder of a build with Open MPI")
    parser.add_argument("--mpich", type=Path, help="the folder of a build with MPICH")
    parser.add_argument("--short", action="store_true", help="less than a minute")
    options = parser.parse_args()
    hosts.enter()
    libraries = [Library("openmpi", options.build.resolve())]
    if options.mpich is not None:
        libraries.append(Library("mpich", options.mpich.resolve()))
    begin = time.monotonic()
    with folders("penstock-cluster-") as folder, hosts.hosts(folder, HOSTS) as made:
        cluster = Cluster(made)
        (folder / "work").mkdir()
        complete = True
        try:
            on_one_folder(cluster, libraries, folder / "work", options.short)
            if why := gluster_volume.missing():
                skip(f"GlusterFS: {why}")
            on_gluster(cluster, libraries[0], folder, options.short)
        except hosts.ClusterError as error:
            cluster.failed.append(str(error))
        except SystemExit as left_out:
            if left_out.code != SKIPPED:
                raise
            complete = False
    print(*(f"FAILED: {name}" for name in cluster.failed), sep="\n", end="\n" if cluster.failed else "")
    good = cluster.passed > 0 and not cluster.failed
    print(
        f"cluster: {'passed' if good else 'FAILED'}: {cluster.passed + len(cluster.failed)} runs on {HOSTS} hosts, "
        f"{time.monotonic() - begin:.0f} s"
    )
    return 1 if not good else 0 if complete else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
