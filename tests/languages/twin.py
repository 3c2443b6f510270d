"""twin.py: the fields of the other twins in Python, cut into blocks of both dimensions: write FILE, or read FILE."""

import os
import sys

import numpy as np

import penstock

NX, NY = 7, 12
comm = None
if os.environ["TWIN_MPI"] == "1":
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
rank, size = (comm.rank, comm.size) if comm else (0, 1)


def cut(extent: int, part: int, parts: int) -> slice:
    return slice(extent * part // parts, extent * (part + 1) // parts)


# The upper half is the first rank's, the lower one is cut into columns.
if size == 1:
    mine = (slice(0, NY), slice(0, NX))
elif rank == 0:
    mine = (slice(0, NY // 2), slice(0, NX))
else:
    mine = (slice(NY // 2, NY), cut(NX, rank - 1, size - 1))

y, x = np.mgrid[1 : NY + 1, 1 : NX + 1]
a = np.asfortranarray(100.0 * y + x)
fields = {
    "real64": a,
    "real32": a.astype("f4"),
    "int32": a.astype("i4"),
    "int64": a.astype("i8"),
    "complex64": a - 1j * a,
}
text = np.array([b"north", b"east"], "S5")

if sys.argv[1] == "write":
    with penstock.create(sys.argv[2], comm) as f:
        for name, field in fields.items():
            f[name] = penstock.block(field[mine], shape=(NY, NX), start=(mine[0].start, mine[1].start))
        f["text"] = text
else:
    with penstock.open(sys.argv[2], comm) as f:
        found = {name: f[name].get(mine) for name in fields}
        words = f["text"].get()
        f.commit()
        for name, field in fields.items():
            assert f[name].shape == (NY, NX), name
            assert found[name].dtype == field.dtype, name
            assert np.array_equal(found[name], field[mine]), name
        assert words.tolist() == text.tolist()
print(f"twin of Python: rank {rank} of {size}")
