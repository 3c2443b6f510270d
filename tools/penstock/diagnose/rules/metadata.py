"""metadata.py: rules about opening, asking for, closing and making files."""

from collections.abc import Iterator, Sequence

import numpy as np

from penstock.diagnose.facts import DATA, MIB, STREAMS, Facts, Use
from penstock.diagnose.finding import Evidence, Finding
from penstock.diagnose.rules.common import found, names, share, size, times, words
from penstock.jobs.rows import rows

STORM = 10  # opens and stats of a MiB
LEAST_CALLS = 1000
MANY = 10  # opens or views of each rank
LONGEST = 1.0  # seconds of a call; in a longer one a program waits for the other end of a pipe, or for a lock


class _Metadata:
    """Metadata calls of one interface, one value per record: their number and seconds, and the seconds and bytes of the
    data. The values are 0 for standard streams, which open no files.
    """

    def __init__(self, use: Use) -> None:
        self.use = use
        real = np.array([path not in STREAMS for path in use.rows.paths], bool)
        self.opens = use.raw("OPENS") * real
        self.stats = use.raw("STATS") * real
        calls = self.opens + self.stats + use.raw("SEEKS")
        self.seconds = np.minimum(use.raw("F_META_TIME"), LONGEST * calls) * real
        self.data = (use.raw("F_READ_TIME") + use.raw("F_WRITE_TIME")) * real
        self.bytes = (use.raw("BYTES_READ") + use.raw("BYTES_WRITTEN")) * real


def much_metadata(facts: Facts) -> Iterator[Finding]:
    """M1: metadata take most of the I/O time, or there are many calls for few bytes."""
    both = [_Metadata(use) for use in (facts.posix, facts.stdio)]
    meta = sum(float(one.seconds.sum()) for one in both)
    data = sum(float(one.data.sum()) for one in both)
    moved = sum(float(one.bytes.sum()) for one in both)
    opens = sum(float(one.opens.sum()) for one in both)
    stats = sum(float(one.stats.sum()) for one in both)
    calls = opens + stats
    by_rank = sum(one.use.of_own(one.seconds) for one in both)
    seconds = max(meta / facts.ranks, float(np.max(by_rank)))
    mostly = meta >= 0.5 * (meta + data) and calls >= LEAST_CALLS
    storm = calls >= LEAST_CALLS and calls > STORM * max(moved / MIB, 1)
    if not (mostly or storm) or seconds < 0.01 * facts.seconds:
        return
    worst: dict[str, float] = {}
    for one in both:
        for path, spent in zip(one.use.rows.paths, one.seconds, strict=True):
            worst[path] = worst.get(path, 0.0) + float(spent)
    yield found(
        facts,
        "M1",
        f"{share(meta / (meta + data))} of the time in files goes to opening and asking for them: {times(calls)} calls",
        seconds * 0.8,
        [
            Evidence("POSIX_F_META_TIME + STDIO_F_META_TIME", round(meta, 3), "seconds of all ranks"),
            Evidence("their F_READ_TIME + F_WRITE_TIME", round(data, 3), "seconds of all ranks"),
            Evidence("POSIX_OPENS + STDIO_OPENS", int(opens), "calls"),
            Evidence("POSIX_STATS", int(stats), "calls"),
            Evidence("their BYTES_READ + BYTES_WRITTEN", int(moved), "bytes"),
        ],
        files=sorted(worst, key=lambda path: -worst[path])[:5],
        everywhere=True,
        calls=("META",),
        module="",
        meta=meta / facts.ranks,
        data=data / facts.ranks,
    )


def metadata(facts: Facts) -> Iterator[Finding]:
    """M1, else M5: both are about all metadata."""
    many = list(much_metadata(facts))
    yield from many or hdf5_metadata(facts)


def hdf5_metadata(facts: Facts) -> Iterator[Finding]:
    """M5: ranks that share files of HDF5 spend more time on their metadata than on their data, in however few calls."""
    mpi, n = facts.mpi, facts.ranks
    chosen = [i for i, path in enumerate(mpi.paths) if mpi.rank_count[i] >= 2 and facts.is_hdf5(path)]
    of_files, of_datasets = (rows(facts.job.modules.get(name)) for name in ("H5F", "H5D"))
    if n < 2 or not (chosen or of_files.column("H5F_USE_MPIIO").any()):
        return
    late = sum(facts.late(i) for i in chosen)
    of_mpi = [sum(_again(mpi, i) for i in chosen), sum(mpi.mean(i, DATA) for i in chosen)]
    of_hdf5 = [
        float(of_files.column("H5F_F_META_TIME").sum() + of_datasets.column("H5D_F_META_TIME").sum()) / n,
        sum(float(of_datasets.column(f"H5D_F_{verb}_TIME").sum()) for verb in DATA) / n,
    ]
    meta, data = max(of_mpi, of_hdf5)
    meta -= late
    if meta <= 0 or meta < 0.5 * (meta + data):
        return
    paths = [mpi.paths[i] for i in chosen]
    yield found(
        facts,
        "M5",
        f"{share(meta / (meta + data))} of the time in HDF5 files goes to metadata, not to data ({names(paths)})",
        meta * 0.5,
        [
            Evidence("MPIIO_F_META_TIME", round(of_mpi[0] * n, 3), "seconds of all ranks, of opening files again"),
            Evidence("MPIIO_F_READ_TIME + _WRITE_TIME", round(of_mpi[1] * n, 3), "seconds of all ranks"),
            Evidence("H5F_F_META_TIME + H5D_F_META_TIME", round(of_hdf5[0] * n, 3), "seconds of all ranks"),
            Evidence("H5D_F_READ_TIME + H5D_F_WRITE_TIME", round(of_hdf5[1] * n, 3), "seconds of all ranks"),
        ],
        files=paths,
        calls=("META",),
        confidence=0.5,
        module="",
        meta=meta,
        data=data,
    )


