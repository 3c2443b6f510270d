"""sieved.py: files of which something below the program moves more than it was given, or reads to write back."""

from penstock.diagnose.facts import MIB, Facts

AMPLIFIED = 1.2
LEAST_BYTES = MIB  # what is less is not worth a word


def amplified(facts: Facts, path: str) -> float:
    """How many times as many bytes the file system moves as MPI-IO was given; 1 where that is not worth a word."""
    i, at = facts.mpi.index(path), facts.posix.index(path)
    if i is None or at is None or facts.mpi.of("BYTES_WRITTEN")[i] < LEAST_BYTES:
        return 1.0
    asked = float(facts.mpi.of("BYTES_WRITTEN")[i] + facts.mpi.of("BYTES_READ")[i])
    moved = float(facts.posix.of("BYTES_WRITTEN")[at] + facts.posix.of("BYTES_READ")[at])
    return moved / asked if moved > AMPLIFIED * asked else 1.0


def reads_back(facts: Facts, path: str) -> bool:
    """Whether a file is read that the program only writes. Beyond its end reads give nothing, and take as long."""
    i, at = facts.mpi.index(path), facts.posix.index(path)
    if i is None or at is None:
        return False
    mpi, posix = facts.mpi, facts.posix
    writes = float(posix.of("WRITES")[at])
    only_writes = mpi.of("BYTES_READ")[i] == 0 and mpi.of("BYTES_WRITTEN")[i] > 0
    if not only_writes or writes == 0 or posix.of("BYTES_WRITTEN")[at] < LEAST_BYTES:
        return False
    if float(posix.of("RW_SWITCHES")[at]) <= 0.5 * writes:
        return False
    takes_time = float(posix.of("F_READ_TIME")[at]) >= 0.1 * max(float(posix.seconds[at]), 1e-9)
    return bool(posix.of("BYTES_READ")[at] >= LEAST_BYTES) or takes_time


def is_buffered(facts: Facts, path: str) -> bool:
    """Whether few ranks move a file of MPI-IO's collective calls. Buffers of these have holes where nobody writes,
    whatever hints about data sieving say.
    """
    i, at = facts.mpi.index(path), facts.posix.index(path)
    if i is None or at is None or not facts.mpi.collective[i]:
        return False
    return bool(facts.posix.movers[at] <= 0.5 * facts.mpi.rank_count[i])


def is_sieved(facts: Facts, path: str) -> bool:
    return amplified(facts, path) > 1 or reads_back(facts, path)
