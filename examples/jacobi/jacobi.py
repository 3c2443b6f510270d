"""jacobi.py: a plate whose upper edge is hot: rows over ranks, a checkpoint, and a restart on any number of ranks.

mpiexec -n 4 python jacobi.py --steps 20 --checkpoint heat.h5
mpiexec -n 3 python jacobi.py --steps 40 --restart heat.h5
"""

import argparse

import numpy as np
from mpi4py import MPI

import penstock

comm = MPI.COMM_WORLD


def rows_of(rank: int, n: int) -> slice:
    return slice(n * rank // comm.size, n * (rank + 1) // comm.size)


def exchange(t: np.ndarray) -> None:
    """Ghost rows, from above and below."""
    up = comm.rank - 1 if comm.rank > 0 else MPI.PROC_NULL
    down = comm.rank + 1 if comm.rank < comm.size - 1 else MPI.PROC_NULL
    comm.Sendrecv(t[1], up, recvbuf=t[-1], source=down)
    comm.Sendrecv(t[-2], down, recvbuf=t[0], source=up)


def save(path: str, t: np.ndarray, n: int, rows: slice, step: int) -> None:
    with penstock.create(path, comm) as f:
        f["temperature"] = penstock.block(t[1:-1, 1:-1], shape=(n, n), start=(rows.start, 0), units="K")
        f["step"] = np.int64(step)


def restore(path: str) -> tuple[np.ndarray, slice, int]:
    with penstock.open(path, comm) as f:
        n = f["temperature"].shape[0]
        rows = rows_of(comm.rank, n)
        t = np.zeros((rows.stop - rows.start + 2, n + 2))
        f["temperature"].read_into(t[1:-1, 1:-1], rows)
        return t, rows, int(f["step"][()])


arguments = argparse.ArgumentParser()
arguments.add_argument("--n", type=int, default=64)
arguments.add_argument("--steps", type=int, default=40)
arguments.add_argument("--checkpoint")
arguments.add_argument("--restart")
options = arguments.parse_args()

if options.restart:
    t, rows, step = restore(options.restart)
else:
    rows, step = rows_of(comm.rank, options.n), 0
    t = np.zeros((rows.stop - rows.start + 2, options.n + 2))
n = t.shape[1] - 2
residual = 0.0
for step in range(step + 1, options.steps + 1):  # noqa: B020  goes on where the checkpoint ended
    if comm.rank == 0:
        t[0] = 1
    exchange(t)
    new = (t[:-2, 1:-1] + t[2:, 1:-1] + t[1:-1, :-2] + t[1:-1, 2:]) / 4
    residual = float(np.abs(new - t[1:-1, 1:-1]).max(initial=0))
    t[1:-1, 1:-1] = new
if options.checkpoint:
    save(options.checkpoint, t, n, rows, options.steps)
residual = comm.allreduce(residual, MPI.MAX)
if comm.rank == 0:
    print(f"step {options.steps} residual {residual:.15e}")
