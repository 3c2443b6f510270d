"""access.py: rules about the accesses themselves: more than was asked for, again, small, out of order, unaligned."""

from collections.abc import Iterator

import numpy as np

from penstock.diagnose.facts import DATA, MIB, SMALL, Facts
from penstock.diagnose.finding import Evidence, Finding
from penstock.diagnose.rules.collective import AGAIN, small_alone
from penstock.diagnose.rules.common import found, names, share, size, times, words
from penstock.diagnose.rules.sieved import LEAST_BYTES, amplified, is_buffered, reads_back

LEAST_OFF = 8  # accesses that are not aligned
BUFFER = 4096  # streams of all languages hand on at least so much at once, if nobody flushes them
PAGE = 4096  # smaller accesses are so by nature, in blocks of this size


def amplification(facts: Facts) -> Iterator[Finding]:
    """A1: MPI-IO gives the file system more than it was given."""
    mpi, posix = facts.mpi, facts.posix
    for i, path in enumerate(mpi.paths):
        ratio, at = amplified(facts, path), facts.posix_of(path)
        if at is None or ratio <= 1:
            continue
        asked = float(mpi.of("BYTES_WRITTEN")[i] + mpi.of("BYTES_READ")[i])
        yield found(
            facts,
            "A1",
            f"{size(asked)} of the program become {size(ratio * asked)} of the file system ({names([path])})",
            posix.spent(at, DATA) * (1 - 1 / ratio) * 0.8,
            [
                Evidence("MPIIO_BYTES_WRITTEN", int(mpi.of("BYTES_WRITTEN")[i]), "bytes"),
                Evidence("MPIIO_BYTES_READ", int(mpi.of("BYTES_READ")[i]), "bytes"),
                Evidence("POSIX_BYTES_WRITTEN", int(posix.of("BYTES_WRITTEN")[at]), "bytes"),
                Evidence("POSIX_BYTES_READ", int(posix.of("BYTES_READ")[at]), "bytes"),
                Evidence("POSIX_RW_SWITCHES", int(posix.of("RW_SWITCHES")[at]), "changes between reading and writing"),
            ],
            files=[path],
            calls=DATA,
            confidence=0.85,
            variant="buffered" if is_buffered(facts, path) else "",
            ratio=ratio,
        )


def read_modify_write(facts: Facts) -> Iterator[Finding]:
    """A2: a file that the program only writes is read, by the busiest rank as long as its records say."""
    posix = facts.posix
    for at, path in enumerate(posix.paths):
        if not reads_back(facts, path):
            continue
        read, reads = float(posix.of("BYTES_READ")[at]), float(posix.of("READS")[at])
        if read >= LEAST_BYTES:
            what = f"{size(read)} read, in {times(reads)} calls, from a file that the program only writes"
        else:
            what = f"{times(reads)} reads, which find next to nothing yet, of a file that the program only writes"
        yield found(
            facts,
            "A2",
            f"{what} ({names([path])})",
            (posix.spent(at, ("READ",)) + 0.5 * posix.spent(at, ("WRITE",))) * 0.9,
            [
                Evidence("POSIX_BYTES_READ", int(read), "bytes"),
                Evidence("POSIX_READS", int(reads), "calls"),
                Evidence("POSIX_F_READ_TIME", round(float(posix.of("F_READ_TIME")[at]), 3), "seconds of all ranks"),
                Evidence("POSIX_F_SLOWEST_RANK_TIME", round(float(posix.slowest[at]), 3), "seconds of the busiest"),
                Evidence("MPIIO_BYTES_READ", 0, "the program reads nothing"),
                Evidence(
                    "POSIX_RW_SWITCHES / POSIX_WRITES",
                    round(float(posix.of("RW_SWITCHES")[at]) / float(posix.of("WRITES")[at]), 3),
                ),
            ],
            files=[path],
            calls=DATA,
            confidence=0.8,
            variant="buffered" if is_buffered(facts, path) else "",
            reads=times(reads),
            part=share(float(posix.of("F_READ_TIME")[at]) / max(float(posix.seconds[at]), 1e-9)),
        )


