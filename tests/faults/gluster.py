#!/usr/bin/env python3
"""gluster.py: writes checkpoints on a GlusterFS of three bricks, of which one may be missing, while bricks die.

python tests/faults/gluster.py [--short] --program build/bin/torture --preload build/lib/libpenstock_inject.so

The volume is dispersed, two parts of data and one of redundancy, all on this machine and mounted by FUSE.
docs/faults.md says what must hold. The last line is the sum.
"""

import argparse
import os
import re
import sys
import time
from pathlib import Path

from disk import enter_namespace, folders, skip
from gluster_volume import missing, volume
from methods import EXTENSIONS, SMALL, STREAMS, Method, own
from record import Outcome, Record, table
from torture import Settings, Torture


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
    if why := missing():
        skip(why)
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