def _again(mpi: Use, i: int) -> float:
    """Seconds of the mean rank in MPI-IO's file I to open it again, as their part of the calls. A first open, and the
    views that HDF5 sets for each collective access, are no metadata of HDF5.
    """
    opens, views = mpi.of("COLL_OPENS")[i] + mpi.of("INDEP_OPENS")[i], mpi.of("VIEWS")[i]
    again = max(0.0, float(opens - mpi.rank_count[i]))
    return mpi.mean(i, ("META",)) * again / max(float(opens + views), 1.0)


def hdf5_views(facts: Facts) -> Iterator[Finding]:
    """M6: HDF5 sets a file view before each collective access and resets it afterwards. If the accesses are small, the
    time of all three calls is ranks waiting for each other, not data.
    """
    mpi, n = facts.mpi, facts.ranks
    calls = mpi.collective_calls
    many = (calls > 0) & (mpi.of("VIEWS") >= np.maximum(calls, MANY * n))
    chosen = [i for i, path in enumerate(mpi.paths) if many[i] and facts.is_hdf5(path)]
    if n < 2 or not chosen:
        return
    views, data, moved = _in_views(facts, chosen), 0.0, 0.0
    verbs: list[str] = []
    for verb in DATA:
        together = [i for i in chosen if mpi.of(f"COLL_{verb}S")[i] > 0]
        bytes_ = sum(float(mpi.of("BYTES_READ" if verb == "READ" else "BYTES_WRITTEN")[i]) for i in together)
        if bytes_ * n < MIB * sum(float(mpi.of(f"COLL_{verb}S")[i]) for i in together):
            below = facts.posix.busiest((verb,), [mpi.paths[i] for i in together])
            data += max(0.0, sum(mpi.mean(i, (verb,)) for i in together) - below)
            verbs.append(verb)
        moved += bytes_
    spent = min(views + data, sum(float(mpi.seconds[i]) / n - facts.late(i) for i in chosen))
    if spent < 0.1 * facts.io_seconds:
        return
    chosen.sort(key=lambda i: -mpi.seconds[i])
    accesses = float(calls[chosen].sum()) / n
    of_all = f"{times(accesses)} collective accesses of HDF5 of at most {size(moved / accesses)} each"
    in_views = f"{min(views, spent):.3g} s"
    told = f"{in_views} in the file views of {of_all}"
    if verbs:
        told = f"{spent:.3g} s in {of_all}, {in_views} of it in file views"
    yield found(
        facts,
        "M6",
        f"The mean rank spends {told} ({names(mpi.paths[i] for i in chosen)})",
        spent * 0.5,
        [
            Evidence("MPIIO_VIEWS", int(mpi.of("VIEWS")[chosen].sum()), f"{times(accesses)} accesses/rank, {n} ranks"),
            Evidence("MPIIO_F_META_TIME", round(sum(mpi.mean(i, ("META",)) for i in chosen), 3), "s of the mean rank"),
            Evidence("in file views", round(views, 3), _how_known(facts)),
            *(Evidence(f"MPIIO_F_{one}_TIME", round(data, 3), "s of the mean rank beyond POSIX") for one in verbs[:1]),
        ],
        files=[mpi.paths[i] for i in chosen],
        calls=("META", *verbs),
        variant="" if verbs else "large",
        confidence=0.6 if _pairs(facts) else 0.4,
        module="MPI-IO",
    )


def _how_known(facts: Facts) -> str:
    if _pairs(facts):
        return "s of the mean rank: twice the second view of each access, to which nobody comes late"
    return "s of the mean rank, their part by number"