def read_again(facts: Facts) -> Iterator[Finding]:
    """A3: bytes are read more than once."""
    posix = facts.posix
    read = np.array(
        [min(moved, _asked(facts, path)) for path, moved in zip(posix.paths, posix.of("BYTES_READ"), strict=True)]
    )
    extent = posix.most("MAX_BYTE_READ") + 1
    ratio = read / np.maximum(extent, 1)
    chosen = [i for i in range(len(posix)) if ratio[i] > AGAIN and read[i] >= 16 * LEAST_BYTES]
    if not chosen:
        return
    seconds = sum(posix.spent(i, ("READ",)) * (1 - 1 / float(ratio[i])) for i in chosen)
    chosen.sort(key=lambda i: -read[i])
    whole = float(read[chosen].sum() / extent[chosen].sum())
    yield found(
        facts,
        "A3",
        f"{size(float(read[chosen].sum()))} read of files that have {size(float(extent[chosen].sum()))} "
        f"({names(posix.paths[i] for i in chosen)})",
        seconds * 0.8,
        [
            Evidence("POSIX_BYTES_READ", int(read[chosen].sum()), "bytes"),
            Evidence("POSIX_MAX_BYTE_READ + 1", int(extent[chosen].sum()), "bytes that there are"),
        ],
        files=[posix.paths[i] for i in chosen],
        calls=("READ",),
        ratio=whole,
    )


def _asked(facts: Facts, path: str) -> float:
    """Bytes that the program reads through MPI-IO: what data sieving reads is not the program's."""
    at = facts.mpi.index(path)
    return float("inf") if at is None else float(facts.mpi.of("BYTES_READ")[at])


def small(facts: Facts) -> Iterator[Finding]:
    """A4: many accesses of less than a MiB, which make a good part of the time, in files of which C5 says nothing."""
    posix, mpi = facts.posix, facts.mpi
    calls = posix.of("READS") + posix.of("WRITES")
    # Darshan's class ends with 1 MiB itself, the commonest size of all.
    even = sum(np.where(posix.most(f"ACCESS{k}_ACCESS") == MIB, posix.of(f"ACCESS{k}_COUNT"), 0) for k in range(1, 5))
    few = np.clip(posix.sizes(SMALL, "READ") + posix.sizes(SMALL, "WRITE") - even, 0, calls)
    told = {path for i, path in enumerate(mpi.paths) if small_alone(facts, i) and not facts.is_local(path)}
    chosen = [i for i, path in enumerate(posix.paths) if few[i] > 0.1 * calls[i] and few[i] > 0 and path not in told]
    count = float(few[chosen].sum())
    moving = posix.of("F_READ_TIME") + posix.of("F_WRITE_TIME")
    # Darshan's time of writing is that of syncs too.
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.nan_to_num(moving / (calls + posix.of("FSYNCS") + posix.of("FDSYNCS")), posinf=0)
    spent = float((few * each)[chosen].sum()) / facts.ranks
    if count <= 1000 or spent <= 0.1 * facts.io_seconds:
        return
    chosen.sort(key=lambda i: -float(few[i] * each[i]))
    total = float(calls[chosen].sum())
    moved = float((posix.of("BYTES_READ") + posix.of("BYTES_WRITTEN"))[chosen].sum())
    yield found(
        facts,
        "A4",
        f"{times(count)} accesses of less than 1 MiB, {size(moved / total)} each in the mean "
        f"({names(posix.paths[i] for i in chosen)})",
        spent * max(0.0, 1 - moved / MIB / max(count, 1)),
        [
            Evidence("POSIX_SIZE_READ_0_100 .. _100K_1M", int(posix.sizes(SMALL, "READ")[chosen].sum()), "reads"),
            Evidence("POSIX_SIZE_WRITE_0_100 .. _100K_1M", int(posix.sizes(SMALL, "WRITE")[chosen].sum()), "writes"),
            Evidence("POSIX_READS + _WRITES", int(total), "accesses in all"),
            Evidence("POSIX_F_READ_TIME + _WRITE_TIME", round(float(moving[chosen].sum()), 3), "seconds of all ranks"),
        ],
        files=[posix.paths[i] for i in chosen],
        calls=DATA,
        latency=float((few * each)[chosen].sum()) / max(count, 1),
        count=times(count / facts.ranks),
        spent=spent,
        gather=words()["A4"]["gather"][_how_gathered(facts, chosen[0])],
    )


def _how_gathered(facts: Facts, i: int) -> str:
    """What helps rank by rank in POSIX's file I."""
    if _lie_apart(facts, i):
        return "apart"
    posix = facts.posix
    calls, written = float(posix.of("WRITES")[i]), float(posix.of("BYTES_WRITTEN")[i])
    return "no buffer" if calls > float(posix.of("READS")[i]) and written / calls < BUFFER else "in a row"


def _lie_apart(facts: Facts, i: int) -> bool:
    """Whether the pieces of one rank in POSIX's file I, which several share, hardly ever follow each other."""
    posix = facts.posix
    together = float(posix.of("CONSEC_READS")[i] + posix.of("CONSEC_WRITES")[i])
    return bool(posix.movers[i] > 1 and together < 0.1 * float(posix.of("READS")[i] + posix.of("WRITES")[i]))


