"""read_back.py: what h5py sees of round_trip's file: dimensions turned round, every value in its place.

python read_back.py FILE RANKS
"""

import sys

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(f"skipped: no Python with h5py: {missing}")
    sys.exit(77)

EXTENTS: list[list[int]] = [
    [], [2], [3, 2], [3, 2, 2], [2, 3, 1, 2], [2, 1, 3, 1, 2], [2, 2, 1, 1, 3, 2], [1, 2, 1, 2, 1, 2, 2],
]  # fmt: skip
TYPES = {
    "int8": "<i1",
    "int16": "<i2",
    "int32": "<i4",
    "int64": "<i8",
    "real32": "<f4",
    "real64": "<f8",
    "complex32": "<c8",
    "complex64": "<c16",
    "character": "S4",
}

path, ranks = sys.argv[1], int(sys.argv[2])
with h5py.File(path) as file:
    for kind, dtype in TYPES.items():
        for rank, extents in enumerate(EXTENTS):
            item = file[f"{kind}_{rank}"]
            shape = [*extents[:-1], extents[-1] * ranks] if extents else []
            assert list(item.shape) == shape[::-1], (item.name, item.shape, shape)
            assert item.dtype == np.dtype(dtype), (item.name, item.dtype)
            k = np.arange(int(np.prod(shape))) % 100 if shape else np.array([7])
            if kind == "character":
                expected = np.array([str(n).encode() for n in k], dtype=dtype)
            elif kind.startswith("complex"):
                expected = (k - 1j * k).astype(dtype)
            else:
                expected = k.astype(dtype)
            assert np.array_equal(item[()].ravel() if shape else np.array([item[()]]), expected), item.name
    assert file["real64_0"].attrs["comment"] == b"a scalar" or file["real64_0"].attrs["comment"] == "a scalar"
print(f"{path}: {len(TYPES) * len(EXTENTS)} datasets are as h5py should see them")
