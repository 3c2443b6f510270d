"""after.py: every process writes what it has."""

import sys

import numpy as np
from mpi4py import MPI

import penstock

comm = MPI.COMM_WORLD
rows, columns = 37, 11
first, end = rows * comm.rank // comm.size, rows * (comm.rank + 1) // comm.size
table = np.arange(first * columns, end * columns, dtype=float).reshape(end - first, columns)

with penstock.create(sys.argv[1], comm) as f:
    f["table"] = penstock.block(np.sqrt(table), shape=(rows, columns), start=(first, 0), units="m")
    f.attrs["step"] = 4
