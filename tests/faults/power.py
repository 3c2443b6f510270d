#!/usr/bin/env python3
"""power.py: cuts the power of a file system in a write, and looks at what is there when it is mounted again.

python tests/faults/power.py [--short] --program build/bin/torture --preload build/lib/libpenstock_inject.so

It needs root, loop mounts, and mkfs of ext4 or XFS. docs/faults.md says what must hold. The last line is the sum.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from disk import SKIPPED, Disk, each_disk, enter_namespace
from methods import BY_ENGINES, EXTENSIONS, MPIIO, SMALL, STREAMS, Method, each_io, own
from record import POWER_KILLS, Record, table
from torture import Settings, Task, Torture

POWER = ("power", *POWER_KILLS)
PLACEMENTS = ("", "placement=per_rank", "placement=parts,parts=2")
WAYS = {"independent": each_io("buffered", "direct"), "two_phase": each_io("buffered", "mmap"), "servers": ("",)}
JOB_WAYS = {"independent": (SMALL,), "two_phase": (f"writers=2,{SMALL}",), "servers": ("",)}


def full(torture: Torture, most: int) -> Iterator[Task]:
    """At MOST calls of each rank for each way to fail, evenly spread; kills where libraries write."""
    for name in EXTENSIONS:
        for method in own(name, WAYS, PLACEMENTS):
            # A store to a mapping of a disk that is gone is a signal.
            yield torture.walk_faults, method, POWER_KILLS if "io=mmap" in method.plan else POWER, most
        for method in own(name, JOB_WAYS, PLACEMENTS):
            yield torture.errors, method, 2, most, False, POWER[:1]
            yield torture.kills, method, 2, 4, POWER_KILLS
    for method in STREAMS:
        yield torture.walk_faults, method, POWER, most
        yield torture.errors, method, 2, most, False, POWER[:1]
    for method in [*MPIIO, *BY_ENGINES]:
        yield torture.kills, method, 2, 8, POWER_KILLS


def short(torture: Torture, most: int) -> Iterator[Task]:
    """Each format, each placement, each transport at least once; by one of them every call."""
    yield torture.walk_faults, Method(f"hdf5/independent:{SMALL}", ".h5"), POWER, 0
    ways = ("independent", "two_phase", "servers")
    for i, name in enumerate(EXTENSIONS):
        for j, placement in enumerate(PLACEMENTS):
            method = own(name, {ways[(i + j) % 3]: (SMALL if (i + j) % 3 < 2 else "",)}, (placement,))[0]
            yield torture.walk_faults, method, POWER, most
    yield torture.walk_faults, STREAMS[1], POWER, most
    yield torture.errors, Method(f"hdf5/two_phase:writers=2,{SMALL}", ".h5"), 2, most, False, POWER[:1]
    yield torture.kills, Method(f"hdf5/two_phase:writers=2,{SMALL}", ".h5"), 2, 2, POWER_KILLS


def main() -> int:
    parser = argparse.ArgumentParser(description="Cuts the power at the file-system calls of a write.")
    parser.add_argument("--program", required=True, help="the test program 'torture'")
    parser.add_argument("--preload", required=True, help="the libraries to preload, with colons between them")
    parser.add_argument("--launcher", default="mpiexec.openmpi", help="what starts ranks; '' without MPI")
    parser.add_argument("--kinds", default="ext4,xfs,ext4-writeback", help="of file systems")
    parser.add_argument("--only", default="", help="methods whose plan has this in it")
    parser.add_argument("--most", type=int, default=0, help="calls that one fault of one rank meets")
    parser.add_argument("--short", action="store_true", help="less than a minute")
    options = parser.parse_args()
    enter_namespace()
    program = str(Path(options.program).resolve())
    preload = ":".join(str(Path(library).resolve()) for library in options.preload.split(":"))
    points, begin = [0, 0], time.monotonic()

    def use(disk: Disk, pages: Path) -> int:
        record = Record()
        settings = Settings(program, preload, options.launcher.split(), disk.room / "work", pages, disk.remount())
        settings.work.mkdir()
        torture = Torture(settings, record)
        for task in (short if options.short else full)(torture, options.most or (5 if options.short else 12)):
            if options.only in task[1].plan and (settings.launcher or task[0] == torture.walk_faults):
                task[0](*task[1:])
                subprocess.run(disk.remount(), shell=True, check=True)  # a job that hung has left it without power
        print(f"\n{disk.kind}")
        print("\n".join(table(record, False)), flush=True)
        kept = [tally for (_, apart), tally in record.tallies.items() if not apart]
        points[0] += sum(tally.kills for tally in kept)
        points[1] += sum(tally.faults for tally in kept)
        return 1 if any(tally.defects for tally in kept) else 0

    answer = each_disk(options.kinds.split(",")[: 2 if options.short else None], "penstock-power", use)
    if answer == SKIPPED:
        return answer
    passed = answer == 0 and (sum(points) >= (100 if options.short else 500) or bool(options.only))
    print(
        f"power: {'passed' if passed else 'FAILED'}: {points[0]} cuts with a kill, {points[1]} without, "
        f"{time.monotonic() - begin:.0f} s"
    )
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
