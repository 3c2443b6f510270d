"""particles.py: ragged lists: each rank writes as many particles as it has, and any number of ranks reads them back.

mpiexec -n 4 python particles.py write particles.h5
mpiexec -n 3 python particles.py read particles.h5
"""

import sys

import numpy as np
from mpi4py import MPI

import penstock

comm = MPI.COMM_WORLD


def statistics(ids: np.ndarray, positions: np.ndarray, charges: np.ndarray) -> str:
    """Counts, sums of whole numbers and extremes: the same in any order of ranks."""
    low = comm.allreduce(float(positions.min(initial=np.inf)), MPI.MIN)
    return (
        f"particles {comm.allreduce(len(ids))} ids {comm.allreduce(int(ids.sum()))} "
        f"charge {comm.allreduce(int(charges.sum()))} least {low:.17g}"
    )


def write(path: str) -> str:
    count = 0 if comm.rank == 1 else 1000 + 17 * comm.rank  # some have none
    random = np.random.default_rng(comm.rank)
    first = comm.exscan(count) or 0
    ids = np.arange(first, first + count, dtype="i8")
    positions = random.random((count, 3))
    charges = random.integers(-3, 4, count, dtype="i4")
    with penstock.create(path, comm) as f:
        f["particles/id"] = penstock.ragged(ids)
        f["particles/position"] = penstock.ragged(positions, units="m")
        f["particles/charge"] = penstock.ragged(charges, units="e")
    return statistics(ids, positions, charges)


def read(path: str) -> str:
    with penstock.open(path, comm) as f:
        count = len(f["particles/id"])
        mine = slice(count * comm.rank // comm.size, count * (comm.rank + 1) // comm.size)
        names = ("id", "position", "charge")
        ids, positions, charges = (f[f"particles/{name}"].get(mine) for name in names)
        f.commit()  # one exchange for all three
    return statistics(ids, positions, charges)


line = {"write": write, "read": read}[sys.argv[1]](sys.argv[2])
if comm.rank == 0:
    print(line)
