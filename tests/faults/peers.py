#!/usr/bin/env python3
"""peers.py: Penstock, its engines and plain libraries under the same faults; prints a table for docs/faults.md.

python tests/faults/peers.py --program build/bin/torture --plain build/bin/plain \\
  --preload build/lib/libpenstock_inject.so

Two ranks write 12 MiB over a checkpoint of 1 MiB. It needs root and loop mounts; GlusterFS for one column.
"""

import argparse
import re
import shutil
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from disk import SKIPPED, Disk, enter_namespace, folders
from gluster_volume import volume
from processes import environment, hear, start

RANKS = 2
LIMIT_SECONDS = 20
OLD_SCALE, NEW_SCALE = 10, 120
COUNTS = (1 << 17, 12 << 17)
ROOM = 5 << 20
COLUMNS = ("no fault", "disk full", "quota full", "EIO on write", "EIO on sync", "2 of 3 bricks killed")
# The rank and the call that the fault meets, a run for each.
STRIKES = {"eio_write": ((0, 1), (0, 2), (1, 1)), "eio_sync": ((0, 1), (1, 1)), "command": ((0, 6),)}
RANKING = ("crash", "hang", "false success", "some ranks", "damaged", "error", "ok", "-")


@dataclass(frozen=True)
class Writer:
    """PLAN of ours, or the LIBRARY of a plain program; by OMPIO or ROMIO where one of them is called.

    TAKEN: its calls of MPI-IO are taken over, as by `penstock run`.
    """

    name: str
    extension: str
    plan: str = ""
    library: str = ""
    romio: bool = False
    taken: bool = False


@dataclass(frozen=True)
class Settings:
    """What the command line says, and the two folders in memory."""

    program: str
    plain: str
    preload: str
    launcher: list[str]
    pages: Path


def writers() -> list[Writer]:
    own = {
        "hdf5/two_phase": ".h5",
        "hdf5/independent:placement=per_rank": ".h5",
        "netcdf/two_phase": ".nc",
        "raw/servers": ".raw",
    }
    list_of = [Writer(f"Penstock `{plan}`", extension, plan) for plan, extension in own.items()]
    libraries = {"raw/mpiio": ".raw", "phdf5": ".h5", "netcdf4": ".nc4", "pnetcdf": ".nc"}
    plain = {"mpiio": "MPI-IO", "hdf5": "parallel HDF5", "netcdf4": "netCDF-4", "pnetcdf": "PnetCDF"}
    for romio in (False, True):
        by = "ROMIO" if romio else "OMPIO"
        list_of += [Writer(f"Penstock `{plan}`, {by}", e, plan, romio=romio) for plan, e in libraries.items()]
    for romio in (False, True):
        by = "ROMIO" if romio else "OMPIO"
        list_of += [Writer(f"plain {name}, {by}", ".x", library=lib, romio=romio) for lib, name in plain.items()]
    list_of += [Writer(f"plain {name}, `penstock run`", ".x", library=lib, taken=True) for lib, name in plain.items()]
    return list_of


class Run:
    """One writer at one place: an old checkpoint, a fault, a new one."""

    def __init__(self, settings: Settings, writer: Writer, folder: Path) -> None:
        self.settings = settings
        self.writer = writer
        self.folder = folder
        self.target = folder / f"state{writer.extension}"
        self.pages = settings.pages / "peers"

    def _words(self, version: int) -> list[str]:
        if self.writer.plan:
            scale = (OLD_SCALE, NEW_SCALE)[version - 1]
            words = ["--plan", self.writer.plan, "--scale", str(scale), "--path", str(self.target)]
            return [self.settings.program, "write", *words, "--version", str(version)]
        count = COUNTS[version - 1]
        return [self.settings.plain, "write", self.writer.library, str(self.target), str(count), str(version)]

    def _start(self, words: list[str], ranks: int) -> tuple[int | None, str]:
        settings = environment()
        if self.writer.romio:
            settings["OMPI_MCA_io"] = "^ompio"
        launch = [*self.settings.launcher, "-n", str(ranks)]
        libraries = self.settings.preload
        if self.writer.taken:
            libraries += f":{Path(self.settings.preload).resolve().parent / 'libpenstock_mpiio.so'}"
        preload = [f"LD_PRELOAD={libraries}", f"PENSTOCK_FAULT_PAGES={self.pages}"]
        process = start([*launch, "env", *preload, *words], self.settings.pages, settings)
        return hear(process, LIMIT_SECONDS)

    def _torture(self, *words: str) -> str:
        done = subprocess.run([self.settings.program, *words], capture_output=True, text=True, timeout=60, check=False)
        return done.stdout

    def order(self, strike: str, shell: str = "") -> None:
        words = ["--pages", str(self.pages), "--size", str(RANKS), "--folder", str(self.folder)]
        self._torture("order", *words, "--strike", strike, "--command", shell)

    def struck(self, rank: int) -> bool:
        said = self._torture("check", "--path", "/nowhere", "--pages", str(self.pages), "--rank", str(rank))
        return said.split("\t")[1] != "0"

    def prepare(self) -> bool:
        self.folder.mkdir()
        self.clear()
        code, said = self._start(self._words(1), RANKS)
        return code == 0 and "refused" not in said

    def clear(self) -> None:
        for page in self.pages.parent.glob(f"{self.pages.name}.*"):
            page.unlink()

    def write(self) -> tuple[int | None, list[str]]:
        """The exit status, None for a hang, and what each rank was told: "ok" or an error."""
        code, said = self._start(self._words(2), RANKS)
        if not self.writer.plan:
            return code, [told for _, told in sorted(re.findall(r"^told\t(\d+)\t(.*)$", said, re.MULTILINE))]
        ended = re.search(r"^ended\t(.*)\t(alike|differ)\t(.*)$", said, re.MULTILINE)
        if ended is None:
            return code, []
        told = ended[1] if ended[1] == "ok" else f"{ended[1]}: {ended[3]}"
        return code, [told] * RANKS if ended[2] == "alike" else [told, "differs"]

    def state(self) -> str:
        """old, new, damaged or gone."""
        self.clear()
        if self.writer.plan:
            said = self._torture("check", "--path", str(self.target)).split("\t")[0]
            return {"lost": "damaged"}.get(said, said)
        for version, word in ((2, "new"), (1, "old")):
            count, name = str(COUNTS[version - 1]), self.writer.library
            _, said = self._start([self.settings.plain, "check", name, str(self.target), count, str(version)], 1)
            if said.startswith("good"):
                size = self.target.stat().st_size
                if word == "new" or name != "mpiio" or size == COUNTS[0] * 8:
                    return word
        return "damaged"


