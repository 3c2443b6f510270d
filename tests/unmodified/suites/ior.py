"""ior.py: IOR with each interface, collective and not, which checks what it reads; the path of an IOR is given."""

import re
import subprocess
from collections.abc import Iterator, Sequence

from sources import Missing
from suites.place import Place
from trial import Mpi, Suite, Trial, environment

# Write, check the file; read, check what was read; the same values in each run, and the file stays, to be compared.
CHECKED = ("-w", "-W", "-r", "-R", "-e", "-k", "-G", "17")
SHAPES: dict[str, tuple[str, ...]] = {
    "segments": ("-b", "256k", "-t", "64k", "-s", "4"),
    "small": ("-b", "40k", "-t", "8k", "-s", "8"),
    "large": ("-b", "16m", "-t", "4m"),
    "own files": ("-b", "256k", "-t", "64k", "-s", "2", "-F"),
    "reordered": ("-b", "256k", "-t", "64k", "-s", "2", "-C"),
    "random": ("-b", "256k", "-t", "32k", "-z", "--random-offset-seed", "17"),
}
OF_MPIIO: dict[str, tuple[str, ...]] = {
    "file view": ("-b", "64k", "-t", "64k", "-s", "16", "--mpiio.useFileView"),
    "preallocated": ("-b", "256k", "-t", "64k", "--mpiio.preallocate"),
}
OF_HDF5: dict[str, tuple[str, ...]] = {
    "collective metadata": ("-b", "64k", "-t", "64k", "-s", "4", "--hdf5.collectiveMetadata"),
}


def suite(mpi: Mpi, place: Place) -> Suite:
    ior = str(program := place.given("IOR", f"IOR, built with {mpi.name}"))
    ask = [*mpi.start(1), ior, "--help"]
    shown = subprocess.run(ask, env=environment(mpi), capture_output=True, text=True, check=False).stdout
    interfaces = re.findall(r"API for I/O \[(.*)\]", shown)
    if not interfaces:
        raise Missing(f"{ior} does not run with {mpi.name}: {shown[-300:]}")
    version = re.findall(rb"IOR-[\w.+-]+", program.read_bytes())
    trials = [
        Trial(name, [*mpi.start(4), ior, *words, *CHECKED, "-o", "FOLDER/file"], 120, "Finished", "ncorrect data|ERROR")
        for name, words in cases()
        if words[1] in interfaces[0].split("|")
    ]
    return Suite(f"ior/{mpi.name}", version[0].decode() if version else "", mpi, trials)


def cases() -> Iterator[tuple[str, Sequence[str]]]:
    """IOR refuses random offsets with -c and with PnetCDF, and a file for each rank with PnetCDF."""
    more: dict[str, dict[str, tuple[str, ...]]] = {"POSIX": {}, "MPIIO": OF_MPIIO, "HDF5": OF_HDF5, "NCMPI": {}}
    for interface, shapes in more.items():
        for collective in ("", "-c") if interface != "POSIX" else ("",):
            for shape, words in (SHAPES | shapes).items():
                refused = (shape == "random" and (collective or interface == "NCMPI")) or (
                    shape == "own files" and interface == "NCMPI"
                )
                if not refused:
                    name = f"{interface} {collective}".strip()
                    yield f"{name}, {shape}", ["-a", interface, *words, *([collective] if collective else [])]
