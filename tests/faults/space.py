#!/usr/bin/env python3
"""space.py: writes checkpoints over others on disks and under quotas that have less and less room.

python tests/faults/space.py [--short] --program build/bin/torture

It needs root, loop mounts, and mkfs of ext4, XFS or btrfs. docs/faults.md says what must hold.
The last line is the sum.
"""

import argparse
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from disk import KINDS, SKIPPED, Disk, each_disk, enter_namespace
from methods import BY_ENGINES, EXTENSIONS, MPIIO, PLACEMENTS, SMALL, STREAMS, Method, own, plan
from record import Record, table
from torture import Settings, Torture

LIMIT_SECONDS = 60
WAYS = {
    "independent": ("", f"io=direct,{SMALL}"),
    "two_phase": ("", f"writers=2,{SMALL}", "io=mmap"),
    "servers": ("",),
}


def full() -> Iterator[Method]:
    for name in EXTENSIONS:
        yield from own(name, WAYS, PLACEMENTS[:3])
    yield from STREAMS
    yield from MPIIO
    yield from BY_ENGINES


def short() -> Iterator[Method]:
    """Each format, each placement, each transport at least once."""
    ways = ("independent", "two_phase", "servers")
    for i, name in enumerate(EXTENSIONS):
        for j, placement in enumerate(PLACEMENTS[:3]):
            yield Method(plan(f"{name}/{ways[(i + j) % 3]}", placement), EXTENSIONS[name])
    yield STREAMS[1]
    yield BY_ENGINES[0]


class Squeeze(Torture):
    """Runs one method at all its levels."""

    def levels(self, method: Method, ranks: int, disk: Disk, count: int, scale: int) -> list[str]:
        work, _ = self._places()
        fault = "edquot" if KINDS[disk.kind].quota else "enospc"
        words = ["space", "--plan", method.plan, "--extension", method.extension, "--work", str(work)]
        words += ["--fault", fault, "--limit", disk.limit(), "--levels", str(count), "--scale", str(scale)]
        command = [*self.settings.launcher, "-n", str(ranks)] if ranks else []
        unclear: list[str] = []
        subprocess.run(f"{disk.limit()} none", shell=True, check=True)
        self.follow(
            method, max(ranks, 1), [*command, self.settings.program, *words], LIMIT_SECONDS, method.library, unclear
        )
        shutil.rmtree(work, ignore_errors=True)
        return [f"unclear: {method.plan} on {ranks}: {message}" for message in unclear]


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes on disks that are nearly full.")
    parser.add_argument("--program", required=True, help="the test program 'torture'")
    parser.add_argument("--launcher", default="mpiexec.openmpi", help="what starts ranks; '' without MPI")
    parser.add_argument("--kinds", default="", help="of file systems")
    parser.add_argument("--only", default="", help="methods whose plan has this in it")
    parser.add_argument("--ranks", default="1,3", help="numbers of ranks, with commas between them")
    parser.add_argument("--short", action="store_true", help="less than a minute")
    options = parser.parse_args()
    enter_namespace()
    program, launcher = str(Path(options.program).resolve()), options.launcher.split()
    tried, begin = [0], time.monotonic()

    def use(disk: Disk, pages: Path) -> int:
        record, unclear = Record(), []
        settings = Settings(program, "", launcher, disk.room / "work", pages)
        settings.work.mkdir()
        squeeze = Squeeze(settings, record)
        ranks = [2] if options.short else [int(word) for word in options.ranks.split(",")]
        for method in (short if options.short else full)():
            for number in (
                (ranks if launcher else [0]) if options.only in method.plan and (launcher or not method.library) else ()
            ):
                unclear += squeeze.levels(method, number, disk, 3 if options.short else 7, 4)
        kept = [tally for (_, apart), tally in record.tallies.items() if not apart]
        print(f"\n{disk.kind}, apart: inside other libraries")
        print("\n".join(table(record, True)))
        print(f"\n{disk.kind}")
        print("\n".join([*table(record, False), *unclear]), flush=True)
        tried[0] += sum(tally.faults for tally in kept)
        return 1 if unclear or any(tally.defects for tally in kept) else 0

    answer = each_disk(
        (options.kinds or ("ext4,btrfs-quota" if options.short else "ext4,xfs,btrfs,btrfs-quota")).split(","),
        "penstock-space",
        use,
    )
    if answer == SKIPPED:
        return answer
    passed = answer == 0 and tried[0] > 0
    print(f"space: {'passed' if passed else 'FAILED'}: {tried[0]} writes, {time.monotonic() - begin:.0f} s")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
