"""hdf5.py: testpar of HDF5, linked to the HDF5 that is installed: the same version as the source's."""

from collections.abc import Sequence
from pathlib import Path

import sources
from suites.place import Place
from trial import Mpi, Suite, Trial

TESTING_LIBRARY = ("h5test", "testframe", "cache_common", "swmr_common", "external_common")
ALONE = (
    "t_mpi", "t_bigio", "t_cache", "t_cache_image", "t_pread", "t_pshutdown", "t_prestart", "t_init_term",
    "t_shapesame", "t_filters_parallel", "t_pflush1", "t_pflush2", "t_pmulti_dset", "t_select_io_dset", "t_vfd",
)  # fmt: skip
OF_TESTPHDF5 = (
    "testphdf5", "t_dset", "t_file", "t_file_image", "t_mdset", "t_ph5basic", "t_coll_chunk", "t_span_tree",
    "t_chunk_alloc", "t_filter_read", "t_prop", "t_coll_md_read", "t_coll_md", "t_oflush",
)  # fmt: skip
OWN_RANKS = 6
LIMIT_SECONDS = {"testphdf5": 400, "t_cache": 900, "t_cache_image": 900, "t_bigio": 900, "t_pmulti_dset": 900}
ON_4_ONLY = ("t_cache", "t_cache_image", "t_bigio")


def suite(mpi: Mpi, place: Place) -> Suite:
    source, version = place.source("hdf5")
    folder = place.built("hdf5", mpi, lambda folder: build(source, folder, mpi))
    alone = there(source, ALONE)
    trials = [trial(folder, mpi, name, 4) for name in ("testphdf5", *alone)]
    trials += [trial(folder, mpi, name, OWN_RANKS) for name in (*alone, "testphdf5") if name not in ON_4_ONLY]
    notes = ("t_pflush1 ends without closing its file, as it should: t_pflush2, which looks at that, is what counts",)
    return Suite(f"hdf5/{mpi.name}", version, mpi, trials, notes)


def there(source: Path, names: Sequence[str]) -> tuple[str, ...]:
    """Those of NAMES that this version has."""
    return tuple(name for name in names if (source / "testpar" / f"{name}.c").exists())


def trial(folder: Path, mpi: Mpi, name: str, ranks: int) -> Trial:
    """t_pflush1 leaves with status 1 on purpose. t_cache_image starts itself, and looks for that in its own folder."""
    script = f"ln -sf {folder / name} . && {' '.join(mpi.start(ranks))} ./{name}{' || true' * (name == 't_pflush1')}"
    limit = LIMIT_SECONDS.get(name, 120)
    return Trial(f"{name} on {ranks}", ["sh", "-c", script], limit, unwanted=r"\*FAILED\*", group=f"on {ranks}")


def build(source: Path, folder: Path, mpi: Mpi) -> None:
    """By the flags of Debian's builds, since some tests look into the library's structures."""
    test, testpar = source / "test", source / "testpar"
    template = (test / "H5srcdir_str.h.in").read_text()
    (folder / "H5srcdir_str.h").write_text(template.replace("@srcdir@", str(testpar)))
    includes = (folder, source / "src", test, testpar, f"/usr/include/hdf5/{mpi.suffix}")
    words = ["-O1", "-w", "-DNDEBUG", "-UH5_DEBUG_API", *(f"-I{include}" for include in includes)]
    for name in TESTING_LIBRARY:
        sources.call(mpi.compiler(), *words, "-c", str(test / f"{name}.c"), cwd=folder)
    archive = folder / "libh5test.a"
    sources.call("ar", "rcs", str(archive), *(f"{name}.o" for name in TESTING_LIBRARY), cwd=folder)
    programs = {name: (name,) for name in there(source, ALONE)} | {"testphdf5": there(source, OF_TESTPHDF5)}
    for name, parts in programs.items():
        files = [str(testpar / f"{part}.c") for part in parts]
        libraries = [str(archive), f"-lhdf5_{mpi.suffix}", "-lm"]
        sources.call(mpi.compiler(), *words, *files, *libraries, "-o", name, cwd=folder)
