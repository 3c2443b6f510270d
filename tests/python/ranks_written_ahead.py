"""ranks_written_ahead.py: what test_written_ahead.py runs on several ranks: FOLDER CASE CODEC EXTENSION; writes chunks
in batches and checks every value, where the chunks lie, and the checksums."""

import itertools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import hdf5plugin  # noqa: F401  (h5py finds its filters)
import numpy as np
from mpi4py import MPI

import penstock

comm = MPI.COMM_WORLD
r, n = comm.rank, comm.size
folder, case, codec, extension = Path(sys.argv[1]), *sys.argv[2:5]
METHOD = {"h5": "hdf5/two_phase", "raw": "raw/two_phase"}[extension]
SMALL = "chunk_bytes=64KiB,memory_bytes=1MiB"  # batches of 256 KiB, with 37 chunks in each rank's 9 MiB
Array = np.ndarray[Any, Any]


def field(shape: tuple[int, ...]) -> Array:
    at = np.indices(shape, sparse=True)
    waves = [np.sin(x / (7.0 + 3 * i)) for i, x in enumerate(at)]
    return np.asarray(sum(waves[1:], waves[0]) * 3.7 + 11)


def cuts(extent: int, even: bool) -> list[int]:
    """Where the ranks' parts begin: uneven ones are on no grid, and the second of four has nothing."""
    if even:
        return [extent * k // n for k in range(n + 1)]
    return (
        [0, extent // 3, extent // 3, extent - 5, extent]
        if n == 4
        else [0, *[extent - 5 * (n - k) for k in range(1, n)], extent]
    )


def slab(a: Array, even: bool = True, **options: Any) -> Any:
    begin, end = cuts(a.shape[0], even)[r : r + 2]
    return penstock.block(a[begin:end], shape=a.shape, start=(begin, *[0] * (a.ndim - 1)), **options)


def write(name: str, settings: str, fill: Callable[[penstock.File], None]) -> Path:
    path = folder / f"{name}.{extension}"
    with penstock.create(path, comm, f"{METHOD}:compression={codec},{settings}") as file:
        fill(file)
    return path if extension == "h5" else path.with_suffix(".raw.json")


def described(path: Path, name: str) -> dict[str, Any]:
    """What the index of a raw file says of a dataset."""
    return dict({d["name"]: d for d in json.loads(path.read_text())["datasets"]}[name])


def data_of(path: Path) -> Path:
    return path if extension == "h5" else path.with_name(json.loads(path.read_text())["parts"][0])


def places(path: Path, name: str) -> list[tuple[Any, int, int]]:
    """The first element, or the number, offset and bytes of each chunk, in the order of their numbers."""
    if extension == "raw":
        return [(chunk[0], chunk[1], chunk[2]) for chunk in described(path, name).get("chunks", [])]
    with h5py.File(path) as file:
        if file[name].chunks is None:
            return []
        data = file[name].id
        chunks = [data.get_chunk_info(i) for i in range(data.get_num_chunks())]
    return sorted((c.chunk_offset, c.byte_offset, c.size) for c in chunks)


def in_batches(path: Path, name: str) -> bool:
    """Whether chunks of several ranks alternate, as no file has them that is laid out when all sizes are known."""
    offsets = [offset for _, offset, _ in places(path, name)]
    return offsets != sorted(offsets)


def read(path: Path, name: str) -> Array:
    """By others where these can."""
    with h5py.File(path) if extension == "h5" else penstock.open(path) as file:
        return np.asarray(file[name][...])


def check(path: Path, values: dict[str, Array]) -> None:
    comm.barrier()
    if r == 0:
        taken = []
        for name, expected in values.items():
            assert read(path, name).tobytes() == expected.tobytes(), name
            taken += [(offset, offset + size) for _, offset, size in places(path, name)]
        taken.sort()
        assert all(a[1] <= b[0] for a, b in itertools.pairwise(taken)), "chunks overlap"
        assert not taken or taken[-1][1] <= data_of(path).stat().st_size
        stored = sum(end - begin for begin, end in taken)
        plain = sum(a.nbytes for name, a in values.items() if name.startswith("plain"))
        assert data_of(path).stat().st_size < 1.05 * stored + plain + 200_000, "room is lost"
    with penstock.open(path, comm, plan=":verify=always") as file:
        for name, expected in values.items():
            np.testing.assert_array_equal(file[name][...], expected)


def own() -> None:
    a = field((37 * n, 128, 256))
    path = write("own", SMALL, lambda file: file.lend("a", slab(a)))
    check(path, {"a": a})
    assert n == 1 or in_batches(path, "a")


def shared() -> None:
    a = field((37 * n + 1, 128, 257))
    path = write("shared", SMALL, lambda file: file.lend("a", slab(a, even=False)))
    check(path, {"a": a})


def one_chunk() -> None:
    a = field((n * 1024 + 1, 1024)) if n > 8 else field((8 * 1024 + 1, 140))
    check(
        write("one", "chunk_bytes=64MiB,memory_bytes=512MiB", lambda file: file.lend("a", slab(a, even=False))),
        {"a": a},
    )


def many() -> None:
    values = {
        "a/first": field((16 * n, 128, 130)),
        "b/zeros": np.zeros((8 * n, 128, 128)),
        "c/integers": (np.arange(n * 300_000, dtype="i4") % 1009).reshape(n, -1),
        "d/last": field((16 * n, 131, 64)).astype("f4"),
        "plain/large": field((n * 8, 1000)),
        "plain/small": np.arange(100.0) * n,
    }

    def fill(file: penstock.File) -> None:
        for name, a in values.items():
            if name == "plain/small":
                file[name] = a
            else:
                file.lend(name, slab(a, compression="none") if name == "plain/large" else slab(a))

    check(write("many", SMALL, fill), values)


def rounded() -> None:
    """What is lent is rounded when it is encoded, what is assigned when it is copied: to the same bits."""
    a = field((37 * n, 128, 256))
    a[::5, 3, ::7] = np.resize([np.nan, np.inf, -np.inf, np.finfo("f8").max], len(a[::5]))[:, None]
    lent = write("lent", SMALL + ",keep_bits=9", lambda file: file.lend("a", slab(a)))
    put = write("put", SMALL + ",keep_bits=9", lambda file: file.__setitem__("a", slab(a)))
    options = write("options", SMALL, lambda file: file.lend("a", slab(a, keep_bits=9)))
    small = write("small", "keep_bits=9", lambda file: file.lend("a", slab(a[:, :1, :7].copy())))  # is not encoded
    comm.barrier()
    kept = read(put, "a")
    finite = np.isfinite(a) & (np.abs(a) < 1e300)
    assert (kept.view("u8") & ((1 << 43) - 1) == 0)[finite].all()
    assert (np.abs(kept - a)[finite] <= np.abs(a[finite]) / 1024).all()
    assert (np.isnan(kept) == np.isnan(a)).all()
    with penstock.open(options) as file:
        assert file["a"].attrs["_QuantizeBitRoundNumberOfSignificantBits"] == 9
    np.testing.assert_array_equal(read(small, "a"), kept[:, :1, :7])
    for path in (lent, options):
        check(path, {"a": kept})


def changed() -> None:
    """A file that is changed keeps what stays, whose bits nobody rounds again."""
    a, b = field((37 * n, 128, 256)), field((37 * n, 128, 200)) * 3
    path = write("changed", SMALL, lambda file: file.lend("a", slab(a)))
    with penstock.reopen(path, comm, f"{METHOD}:compression={codec},{SMALL}") as file:
        file.lend("b", slab(b))
    check(path, {"a": a, "b": b})


{f.__name__: f for f in (own, shared, one_chunk, many, rounded, changed)}[case]()