def judge(code: int | None, told: list[str], state: str) -> tuple[str, str]:
    """A word of RANKING, and a cell."""
    file = {"old": "old", "new": "new", "damaged": "**damaged**"}[state]
    if code is None:
        return "hang", f"**hang**; {file}"
    if len(told) < RANKS:
        return "crash", f"**crash**; {file}"
    failed = [word for word in told if word != "ok"]
    if not failed:
        return ("ok", "success") if state == "new" else ("false success", f"**success**; {file}")
    if len(failed) < RANKS:
        return "some ranks", f"**error on {len(failed)} of {RANKS} ranks**; {file}"
    return ("damaged" if state == "damaged" else "error"), f"error; {file}"


class Table:
    """All cells; prints what it meets on standard error."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def cell(self, writer: Writer, column: str) -> str:
        attempts = [self._limited, self._struck][column not in ("no fault", "disk full", "quota full")](writer, column)
        seen = [one for one in attempts if one is not None]
        if not seen:
            return "-"
        return min(seen, key=lambda one: RANKING.index(one[0]))[1]

    def _note(self, writer: Writer, column: str, told: list[str], cell: tuple[str, str]) -> tuple[str, str]:
        print(f"{writer.name} | {column} | {cell[1]} | {told[:1]}", file=sys.stderr, flush=True)
        return cell

    def _limited(self, writer: Writer, column: str) -> list[tuple[str, str] | None]:
        with ExitStack() as stack:
            place = stack.enter_context(folders("penstock-peers-"))
            disk = Disk("btrfs-quota" if column == "quota full" else "ext4", place)
            if disk.make():
                return [None]
            stack.callback(disk.remove)
            run = Run(self.settings, writer, disk.room / "run")
            if not run.prepare():
                return [None]
            if column != "no fault":
                subprocess.run(f"{disk.limit()} {ROOM}", shell=True, check=True)
            code, told = run.write()
            if column != "no fault":
                subprocess.run(f"{disk.limit()} none", shell=True, check=True)
            return [self._note(writer, column, told, judge(code, told, run.state()))]

    def _struck(self, writer: Writer, column: str) -> list[tuple[str, str] | None]:
        fault = {"EIO on write": "eio_write", "EIO on sync": "eio_sync"}.get(column, "command")
        return [self._strike(writer, column, fault, rank, at) for rank, at in STRIKES[fault]]

    def _strike(self, writer: Writer, column: str, fault: str, rank: int, at: int) -> tuple[str, str] | None:
        with ExitStack() as stack:
            place = stack.enter_context(folders("penstock-peers-"))
            bricks = None
            if fault == "command":
                if shutil.which("glusterfsd") is None:
                    return None
                bricks = stack.enter_context(volume(place, "volume"))
                path, shell = bricks.path, bricks.strike("KILL", 1, 2)
            else:
                disk = Disk("ext4", place)
                if disk.make():
                    return None
                stack.callback(disk.remove)
                path, shell = disk.room, ""
            run = Run(self.settings, writer, path / "run")
            if not run.prepare():
                return None
            run.order(f"{rank},{fault},{at}", shell)
            code, told = run.write()
            if not run.struck(rank):
                return None
            if bricks is not None:
                bricks.revive()
            return self._note(writer, column, told, judge(code, told, run.state()))


def main() -> int:
    parser = argparse.ArgumentParser(description="Prints a table of what writers do under the same faults.")
    parser.add_argument("--program", required=True, help="the test program 'torture'")
    parser.add_argument("--plain", required=True, help="the test program 'plain'")
    parser.add_argument("--preload", required=True, help="the library to preload")
    parser.add_argument("--launcher", default="mpiexec.openmpi")
    parser.add_argument("--only", default="", help="writers that have this in their name")
    parser.add_argument("--columns", default="", help="columns that have this in their heading")
    parser.add_argument("--strict", action="store_true", help="a hang of Penstock's is a failure too")
    options = parser.parse_args()
    enter_namespace()
    program, plain, preload = (str(Path(name).resolve()) for name in (options.program, options.plain, options.preload))
    with folders("penstock-peers-pages-") as pages:
        table = Table(Settings(program, plain, preload, options.launcher.split(), pages))
        columns = [column for column in COLUMNS if options.columns in column]
        rows = [f"| | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
        for writer in writers():
            if options.only in writer.name:
                rows.append(f"| {writer.name} | {' | '.join(table.cell(writer, column) for column in columns)} |")
        print("\n".join(rows))
    bad = ("**success**", "damaged", *(("hang",) if options.strict else ()))
    wrong = [row for row in rows if "Penstock" in row and any(word in row for word in bad)]
    print(f"peers: {len(wrong)} of {len(rows) - 2} rows have what Penstock should not do: {', '.join(bad)}")
    return 1 if wrong else 0 if any("error" in row for row in rows) else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
