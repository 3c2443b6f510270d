"""trace-overhead.py: what PENSTOCK_TRACE costs: the bench with and without it, in turn, and ratios of pairs."""

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}
METHODS = "hdf5/two_phase,raw/independent,hdf5/mpiio,phdf5"
Seconds = dict[tuple[str, str], list[float]]  # by method and operation


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--np", type=int, default=4)
    parser.add_argument("--total", default="64MiB")
    parser.add_argument("--methods", default=METHODS)
    parser.add_argument("--pairs", type=int, default=10, help="runs with and without, in random order (%(default)s)")
    parser.add_argument("--repetitions", type=int, default=4, help="within a run (%(default)s)")
    parser.add_argument("--dir", type=Path, default=Path(), help="of the files (here)")
    parser.add_argument(
        "--trace", type=Path, help="where the trace goes (beside the files); none: neither run is traced"
    )
    asked = parser.parse_args()
    found: dict[bool, Seconds] = {True: {}, False: {}}
    with tempfile.TemporaryDirectory(dir=asked.dir) as folder:
        for _ in range(asked.pairs):
            for traced in random.sample([True, False], 2):
                for key, seconds in run(asked, Path(folder), traced).items():
                    found[traced].setdefault(key, []).append(seconds)
    print(f"{'method':32} {'':5}  {'median without':>14}  traced / not, median of pairs (quartiles)")
    for key, without in found[False].items():
        ratios = [a / b for a, b in zip(found[True][key], without, strict=True)]
        low, middle, high = statistics.quantiles(ratios, n=4)
        print(f"{key[0]:32} {key[1]:5}  {statistics.median(without):12.4f} s  {middle:.3f} ({low:.3f} to {high:.3f})")


def run(asked: argparse.Namespace, folder: Path, traced: bool) -> dict[tuple[str, str], float]:
    """Medians of one run of the bench."""
    trace = asked.trace or folder / "trace"
    environment = os.environ | ENVIRONMENT
    if traced and trace != Path("none"):
        environment["PENSTOCK_TRACE"] = str(trace)
    command = ["mpiexec", "-n", str(asked.np), str(TREE / "build/bin/penstock-bench"), "block2d", "--dir", str(folder)]
    command += ["--total", asked.total, "--methods", asked.methods, "--repetitions", str(asked.repetitions)]
    command += ["--json", str(folder / "out.json")]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(trace, ignore_errors=True)
    results = json.loads((folder / "out.json").read_text())["results"]
    return {(one["method"], one["operation"]): one["median"] for one in results}


if __name__ == "__main__":
    main()
