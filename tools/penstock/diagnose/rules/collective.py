"""collective.py: rules about collective access: who waits for whom, how many ranks write, whether it is worth it."""

from collections.abc import Iterator

from penstock.diagnose.facts import DATA, MIB, Facts
from penstock.diagnose.finding import Evidence, Finding
from penstock.diagnose.rules.common import DXT, found, names, share, size, times
from penstock.diagnose.rules.sieved import is_sieved

GAP = 3  # MPI-IO's mean time over POSIX's
BUSY = 1.5  # and over POSIX's time of the busiest rank: exchange takes a part of it where all is well
LARGE = 1 << 30
MANY = 16  # ranks, whose only writer is worth a word from 64 MiB on
AGAIN = 1.5  # bytes read over those that there are
ALIKE = 0.9  # of the ranks move the bytes: there are no few for whom the others wait


def waiting(facts: Facts, i: int) -> tuple[float, float, float]:
    """Returns three times of MPI-IO file I in seconds: the mean rank's in MPI-IO reads and writes, less its waiting for
    late ranks, then the mean and the slowest rank's in POSIX, which are 0 if POSIX has no such file.
    """
    at = facts.posix_of(facts.mpi.paths[i])
    mean = max(0.0, facts.mpi.mean(i, DATA) - facts.late(i))
    if at is None:
        return mean, 0.0, 0.0
    return mean, float(facts.posix.seconds[at]) / facts.ranks, float(facts.posix.slowest[at])


def alike(facts: Facts, path: str) -> bool:
    """Whether all ranks move a file's bytes, each as many."""
    at = facts.posix_of(path)
    return at is not None and bool(facts.posix.movers[at] >= ALIKE * facts.ranks)


def _contiguous(facts: Facts, i: int) -> bool:
    """Whether every rank hands on its own large pieces of MPI-IO's file I, so that there is nothing to exchange."""
    moved = float(facts.mpi.of("BYTES_READ")[i] + facts.mpi.of("BYTES_WRITTEN")[i])
    return alike(facts, facts.mpi.paths[i]) and moved >= MIB * float(facts.mpi.collective_calls[i])


def written_below(facts: Facts, i: int) -> bool:
    """Whether POSIX's records have the bytes that were written to MPI-IO's file I."""
    at = facts.posix_of(facts.mpi.paths[i])
    return at is not None and bool(facts.posix.of("BYTES_WRITTEN")[at] >= 0.9 * facts.mpi.of("BYTES_WRITTEN")[i])


def known_below(facts: Facts, i: int) -> bool:
    """Whether POSIX's records of MPI-IO's file I are there, and have all bytes and their time: some libraries write by
    calls that nobody counts, and OMPIO's aggregators by aio_write, whose time a profile has not.
    """
    at = facts.posix_of(facts.mpi.paths[i])
    if (facts.job.kind == "profile" and facts.is_ompio) or at is None or not written_below(facts, i):
        return False
    moved = facts.posix.of("BYTES_READ")[at] + facts.posix.of("BYTES_WRITTEN")[at]
    asked = facts.mpi.of("BYTES_READ")[i] + facts.mpi.of("BYTES_WRITTEN")[i]
    return "POSIX" not in facts.partial or bool(moved >= 0.9 * asked)


def wanted(facts: Facts, path: str) -> int | None:
    """How many ranks can feed a file: one for each stripe, at least one for each node; None where neither is known."""
    stripes = facts.stripes(path)
    return min((one for one in (stripes[0] if stripes else None, facts.nodes) if one is not None), default=None)


def enough_writers(facts: Facts, path: str) -> bool:
    at, least = facts.posix_of(path), wanted(facts, path)
    return at is not None and least is not None and 1 < least <= int(facts.posix.movers[at])


