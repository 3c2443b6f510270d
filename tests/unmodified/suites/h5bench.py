"""h5bench.py: h5bench's writing, overwriting, appending and reading of HDF5 files; a built one is given."""

from collections.abc import Iterator

from suites.e3sm import version
from suites.place import Place
from trial import Mpi, Suite, Trial

COMMON = {
    "TIMESTEPS": "3",
    "DELAYED_CLOSE_TIMESTEPS": "2",
    "EMULATED_COMPUTE_TIME_PER_TIMESTEP": "0 s",
    "NUM_DIMS": "1",
    "DIM_1": "65536",
    "DIM_2": "1",
    "DIM_3": "1",
}
STRIDED = {"FILE_PATTERN": "STRIDED", "STRIDE_SIZE": "2", "BLOCK_SIZE": "2", "BLOCK_CNT": "16384"}
TWO = {"NUM_DIMS": "2", "DIM_1": "256", "DIM_2": "256"}
PATTERNS: dict[str, dict[str, str]] = {
    "1-D": {},
    "1-D, strided": STRIDED,
    "1-D, fields interleaved in memory": {"MEM_PATTERN": "INTERLEAVED"},
    "1-D, fields interleaved in the file": {"FILE_PATTERN": "INTERLEAVED"},
    "2-D": TWO,
    "2-D, fields interleaved in the file": TWO | {"FILE_PATTERN": "INTERLEAVED"},
    "3-D": {"NUM_DIMS": "3", "DIM_1": "64", "DIM_2": "32", "DIM_3": "32"},
}
TOGETHER = {"COLLECTIVE_DATA": "YES", "COLLECTIVE_METADATA": "YES"}


def suite(mpi: Mpi, place: Place) -> Suite:
    program = place.given("H5BENCH", f"h5bench_write of h5bench, built with {mpi.name}")
    trials = []
    for name, asked in cases():
        write = {"MEM_PATTERN": "CONTIG", "FILE_PATTERN": "CONTIG"} | COMMON | asked
        read = {"READ_OPTION": "FULL"} | write | {"FILE_PATTERN": "CONTIG"}
        start = " ".join(mpi.start(4))
        lines = [
            f"printf '%s\\n' {quoted(write)} > write.cfg && printf '%s\\n' {quoted(read)} > read.cfg",
            f"{start} {program} write.cfg out.h5",
        ]
        if asked.get("FILE_PATTERN", "CONTIG") == "CONTIG" and asked.get("MEM_PATTERN", "CONTIG") == "CONTIG":
            lines.append(f"{start} {program.with_name('h5bench_read')} read.cfg out.h5")
        trials.append(Trial(name, ["sh", "-ec", "\n".join(lines)], 300, "Observed completion time"))
    return Suite(f"h5bench/{mpi.name}", version(program, mpi), mpi, trials)


def cases() -> Iterator[tuple[str, dict[str, str]]]:
    for name, asked in PATTERNS.items():
        yield f"{name}, collective", asked | TOGETHER
        yield f"{name}, independent", asked


def quoted(settings: dict[str, str]) -> str:
    return " ".join(f"'{name}={value}'" for name, value in settings.items())
