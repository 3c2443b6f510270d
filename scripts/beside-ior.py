"""beside-ior.py: runs the same patterns with an external IOR and with `penstock bench ior`, in turn; prints medians."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent
PATTERNS = (["-a", "POSIX", "-F"], ["-a", "POSIX"], ["-a", "MPIIO"], ["-a", "MPIIO", "-c"], ["-a", "HDF5"])
MANY_RANKS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
}
Seconds = dict[str, list[float]]  # by operation


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ior", type=Path, help="path of IOR, built with the same MPI as ours")
    parser.add_argument("--np", type=int, default=4)
    parser.add_argument("--words", default="-b 64m -t 1m -e", help="IOR options, for both (%(default)s)")
    parser.add_argument("--turns", type=int, default=6, help="two runs of IOR and two of ours in each (%(default)s)")
    parser.add_argument("--dir", type=Path, default=Path(), help="folder for the test files (the current one)")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="beside-ior-", dir=asked.dir) as name:
        for pattern in PATTERNS:
            theirs: Seconds = {"write": [], "read": []}
            ours: Seconds = {"write": [], "read": []}
            words = [*pattern, *asked.words.split()]
            for turn in range(asked.turns):
                for run, seconds in ((run_ior, theirs), (run_ours, ours))[:: 1 if turn % 2 == 0 else -1]:
                    run(asked, words, Path(name), seconds)
            for operation in ("write", "read"):
                ratio = statistics.median(ours[operation]) / statistics.median(theirs[operation])
                both = f"IOR {spread(theirs[operation])}  ours {spread(ours[operation])}"
                print(f"{' '.join(pattern):<12} {operation:<6} {both}  ours/IOR {ratio:.2f}", flush=True)


def spread(seconds: list[float]) -> str:
    low, median, high = (1000 * one for one in (min(seconds), statistics.median(seconds), max(seconds)))
    return f"{median:7.1f} ms [{low:.1f}, {high:.1f}]"


# The first repetition of a run makes the memory and the page cache warm; ours has a warm-up of its own.
def run_ior(asked: argparse.Namespace, words: list[str], folder: Path, seconds: Seconds) -> None:
    summary = folder / "ior.json"
    command = ["mpiexec", "-n", str(asked.np), str(asked.ior.resolve()), *words, "-i", "3", "-o", str(folder / "file")]
    call([*command, "-O", "summaryFormat=JSON", "-O", f"summaryFile={summary}"], MANY_RANKS)
    results = json.loads(summary.read_text())["tests"][0]["Results"]
    for operation in seconds:
        seconds[operation] += [one["totalTime"] for one in results if one["access"] == operation][1:]


def run_ours(asked: argparse.Namespace, words: list[str], folder: Path, seconds: Seconds) -> None:
    record = folder / "ours.json"
    command = [str(TREE / "build/bin/penstock"), "bench", "ior", "--np", str(asked.np), *words, "-i", "2"]
    call([*command, "--dir", str(folder), "--json", str(record)], {})
    for line in json.loads(record.read_text())["results"]:
        seconds[line["operation"]] += line["seconds"]


def call(command: list[str], more: dict[str, str]) -> None:
    done = subprocess.run(command, env=os.environ | more, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"beside-ior: {' '.join(command)}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


if __name__ == "__main__":
    main()