def _pairs(facts: Facts) -> list[float]:
    """Returns, for each HDF5 function that sets and resets a file view, twice the mean rank's seconds in the shorter of
    the two calls. A rank may come late to the first, but all leave the access between them together.
    """
    by_caller: dict[str, list[float]] = {}
    for one in facts.job.functions:
        if one.function == "MPI_File_set_view" and one.caller.startswith("H5"):
            by_caller.setdefault(one.caller, []).append(one.seconds)
    return [2 * min(both) for both in by_caller.values() if len(both) == 2]


def _in_views(facts: Facts, chosen: Sequence[int]) -> float:
    """Seconds of the mean rank in the file views of MPI-IO's files CHOSEN: by the profile, else as their part of the
    calls.
    """
    if pairs := _pairs(facts):
        return sum(pairs)
    return sum(facts.in_views(i) for i in chosen)


def open_storm(facts: Facts) -> Iterator[Finding]:
    """M2: all ranks open a file that few of them move."""
    posix = facts.posix
    opens, movers = posix.of("OPENS"), posix.movers
    chosen = [
        i
        for i in range(len(posix))
        if facts.ranks >= 16 and opens[i] >= facts.ranks and 0 < movers[i] < facts.ranks / 8
    ]
    if not chosen:
        return
    meta = posix.of("F_META_TIME")
    chosen.sort(key=lambda i: -meta[i])
    first = chosen[0]
    yield found(
        facts,
        "M2",
        f"{times(float(opens[first]))} opens of a file whose bytes {int(movers[first])} of {facts.ranks} ranks move "
        f"({names(posix.paths[i] for i in chosen)})",
        float(meta[chosen].sum()) / facts.ranks * 0.9,
        [
            Evidence("POSIX_OPENS", int(opens[chosen].sum()), "calls"),
            Evidence("POSIX_F_META_TIME", round(float(meta[chosen].sum()), 3), "seconds of all ranks"),
        ],
        files=[posix.paths[i] for i in chosen],
        calls=("META",),
        ranks=facts.ranks,
        writers=int(movers[first]),
    )


def grows_with_ranks(facts: Facts) -> Iterator[Finding]:
    """M3: opens and views in whole numbers for each rank, which take a part of the time. Syncs are T2's: their time is
    that of writing.
    """
    mpi, n = facts.mpi, facts.ranks
    if n < 4 or len(mpi) == 0:
        return
    all_views, together = mpi.of("VIEWS"), mpi.collective_calls
    # HDF5 sets one before each collective access and takes it back after it: that is no doing of the program's.
    own = (all_views == 2 * together) | ((all_views <= 2 * together) & [facts.is_hdf5(path) for path in mpi.paths])
    views, opens = np.where(own, np.minimum(all_views, n), all_views), mpi.of("COLL_OPENS")
    counts = {  # and how many of each a rank cannot do without: to open each file, and to say its part of it
        "collective opens": (float(opens.sum()), int((opens > 0).sum())),
        "file views": (float(views.sum()), int((views > 0).sum())),
    }
    linear = {
        name: count
        for name, (count, least) in counts.items()
        if count > least * n and count >= MANY * n and count % n == 0
    }
    every = float((opens + mpi.of("INDEP_OPENS") + all_views).sum())
    meta = float(mpi.of("F_META_TIME").sum()) / n * sum(linear.values()) / max(every, 1.0)
    if not linear or meta < 0.1 * facts.io_seconds:
        return
    yield found(
        facts,
        "M3",
        "Calls that grow with the ranks: " + ", ".join(f"{times(c / n)} {name} a rank" for name, c in linear.items()),
        meta * 0.5,
        [
            *(Evidence(name, int(count), f"{count / n:.0f} x {n} ranks") for name, count in linear.items()),
            Evidence("MPIIO_F_META_TIME", round(meta, 3), "seconds of the mean rank, their part by number"),
        ],
        calls=("META",),
        module="MPI-IO",
        advice="; ".join(words()["M3"]["advice"][name] for name in linear),
        what=" and ".join(linear).capitalize(),
    )


def file_per_process(facts: Facts) -> Iterator[Finding]:
    """M4: at least as many files as ranks, each of one rank."""
    posix = facts.posix
    own = (posix.rank_count == 1) & ((posix.of("BYTES_WRITTEN") + posix.of("BYTES_READ")) > 0)
    count = int(own.sum())
    if facts.ranks < 2 or count < max(facts.ranks, 1000):
        return
    meta = float(posix.of("F_META_TIME")[own].sum()) / facts.ranks
    yield found(
        facts,
        "M4",
        f"{times(count)} files of one rank each",
        meta * 0.7,
        [
            Evidence("files with one rank", count),
            Evidence("POSIX_F_META_TIME", round(meta, 3), "seconds of the mean rank in them"),
        ],
        files=[path for path, one in zip(posix.paths, own, strict=True) if one][:5],
        everywhere=True,
        calls=("META",),
        files_=count,
    )


RULES = (metadata, hdf5_views, open_storm, grows_with_ranks, file_per_process)