def out_of_order(facts: Facts) -> Iterator[Finding]:
    """A5: accesses that do not go on in the file."""
    posix = facts.posix
    for i, path in enumerate(posix.paths):
        for verb in ("READ", "WRITE"):
            calls = float(posix.of(f"{verb}S")[i])
            firsts = max(float(posix.rank_count[i]), float(posix.of("OPENS")[i]))  # a log counts anew at each open
            back = calls - float(posix.of(f"SEQ_{verb}S")[i]) - firsts
            if calls <= 1000 or back <= 0.2 * calls:
                continue
            seconds = float(posix.of(f"F_{verb}_TIME")[i]) / facts.ranks
            yield found(
                facts,
                "A5",
                f"{share(back / calls)} of {times(calls)} {verb.lower()}s are out of order ({names([path])})",
                seconds * back / calls * 0.5,
                [
                    Evidence(f"POSIX_{verb}S", int(calls), "accesses"),
                    Evidence(f"POSIX_SEQ_{verb}S", int(posix.of(f"SEQ_{verb}S")[i]), "go on in the file"),
                ],
                files=[path],
                calls=(verb,),
                confidence=0.5,
                share=share(back / calls),
            )


def unaligned(facts: Facts) -> Iterator[Finding]:
    """A6: several ranks write parts of the same blocks, which are those at either end of an access."""
    posix = facts.posix
    for i, path in enumerate(posix.paths):
        calls = float(posix.of("READS")[i] + posix.of("WRITES")[i])
        # What goes on where the rank's last access ended shares that block with no other rank.
        off = float(posix.of("FILE_NOT_ALIGNED")[i] - posix.of("CONSEC_READS")[i] - posix.of("CONSEC_WRITES")[i])
        block = int(posix.most("FILE_ALIGNMENT")[i])
        written = float(posix.of("WRITES")[i])
        if posix.rank_count[i] < 2 or posix.movers[i] < 2 or block <= 1 or off <= 0.1 * calls or written == 0:
            continue
        mean = float(posix.of("BYTES_READ")[i] + posix.of("BYTES_WRITTEN")[i]) / calls
        if off < max(LEAST_OFF, 2 * float(posix.movers[i])) or mean < min(block, PAGE):
            continue
        part, ends = min(1.0, off / calls), min(1.0, 2 * block / mean)
        yield found(
            facts,
            "A6",
            f"{share(part)} of the accesses are not aligned to {size(block)} ({names([path])})",
            posix.mean(i, ("WRITE",)) * part * ends * 0.3,
            [
                Evidence("POSIX_FILE_NOT_ALIGNED", int(off), f"of {times(calls)} accesses, without consecutive ones"),
                Evidence("POSIX_FILE_ALIGNMENT", block, "bytes"),
                Evidence("2 x POSIX_FILE_ALIGNMENT / bytes of an access", round(ends, 4), "its first and last block"),
            ],
            files=[path],
            calls=("WRITE",),
            confidence=0.5,
            without=("application",) if facts.is_hdf5(path) else ("library",) if facts.mpi.index(path) is None else (),
            block=size(block),
            bytes=block,
        )


def read_storm(facts: Facts) -> Iterator[Finding]:
    """A7: every rank reads many small pieces of one file by itself."""
    mpi = facts.mpi
    for i, path in enumerate(mpi.paths):
        reads = float(mpi.of("INDEP_READS")[i])
        moved = float(mpi.of("BYTES_READ")[i])
        if facts.ranks < 2 or mpi.rank_count[i] < 2 or reads < 10 * facts.ranks or moved / reads >= MIB:
            continue
        if reads <= float(mpi.of("INDEP_WRITES")[i]):
            continue
        if facts.is_local(path):
            continue  # its page cache has them: what is left is their number, which A4 weighs
        yield found(
            facts,
            "A7",
            f"Each rank reads {times(reads / facts.ranks)} pieces of {size(moved / reads)} by itself ({names([path])})",
            mpi.spent(i, ("READ",)) * 0.8,
            [
                Evidence("MPIIO_INDEP_READS", int(reads), f"{reads / facts.ranks:.4g} for each rank"),
                Evidence("MPIIO_BYTES_READ", int(moved), "bytes"),
                Evidence("MPIIO_F_READ_TIME", round(mpi.mean(i, ("READ",)), 3), "seconds of the mean rank in MPI-IO"),
            ],
            files=[path],
            calls=("READ",),
            module="MPI-IO",
            each=reads / facts.ranks,
        )


RULES = (amplification, read_modify_write, read_again, small, out_of_order, unaligned, read_storm)
