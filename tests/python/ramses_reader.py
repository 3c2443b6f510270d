"""ramses_reader.py: an independent reader of RAMSES outputs, as plain as can be, and a writer of made-up ones."""

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np


class Records:
    """The records of a Fortran file, all in memory."""

    def __init__(self, path: Path, order: str = "<", marker: str = "i") -> None:
        self.data, self.at, self.order, self.marker = path.read_bytes(), 0, order, marker

    def raw(self) -> bytes:
        kind = self.order + self.marker
        size = struct.calcsize(kind)
        (length,) = struct.unpack_from(kind, self.data, self.at)
        out = self.data[self.at + size : self.at + size + length]
        assert struct.unpack_from(kind, self.data, self.at + size + length) == (length,)
        self.at += 2 * size + length
        return out

    def numbers(self, kind: str) -> np.ndarray:
        return np.frombuffer(self.raw(), self.order + kind).astype(kind)

    def skip(self, n: int) -> None:
        for _ in range(n):
            self.raw()


@dataclass
class Level:
    """The grids of a level, in the order of the processes."""

    tables: dict[str, list[np.ndarray]] = field(default_factory=dict)

    def add(self, name: str, values: np.ndarray) -> None:
        self.tables.setdefault(name, []).append(values)

    def table(self, name: str) -> np.ndarray:
        return np.concatenate(self.tables[name])


def read(
    folder: Path, number: int, variables: list[str], order: str = "<", real: str = "f8", marker: str = "i"
) -> list[Level]:
    """The levels of an output; without VARIABLES there need be no `hydro` files."""
    levels: list[Level] = []
    processes = int(Records(folder / f"amr_{number:05}.out00001", order, marker).numbers("i4")[0])
    for process in range(1, processes + 1):
        amr = Records(folder / f"amr_{number:05}.out{process:05}", order, marker)
        hydro = Records(folder / f"{'hydro' if variables else 'amr'}_{number:05}.out{process:05}", order, marker)
        amr.skip(1)
        ndim = int(amr.numbers("i4")[0])
        amr.skip(1)
        nlevels = int(amr.numbers("i4")[0])
        amr.skip(1)
        nboundary = int(amr.numbers("i4")[0])
        amr.skip(15)
        counts = amr.numbers("i4").reshape(nlevels, processes)
        amr.skip(1)
        if nboundary:
            amr.skip(2)
            counts = np.concatenate([counts, amr.numbers("i4").reshape(nlevels, nboundary)], axis=1)
        amr.skip(1)
        amr.skip(5 if amr.raw().strip() == b"bisection" else 1)
        amr.skip(3)
        hydro.skip(6)
        while len(levels) < nlevels:
            levels.append(Level())
        shape = (-1, *([2] * ndim))
        for level in range(nlevels):
            for domain in range(processes + nboundary):
                hydro.skip(2)
                if counts[level, domain] == 0:
                    continue
                amr.skip(3)
                position = np.stack([amr.numbers(real) for _ in range(ndim)], axis=1)
                amr.skip(1 + 2 * ndim)
                son = np.stack([amr.numbers("i4") for _ in range(2**ndim)], axis=1)
                cpu_map = np.stack([amr.numbers("i4") for _ in range(2**ndim)], axis=1)
                amr.skip(2**ndim)
                cells = [[hydro.numbers(real) for _ in variables] for _ in range(2**ndim)]
                if domain != process - 1:
                    continue
                own = levels[level]
                own.add("position", position)
                own.add("refined", (son > 0).astype("i1").reshape(shape))
                own.add("cpu_map", cpu_map.reshape(shape))
                own.add("domain", np.full(len(position), process, "i4"))
                for v, name in enumerate(variables):
                    own.add(name, np.stack([cell[v] for cell in cells], axis=1).reshape(shape))
    return levels