def wait_gap(facts: Facts) -> Iterator[Finding]:
    """C1: the mean rank is far longer in MPI-IO than in the file system, and neither holes in buffers nor ranks that
    come late are why. C4: though ranks enough are in it.
    """
    mpi = facts.mpi
    chosen = [i for i in range(len(mpi)) if mpi.collective[i] and not _contiguous(facts, i)]
    gaps = {i: waiting(facts, i) for i in chosen}
    gaps = {i: one for i, one in gaps.items() if known_below(facts, i) and one[0] > max(GAP * one[1], BUSY * one[2])}
    gaps = {i: one for i, one in gaps.items() if one[2] < 0.1 * one[0] or not is_sieved(facts, mpi.paths[i])}
    saved = sum(max(0.0, mean - slowest) for mean, _, slowest in gaps.values())
    if not gaps or facts.ranks == 1:
        return
    fed = [i for i in gaps if enough_writers(facts, mpi.paths[i])]
    by_all = [i for i in gaps if alike(facts, mpi.paths[i])]
    without_buffers = [i for i in gaps if is_needless(facts, i)]  # C7 says the opposite of more aggregators
    counted = sum(facts.late(i) for i in gaps)
    in_mpi, in_posix, at_work = (sum(one[k] for one in gaps.values()) for k in range(3))
    paths = sorted((mpi.paths[i] for i in gaps), key=lambda path: -mpi.seconds[mpi.paths.index(path)])
    yield found(
        facts,
        "C1",
        f"Ranks wait for each other in collective calls: {share(saved / facts.seconds)} of the run "
        "in which not even the busiest rank is in the file system",
        saved,
        confidence=0.7,
        evidence=[
            Evidence(
                "MPIIO_F_READ_TIME + _WRITE_TIME",
                round(in_mpi, 3),
                "seconds of the mean rank" + (f", less {counted:.3g} for ranks that come late" if counted > 0 else ""),
            ),
            Evidence("POSIX_F_READ_TIME + _WRITE_TIME + _META_TIME", round(in_posix, 3), "seconds of the mean rank"),
            Evidence("POSIX_F_SLOWEST_RANK_TIME", round(at_work, 3), "seconds of the busiest rank"),
            Evidence(
                "MPIIO_COLL_READS + _COLL_WRITES",
                int(mpi.collective_calls[list(gaps)].sum()),
                f"of {times(float((mpi.collective_calls + mpi.independent_calls)[list(gaps)].sum()))} calls",
            ),
        ],
        files=paths,
        calls=DATA,
        module="MPI-IO",
        without=("mpi hint",) if set(gaps) <= {*fed, *by_all, *without_buffers} else (),
        whom="the last of them" if set(gaps) <= set(by_all) else "the few that write or read",
        late=_late_by_turns(facts),
        in_mpi=in_mpi,
        in_posix=in_posix,
        at_work=at_work,
    )
    if fed:
        yield _exchange(facts, {i: gaps[i] for i in fed})


def _late_by_turns(facts: Facts) -> str:
    """What to say of waiting that counters do not tell from exchange: for another late rank at each call."""
    if facts.job.has_traced:
        return ""
    return f"; or for ranks that come late by turns, which counters do not tell from exchange: {DXT} does"


def _exchange(facts: Facts, gaps: dict[int, tuple[float, float, float]]) -> Finding:
    paths = sorted((facts.mpi.paths[i] for i in gaps), key=lambda path: -facts.seconds_in(path))
    mean, at_work = (sum(one[k] for one in gaps.values()) for k in (0, 2))
    spent = sum(max(0.0, one[0] - one[2]) for one in gaps.values())
    at = facts.posix_of(paths[0])
    writers = 0 if at is None else int(facts.posix.movers[at])
    return found(
        facts,
        "C4",
        f"Exchange between ranks takes {spent:.3g} s, though {writers} of them write or read ({names(paths)})",
        spent * 0.5,
        confidence=0.5,
        evidence=[
            Evidence("POSIX_F_VARIANCE_RANK_BYTES", writers, "ranks that moved the bytes, as it and their sum say"),
            Evidence("stripes, or nodes", wanted(facts, paths[0]) or 0, "that so many can feed"),
            Evidence("MPIIO_F_READ_TIME + _WRITE_TIME", round(mean, 3), "seconds of the mean rank"),
            Evidence("POSIX_F_SLOWEST_RANK_TIME", round(at_work, 3), "seconds of the busiest rank"),
        ],
        files=paths,
        calls=DATA,
        module="MPI-IO",
        late=_late_by_turns(facts),
        writers=writers,
        at_work=at_work,
        mean=mean,
    )


