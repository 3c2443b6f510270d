"""romio.py: ROMIO's own tests, from MPICH's source, as its runtests calls them, and those that it leaves out."""

from pathlib import Path

import sources
from suites.place import Place
from trial import Mpi, Suite, Trial

# Ranks as in runtests, and the arguments; FILE stands for the file to use.
NAMED = ("-fname", "FILE")
RUNTESTS: dict[str, tuple[int, tuple[str, ...]]] = {
    **dict.fromkeys(("simple", "async", "async-multiple", "atomicity", "coll_test", "excl", "file_info"), (4, NAMED)),
    **dict.fromkeys(("i_noncontig", "noncontig", "noncontig_coll"), (2, NAMED)),
    **dict.fromkeys(("noncontig_coll2", "misc", "shared_fp", "ordered_fp", "split_coll", "psimple"), (4, NAMED)),
    "aggregation1": (4, ("-h", "-f", "FILE")),
    "aggregation2": (4, ("FILE",)),
    "hindexed": (4, ("FILE",)),
    "error": (1, NAMED),
    "status": (1, NAMED),
    "types_with_zeros": (2, ("FILE",)),
    "darray_read": (4, ("FILE",)),
    **dict.fromkeys(("fmisc", "fcoll_test", "pfcoll_test"), (4, NAMED)),
}
LEFT_OUT: dict[str, tuple[int, tuple[str, ...]]] = {
    **dict.fromkeys(("perf", "fperf", "large_array", "external32", "creat_excl"), (4, NAMED)),
    "large_file": (1, NAMED),
    "big_extents": (4, ("FILE",)),
}
WANTED = {"large_array": "data read back is correct", "perf": "", "fperf": "", "large_file": ""}
OLD_TYPES = ("i_noncontig", "noncontig", "noncontig_coll", "noncontig_coll2")
TEMPLATE = {
    "LL": "lld", "F77MPIOINC": "", "FORTRAN_MPI_OFFSET": "integer(kind=MPI_OFFSET_KIND)", "F77IARGC": "iargc()",
    "F77GETARG": "call getarg(i, str)",
}  # fmt: skip


def suite(mpi: Mpi, place: Place) -> Suite:
    source, version = place.source("mpich")
    folder = place.built("romio", mpi, lambda folder: build(source / "src/mpi/romio/test", folder, mpi))
    tests = RUNTESTS | LEFT_OUT
    trials = [trial(folder, mpi, name, *tests[name]) for name in tests if (folder / name).exists()]
    missing = [name for name in tests if not (folder / name).exists()]
    notes = ["left out: coll_perf, which needs 13 GiB of memory and as much of a disk"]
    if missing:
        notes.append(f"not built, for they use MPI_LB, which this MPI no longer has: {', '.join(missing)}")
    return Suite(f"romio/{mpi.name}", f"of MPICH {version}", mpi, trials, notes)


def trial(folder: Path, mpi: Mpi, name: str, ranks: int, arguments: tuple[str, ...]) -> Trial:
    words = [*mpi.start(ranks), str(folder / name), *(word.replace("FILE", "test") for word in arguments)]
    return Trial(f"{name} on {ranks}", words, 90, WANTED.get(name, "No Errors"), r"Found\s+\d+ errors|should be")


def build(tests: Path, folder: Path, mpi: Mpi) -> None:
    """By hand: ROMIO's own Makefile belongs to a build of MPICH."""
    for path in tests.glob("*.in"):
        if path.suffixes[0] in (".c", ".f"):
            text = path.read_text()
            for name, value in TEMPLATE.items():
                text = text.replace(f"@{name}@", value)
            (folder / path.stem).write_text(text)
    for name in RUNTESTS | LEFT_OUT:
        fortran = folder / f"{name}.f"
        made = folder / f"{name}.c"
        path = fortran if fortran.exists() else made if made.exists() else tests / f"{name}.c"
        compiler = [mpi.compiler("f77"), "-fallow-argument-mismatch"] if path == fortran else [mpi.compiler(), "-O1"]
        try:
            sources.call(*compiler, "-w", f"-I{tests}", str(path), "-o", name, cwd=folder)
        except sources.Missing as why:
            if name not in OLD_TYPES or "MPI_LB" not in str(why):
                raise