@dataclass
class MadeUp:
    """An output that no simulation made: numbers count up. Level l has `grids[l]` grids on most processes, l ghost
    copies of the next one's, and one grid of each boundary."""

    folder: Path
    processes: int = 3
    ndim: int = 2
    grids: tuple[int, ...] = (1, 2, 5)
    variables: int = 4
    boundaries: int = 0
    order: str = "<"
    real: str = "f8"
    number: int = 7
    descriptor: bool = False
    particles: int | None = None
    gravity: bool = False
    radiation: int = 0
    hydro: bool = True
    old_descriptor: bool = False
    key_bytes: int = 8
    ordering: str = "hilbert"
    marker: str = "i"
    letters: str = ""  # types in the descriptor of particles; without it there is none
    coarse: tuple[int, int, int] = (1, 1, 1)
    first_grids: tuple[tuple[float, ...], ...] = ()  # where own grids of level 1 lie; without it numbers count up
    time: float = 2 / 3
    counter: int = 0

    def write(self) -> None:
        self.folder.mkdir(parents=True)
        info = [
            f"ncpu        = {self.processes:10}",
            f"ndim        = {self.ndim:10}",
            "",
            "boxlen      =  0.200000000000000E+01",
            f"time        =  {self.time:.14E}",
            "unit_l      =  0.300000000000000E+22",
            "unit_d      =  0.200000000000000E-23",
            "unit_t      =  0.500000000000000E+15",
            "",
            f"ordering type={self.ordering}",
        ]
        (self.folder / f"info_{self.number:05}.txt").write_text("\n".join(info) + "\n")
        if self.old_descriptor:
            lines = [f"nvar        ={self.variables:11}"]
            lines += [f"variable #{v + 1:2}: made_up_{v}" for v in range(self.variables)]
            (self.folder / "hydro_file_descriptor.txt").write_text("\n".join(lines) + "\n")
        if self.descriptor:
            lines = ["# version:  1", "# ivar, variable_name, variable_type"]
            lines += [f" {v + 1}, made_up_{v}, d" for v in range(self.variables)]
            (self.folder / "hydro_file_descriptor.txt").write_text("\n".join(lines) + "\n")
        if self.letters:
            lines = ["# version:  1", "# ivar, variable_name, variable_type"]
            lines += [f" {v + 1}, field_{v}, {letter}" for v, letter in enumerate(self.letters)]
            (self.folder / "part_file_descriptor.txt").write_text("\n".join(lines) + "\n")
        for process in range(1, self.processes + 1):
            self.write_amr(process)
            if self.hydro:
                self.write_cells("hydro", process, self.variables)
            if self.radiation:
                self.write_cells("rt", process, self.radiation)
            if self.gravity:
                self.write_cells("grav", process, self.ndim + 1)
            if self.particles is not None:
                self.write_particles(process)

    def path(self, kind: str, process: int) -> Path:
        return self.folder / f"{kind}_{self.number:05}.out{process:05}"

    def count(self, level: int, domain: int, process: int) -> int:
        if domain >= self.processes:
            return 1
        if domain == process - 1:
            return self.grids[level] * (0 if (process + level) % 4 == 3 else 1)
        return level if domain == process % self.processes else 0

    def numbers(self, n: int, kind: str) -> np.ndarray:
        self.counter += n
        values = np.arange(self.counter - n, self.counter)
        return (values / 64 if kind.startswith("f") else values % 5 * (values % 3)).astype(self.order + kind)

    def records(self, path: Path) -> tuple[Callable[..., None], Callable[[], None]]:
        out: list[bytes] = []

        def add(values: Any, kind: str = "i4") -> None:
            data = values if isinstance(values, bytes) else np.asarray(values).astype(self.order + kind).tobytes()
            mark = struct.pack(self.order + self.marker, len(data))
            out.append(mark + data + mark)

        def done() -> None:
            path.write_bytes(b"".join(out))

        return add, done

    def write_amr(self, process: int) -> None:
        add, done = self.records(self.path("amr", process))
        levels = len(self.grids)
        for values in (self.processes, self.ndim, self.coarse, levels, 1000, self.boundaries, 10):
            add(values)
        add(2.0, self.real)
        add([1, 1, 1])
        add([0.5], self.real)
        add([1.0], self.real)
        add(self.time, self.real)
        for n in (levels, levels, 1, 3, 7, 5, 1):
            add(np.zeros(n), self.real)
        for n in (1, 1):
            add(np.zeros(n * self.processes * levels))
        add([[self.count(lv, d, process) for d in range(self.processes)] for lv in range(levels)])
        add(np.zeros(10 * levels))
        for value in (0, 0, 1) if self.boundaries else ():
            add(np.full(self.boundaries * levels, value))
        add(np.zeros(5))
        add(self.ordering.ljust(128).encode())
        for _ in range(5 if self.ordering == "bisection" else 1):
            add(bytes((self.processes + 1) * self.key_bytes))
        for values in (1, 1, 1):
            add(values)
        for level in range(levels):
            for domain in range(self.processes + self.boundaries):
                n = self.count(level, domain, process)
                if n == 0:
                    continue
                for _ in range(3):
                    add(self.numbers(n, "i4"))
                for axis in range(self.ndim):
                    first = level == 0 and domain == process - 1
                    places = [grid[axis] for grid in self.first_grids] if first else []
                    add(places or self.numbers(n, self.real), self.real)
                for _ in range(1 + 2 * self.ndim + 3 * 2**self.ndim):
                    add(self.numbers(n, "i4"))
        done()

    def write_cells(self, kind: str, process: int, variables: int) -> None:
        add, done = self.records(self.path(kind, process))
        add(self.processes)
        add(variables)
        if kind != "grav":
            add(self.ndim)
        add(len(self.grids))
        add(self.boundaries)
        if kind != "grav":
            add(1.4, self.real)
        for level in range(len(self.grids)):
            for domain in range(self.processes + self.boundaries):
                n = self.count(level, domain, process)
                add(level + 1)
                add(n)
                for _ in range(variables * 2**self.ndim if n else 0):
                    add(self.numbers(n, self.real), self.real)
        done()

    def write_particles(self, process: int) -> None:
        add, done = self.records(self.path("part", process))
        n = (self.particles or 0) * (process - 1)
        for values in (self.processes, self.ndim, n, [1, 2, 3, 4], 0):
            add(values)
        add([0.0, 0.0], "f8")
        add(0)
        add(0)
        kinds = {"?": "i4", "b": "i1", "h": "i2", "i": "i4", "q": "i8", "f": "f4", "d": "f8"}
        for kind in [kinds[letter] for letter in self.letters or "d" * (2 * self.ndim + 1) + "qi"]:
            add(self.numbers(n, kind), kind)
        done()
