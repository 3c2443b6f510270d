"""ranks_conventions.py: on some ranks writes a file that follows CF or openPMD; test_conventions.py reads it."""

import sys
from typing import Any

import numpy as np
from mpi4py import MPI

import penstock

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
convention, path, plan = sys.argv[1:4]


def cf(f: penstock.File) -> None:
    f.attributes("grid")["mesh"] = "uniform,origin=0:1:2,spacing=0.5:0.25:1"
    f.attributes("grid")["units"] = "m"
    f.attributes("lines")["mesh"] = "rectilinear,x=g/x,y=g/y"
    f.attributes("p")["mesh"] = "particles,x=p/x,y=p/y"
    f.attributes("c")["mesh"] = "curvilinear,x=lon,y=lat"
    f.attrs["time"], f.attrs["time_units"] = 3.5, "days since 2000-01-01"
    mine: dict[str, Any] = {"shape": (4 * size, 3, 2), "start": (4 * rank, 0, 0)}
    f["rho"] = penstock.block(np.full((4, 3, 2), float(rank)), **mine, on="grid", center="cell", units="kg m-3")
    plane: dict[str, Any] = {"shape": (4 * size, 3), "start": (4 * rank, 0)}
    f["t"] = penstock.block(np.full((4, 3), rank, "f4"), **plane, on="lines", units="K")
    f["g/x"], f["g/y"] = np.array([0.0, 1, 4]), np.arange(4.0 * size)
    for name in ("lon", "lat", "sst"):
        f[name] = penstock.block(np.full((4, 3), float(rank)), **plane)
    f["sst"].attrs["on"] = "c"
    for name in ("p/x", "p/y", "p/m"):
        f[name] = penstock.ragged(np.arange(float(rank + 1)))
    f["p/m"].attrs["on"] = "p"


def openpmd(f: penstock.File) -> None:
    f.attributes("grid")["mesh"] = "uniform,origin=0:1,spacing=0.5:0.25"
    f.attrs["time"] = 3.5
    mine: dict[str, Any] = {"shape": (4 * size, 3), "start": (4 * rank, 0)}
    for name in ("rho", "E/x", "E/y"):
        f[f"data/100/fields/{name}"] = penstock.block(np.full((4, 3), rank + 1.0), **mine, on="grid", center="cell")
    for name in ("position/x", "position/y", "mass"):
        f[f"data/100/particles/e/{name}"] = penstock.ragged(np.arange(2.0 * rank + 1) + rank)
    f["data/100/particles/e/mass"].attrs["unitSI"] = 9.1e-31


with penstock.create(path, comm, plan) as f:
    (cf if convention == "cf" else openpmd)(f)
    if rank == size - 1:  # one that says so is enough
        f.conventions(convention)
