#!/usr/bin/env python3
"""curve.py: how fast files are written and read on 1, 2 and 4 hosts whose networks are slow, by several methods.

python tests/cluster/curve.py --build build [--workload block2d] [--rate 400mbit] [--ranks 4] [--json FILE]

Each host of ranks mounts GlusterFS over a network that carries RATE in each direction. Every file is verified.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import hosts  # isort: skip  # it leads to tests/faults
import gluster_volume
from disk import folders, skip

NODES = (1, 2, 4)
REPETITIONS = 6


def methods(nodes: int) -> dict[str, str]:
    """By what they are."""
    return {
        "two_phase, four writers on a node": "hdf5/two_phase",
        "two_phase, each with one range of the file": "hdf5/two_phase:domains=ranges",
        "two_phase, one writer on a node": f"hdf5/two_phase:writers={nodes}",
        "two_phase, one writer in all": "hdf5/gather",
        "a file for each rank": "raw/per_process",
    }


def measure(made: hosts.Hosts, options: argparse.Namespace, nodes: int, cwd: Path) -> dict[str, Any]:
    """The record of penstock-bench."""
    asked = list(dict.fromkeys(methods(nodes).values()))
    case = (options.workload, "--per-rank", options.per_rank, "--repetitions", str(REPETITIONS), "--dir", ".")
    program = [str(options.build.resolve() / "bin" / "penstock-bench"), *case, "--methods", ",".join(asked)]
    start = made.mpiexec("openmpi", (options.ranks,) * nodes, cwd)
    done = subprocess.run([*start, *program, "--json", "record.json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{nodes} nodes: {done.stdout}{done.stderr}")
    record: dict[str, Any] = json.loads((cwd / "record.json").read_text())
    return record


def show(records: dict[int, dict[str, Any]]) -> None:
    for operation in ("write", "read"):
        print(f"\n{operation}, MiB/s | " + " | ".join(f"{nodes} node{'s' * (nodes > 1)}" for nodes in records))
        for name in methods(1):
            rates = []
            for nodes, record in records.items():
                lines = {line["method"]: line for line in record["results"] if line["operation"] == operation}
                line = lines[methods(nodes)[name]]
                if not line["verified"]:
                    sys.exit(f"{name} on {nodes} nodes is not verified: {line['error']}")
                rates.append(f"{line['bytes'] / statistics.median(line['seconds']) / (1 << 20):.0f}")
            print(f"{name} | " + " | ".join(rates))


def main() -> int:
    parser = argparse.ArgumentParser(description="Measures methods on 1, 2 and 4 hosts with slow networks.")
    parser.add_argument("--build", type=Path, required=True, help="the folder of a build with Open MPI")
    parser.add_argument("--workload", default="block2d", help="of penstock bench")
    parser.add_argument("--rate", default="400mbit", help="of each host's network, as tc takes it")
    parser.add_argument("--ranks", type=int, default=4, help="on each host")
    parser.add_argument("--per-rank", default="8MiB", help="bytes that each rank writes")
    parser.add_argument("--json", type=Path, help="keep the records of the bench here, by the number of nodes")
    options = parser.parse_args()
    hosts.enter()
    if why := gluster_volume.missing():
        skip(why)
    with (
        folders("penstock-cluster-") as folder,
        hosts.hosts(folder, max(NODES)) as made,
        hosts.mounted_on_all(made, folder, "distribute") as volume,
    ):
        made.limit(options.rate)
        records = {}
        for nodes in NODES:
            print(f"measuring on {nodes} of {max(NODES)} hosts", flush=True)
            records[nodes] = measure(made, options, nodes, volume.path)
    show(records)
    if options.json is not None:
        options.json.write_text(json.dumps(records))
    return 0


if __name__ == "__main__":
    sys.exit(main())