def few_writers(facts: Facts) -> Iterator[Finding]:
    """C2: fewer ranks in the file system than it has stripes, or nodes to feed them."""
    mpi, posix = facts.mpi, facts.posix
    for i, path in enumerate(mpi.paths):
        at = facts.posix_of(path)
        if at is None or facts.ranks < 4 or not mpi.collective[i]:
            continue
        moved = float(posix.of("BYTES_READ")[at] + posix.of("BYTES_WRITTEN")[at])
        writers = int(posix.movers[at])
        stripes = facts.stripes(path)
        needed = wanted(facts, path) or 1
        least = LARGE if writers > 1 or facts.ranks < MANY else LARGE // 16
        if moved < least or writers < 1 or (writers >= needed and writers != 1):
            continue
        target = max(needed, min(8, facts.ranks // 2))
        mean, _, slowest = waiting(facts, i)
        whose = "A single rank moves" if writers == 1 else f"{writers} ranks move"
        seconds = max(mean, slowest)
        evidence = [
            Evidence("POSIX_F_VARIANCE_RANK_BYTES", writers, "ranks that moved the bytes, as it and their sum say"),
            Evidence(
                "POSIX_SLOWEST_RANK_BYTES", int(posix.most("SLOWEST_RANK_BYTES")[at]), "bytes of the slowest rank"
            ),
            Evidence("POSIX_BYTES_READ + _BYTES_WRITTEN", int(moved), "bytes of all ranks"),
            Evidence("MPIIO_COLL_READS + _COLL_WRITES", int(mpi.collective_calls[i]), "the program does its part"),
        ]
        if stripes:
            evidence.append(Evidence("LUSTRE_COMP_STRIPE_COUNT", stripes[0], "targets of the file"))
        yield found(
            facts,
            "C2",
            f"{whose} {size(moved)} for {facts.ranks} ranks ({names([path])})",
            seconds * (1 - writers / target),
            calls=DATA,
            confidence=0.8,
            evidence=evidence,
            files=[path],
            module="MPI-IO",
            whom="one rank" if writers == 1 else f"{writers} ranks",
            mean=mean,
            target=target,
            without=() if stripes or "lustre" in facts.file_system(path) else ("file system",),
        )


def one_stripe(facts: Facts) -> Iterator[Finding]:
    """C3: large files of many ranks on one storage target."""
    moved, seconds = _large_shared(facts)
    chosen = [path for path in moved if (facts.stripes(path) or (0, 0))[0] == 1]
    if not chosen:
        return
    chosen.sort(key=lambda path: -moved[path])
    total = sum(moved[path] for path in chosen)
    targets = facts.job.stripes[chosen[0]][2]
    yield found(
        facts,
        "C3",
        f"{size(total)} of all ranks on one storage target ({names(chosen)})",
        sum(seconds[path] for path in chosen) * 0.75,
        confidence=0.75,
        calls=DATA,
        module="",
        evidence=[
            Evidence("LUSTRE_COMP_STRIPE_COUNT", 1, f"target {targets[0]}" if targets else ""),
            Evidence("BYTES_READ + BYTES_WRITTEN", int(total), "bytes"),
        ],
        files=chosen,
    )


def _large_shared(facts: Facts) -> tuple[dict[str, float], dict[str, float]]:
    """Returns two mappings from the paths of shared files: bytes moved, of large files only, and seconds of the run
    time in reads and writes. Each is the larger of what MPI-IO and POSIX counted.
    """
    moved: dict[str, float] = {}
    seconds: dict[str, float] = {}
    for use in (facts.mpi, facts.posix):
        of_use = use.of("BYTES_READ") + use.of("BYTES_WRITTEN")
        for i, path in enumerate(use.paths):
            if use.rank_count[i] > 1:
                moved[path] = max(moved.get(path, 0.0), float(of_use[i]))
                spent = use.spent(i, DATA) if use is facts.posix else use.mean(i, DATA)
                seconds[path] = max(seconds.get(path, 0.0), spent)
    return {path: many for path, many in moved.items() if many >= LARGE}, seconds


def small_alone(facts: Facts, i: int) -> bool:
    """Whether ranks share MPI-IO's file I in many small independent accesses."""
    mpi = facts.mpi
    calls, moved = mpi.independent_calls[i], mpi.of("BYTES_READ")[i] + mpi.of("BYTES_WRITTEN")[i]
    alone = bool(mpi.rank_count[i] >= 2 and calls > 1000 and not mpi.collective[i] and moved / calls < MIB)
    return alone and not _read_whole(facts, i)


def _read_whole(facts: Facts, i: int) -> bool:
    """Whether several ranks read the same bytes of MPI-IO's file I: then their pieces do not lie side by side."""
    at = facts.posix_of(facts.mpi.paths[i])
    read = float(facts.mpi.of("BYTES_READ")[i])
    if at is None or read <= float(facts.mpi.of("BYTES_WRITTEN")[i]):
        return False
    return read > AGAIN * (float(facts.posix.most("MAX_BYTE_READ")[at]) + 1)


def not_collective(facts: Facts) -> Iterator[Finding]:
    """C5: many small independent accesses of many ranks to one file."""
    mpi = facts.mpi
    calls = mpi.independent_calls
    moved = mpi.of("BYTES_READ") + mpi.of("BYTES_WRITTEN")
    for i, path in enumerate(mpi.paths):
        if not small_alone(facts, i):
            continue
        needed = max(1.0, moved[i] / (16 * MIB))
        reads = mpi.of("INDEP_READS")[i] > mpi.of("INDEP_WRITES")[i]
        verb = "READ" if reads else "WRITE"
        local = facts.is_local(path)
        told = (
            f"{times(float(calls[i]))} independent accesses of {size(float(moved[i] / calls[i]))} each to a file that "
            f"{times(float(mpi.rank_count[i]))} ranks share ({names([path])})"
        )
        yield found(
            facts,
            "C5",
            f"{told}: as well on {facts.file_system(path)}" if local else told,
            0.0 if local else mpi.spent(i, (verb,)) * (1 - min(1.0, needed / calls[i])) * 0.8,
            calls=(verb,),
            variant="local" if local else "",
            confidence=0.7,
            evidence=[
                Evidence("MPIIO_INDEP_READS + _INDEP_WRITES", int(calls[i]), "calls"),
                Evidence("MPIIO_COLL_READS + _COLL_WRITES", int(mpi.collective_calls[i]), "calls"),
                Evidence("MPIIO_BYTES_READ + _BYTES_WRITTEN", int(moved[i]), "bytes"),
            ],
            files=[path],
            module="MPI-IO",
            verb=verb.lower(),
            kind=facts.file_system(path),
        )


def ineffective(facts: Facts) -> Iterator[Finding]:
    """C6: collective calls that reach the file system in small pieces."""
    mpi, posix = facts.mpi, facts.posix
    for i, path in enumerate(mpi.paths):
        at = facts.posix_of(path)
        if at is None or not mpi.collective[i] or facts.ranks < 2:
            continue
        calls = float(posix.of("READS")[at] + posix.of("WRITES")[at])
        moved = float(posix.of("BYTES_READ")[at] + posix.of("BYTES_WRITTEN")[at])
        stripe = (facts.stripes(path) or (0, MIB))[1]
        common = float(posix.most("ACCESS1_ACCESS")[at])
        if calls <= 1000 or moved / calls >= stripe / 4 or common >= stripe / 4:
            continue
        seconds = posix.spent(at, DATA)
        yield found(
            facts,
            "C6",
            f"Collective calls reach the file system in pieces of {size(moved / calls)} ({names([path])})",
            seconds * (1 - (moved / calls) / stripe) * 0.8,
            calls=DATA,
            confidence=0.65,
            evidence=[
                Evidence("MPIIO_COLL_READS + _COLL_WRITES", int(mpi.collective_calls[i]), "calls"),
                Evidence("POSIX_READS + _WRITES", int(calls), "calls"),
                Evidence("POSIX_ACCESS1_ACCESS", int(common), "bytes, the commonest size"),
            ],
            files=[path],
            module="MPI-IO",
            buffer=max(16 * MIB, 4 * stripe),
        )


def is_needless(facts: Facts, i: int) -> bool:
    """Whether few ranks move long contiguous pieces of MPI-IO's file I for the others."""
    mpi, path, calls = facts.mpi, facts.mpi.paths[i], float(facts.mpi.collective_calls[i])
    moved = float(mpi.of("BYTES_READ")[i] + mpi.of("BYTES_WRITTEN")[i])
    stripe = (facts.stripes(path) or (0, MIB))[1]
    if calls == 0 or mpi.of("VIEWS")[i] > 0 or moved / calls < stripe or moved < LARGE or facts.ranks < 2:
        return False
    return not alike(facts, path) and not is_sieved(facts, path)


def needless(facts: Facts) -> Iterator[Finding]:
    """C7: collective buffering of what is long and contiguous in each rank anyway."""
    mpi = facts.mpi
    for i, path in enumerate(mpi.paths):
        if not is_needless(facts, i):
            continue
        calls = float(mpi.collective_calls[i])
        moved = float(mpi.of("BYTES_READ")[i] + mpi.of("BYTES_WRITTEN")[i])
        mean, _, slowest = waiting(facts, i)
        yield found(
            facts,
            "C7",
            f"Contiguous pieces of {size(moved / calls)} go through collective buffering ({names([path])})",
            max(0.0, mean - slowest) * 0.5,
            calls=DATA,
            confidence=0.5,
            evidence=[
                Evidence("MPIIO_BYTES / MPIIO_COLL calls", int(moved / calls), "bytes of a call"),
                Evidence("MPIIO_VIEWS", 0, "no file view: contiguous"),
            ],
            files=[path],
            module="MPI-IO",
        )


def locks(facts: Facts) -> Iterator[Finding]:
    """N1: independent access that waits inside the MPI library, not in reads and writes: locks."""
    mpi, posix = facts.mpi, facts.posix
    for i, path in enumerate(mpi.paths):
        at = facts.posix_of(path)
        if at is None or not known_below(facts, i) or mpi.rank_count[i] < 2 or mpi.collective[i]:
            continue
        gap = 0.0
        detail: list[Evidence] = []
        slow: list[str] = []
        for verb in ("READ", "WRITE"):
            outer, inner = float(mpi.of(f"F_{verb}_TIME")[i]), float(posix.of(f"F_{verb}_TIME")[at])
            together = mpi.of(f"COLL_{verb}S")[i] + mpi.of(f"SPLIT_{verb}S")[i]
            together += mpi.of("SYNCS")[i] if verb == "WRITE" else 0  # of all ranks too, and among its time
            if together > 0.1 * (mpi.of(f"INDEP_{verb}S")[i] + mpi.of(f"NB_{verb}S")[i]):
                continue
            if outer > GAP * max(inner, 1e-9) and outer / facts.ranks > 0.01 * facts.seconds:
                gap += (outer - inner) / facts.ranks
                slow.append(verb)
                detail += [
                    Evidence(f"MPIIO_F_{verb}_TIME", round(outer / facts.ranks, 3), "seconds of the mean rank"),
                    Evidence(f"POSIX_F_{verb}_TIME", round(inner / facts.ranks, 3), "seconds of the mean rank"),
                ]
        if gap == 0:
            continue
        kind = facts.file_system(path)
        nfs = kind.startswith("nfs")
        yield found(
            facts,
            "N1",
            f"Independent access waits for {'locks of NFS' if nfs else 'the MPI-IO library, not for the file system'} "
            f"({names([path])})",
            gap * 0.8,
            calls=slow,
            confidence=0.7 if nfs else 0.5,
            evidence=[*detail, Evidence("mount", kind or "unknown", "type of the file system")],
            files=[path],
            module="MPI-IO",
            variant="nfs" if nfs else "",
        )


RULES = (few_writers, wait_gap, one_stripe, not_collective, ineffective, needless, locks)
