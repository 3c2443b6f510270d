"""balance.py: rules about ranks, storage targets and nodes that have more to do than others, or take longer."""

from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np

from penstock.diagnose.facts import CALLS, DATA, MIB, Facts, Use
from penstock.diagnose.finding import Evidence, Finding
from penstock.diagnose.rules.common import found, names, share, size

UNEVEN = 2
MOSTLY = 0.8
SLOW = 5
LEAST_BYTES = 64 * MIB


def _bytes_by_rank(use: Use) -> tuple[float, float, int]:
    """Bytes of all ranks, of the rank that moves most as far as can be known, and that rank (-1: not known)."""
    own = use.by_rank(["BYTES_READ", "BYTES_WRITTEN"])
    total = float((use.raw("BYTES_READ") + use.raw("BYTES_WRITTEN")).sum())
    shared = use.rows.ranks < 0
    if not shared.any():
        return total, float(own.max()) if len(own) else 0.0, int(own.argmax())
    # Darshan reports a shared file's slowest rank, which in what is uneven is the one with most.
    most = use.raw("SLOWEST_RANK_BYTES")[shared]
    best = int(most.argmax())
    rank = min(int(use.raw("SLOWEST_RANK")[shared][best]), use.ranks - 1)
    alone = float(own[rank])
    if float(own.max()) > float(most.sum()) + alone:
        return total, float(own.max()), int(own.argmax())
    return total, float(most.sum()) + alone, rank


def uneven(facts: Facts) -> Iterator[Finding]:
    """I1: one rank has far more to move than its share."""
    # Of independent access POSIX tells more: its slowest rank is not one that waits in MPI_File_close for the others.
    below = len(facts.posix) > 0 and "POSIX" not in facts.partial and not facts.mpi.collective.any()
    use = facts.mpi if len(facts.mpi) and not below else facts.posix
    total, most, rank = _bytes_by_rank(use)
    if total < LEAST_BYTES or facts.ranks < 2:
        return
    ratio = most * facts.ranks / total
    if ratio <= UNEVEN or most >= 0.9 * total:
        return
    layer = use.layer()
    assert layer is not None
    slowest, mean = layer.slowest_share, layer.mean_share
    yield found(
        facts,
        "I1",
        f"Rank {rank} moves {size(most)}, {ratio:.3g} times its share",
        max(0.0, min(slowest, facts.io_seconds) - mean) * (1 - 1 / ratio),
        [
            Evidence("SLOWEST_RANK_BYTES x ranks / bytes", round(ratio, 2)),
            Evidence("F_SLOWEST_RANK_TIME", round(slowest, 3), "seconds"),
            Evidence("mean time", round(mean, 3), "seconds"),
        ],
        calls=DATA,
        confidence=0.6,
        module=use.module,
        ratio=ratio,
    )


def slow_target(facts: Facts) -> Iterator[Finding]:
    """I2: ranks with the same bytes take very different times."""
    posix = facts.posix
    own = posix.rows.ranks >= 0
    seconds = np.asarray(posix.raw("F_READ_TIME") + posix.raw("F_WRITE_TIME"), np.float64)[own]
    moved = np.asarray(posix.raw("BYTES_READ") + posix.raw("BYTES_WRITTEN"), np.float64)[own]
    paths = [path for path, one in zip(posix.rows.paths, own, strict=True) if one]
    much = moved >= MIB
    middle = float(np.median(moved[much])) if much.any() else 0.0
    alike = much & (moved > 0.8 * middle) & (moved < 1.2 * middle)
    if int(alike.sum()) < 4:
        yield from _slow_rank(facts)
        return
    syncs = np.asarray(posix.raw("FSYNCS") + posix.raw("FDSYNCS"), np.float64)[own]
    alike &= syncs <= np.median(syncs[alike])  # whoever syncs more waits for the storage: T2 says so
    if int(alike.sum()) < 2:
        return
    typical = float(np.median(seconds[alike]))
    worst = float(seconds[alike].max())
    if typical <= 0 or worst <= SLOW * typical or worst < 0.01 * facts.seconds:
        return
    slow = [path for path, one, t in zip(paths, alike, seconds, strict=True) if one and t > SLOW * typical]
    blamed = _target(facts, slow, [path for path, one in zip(paths, alike, strict=True) if one])
    yield found(
        facts,
        "I2",
        f"{len(slow)} of {int(alike.sum())} ranks with the same bytes take up to "
        f"{worst / typical:.3g} times as long{blamed}",
        worst - typical,
        [
            Evidence("POSIX_F_READ_TIME + _WRITE_TIME, most", round(worst, 3), "seconds"),
            Evidence("the same, median", round(typical, 3), "seconds"),
            Evidence("POSIX_BYTES_READ + _BYTES_WRITTEN, median", int(middle), "bytes of a rank"),
        ],
        files=dict.fromkeys(slow),
        calls=DATA,
        ratio=worst / typical,
        where=blamed,
    )


def _slow_rank(facts: Facts) -> Iterator[Finding]:
    """I2 of shared files, of whose ranks a log tells the slowest, and the mean of all."""
    posix = facts.posix
    for i, path in enumerate(posix.paths):
        at = facts.mpi.index(path)
        together = at is not None and bool(facts.mpi.collective[at])
        moved = float(posix.of("BYTES_READ")[i] + posix.of("BYTES_WRITTEN")[i])
        alike = posix.is_shared[i] and posix.movers[i] >= 0.9 * facts.ranks and moved >= MIB * facts.ranks
        if together or not alike or facts.ranks < 4:
            continue
        worst = float(posix.slowest[i])
        others = (float(posix.seconds[i]) - worst) / (facts.ranks - 1)
        if others <= 0 or worst <= SLOW * others or worst < 0.01 * facts.seconds:
            continue
        rank = int(posix.most("SLOWEST_RANK")[i])
        yield found(
            facts,
            "I2",
            f"Rank {rank} takes {worst / others:.3g} times as long as the others with the same bytes ({names([path])})",
            worst - others,
            [
                Evidence("POSIX_F_SLOWEST_RANK_TIME", round(worst, 3), "seconds"),
                Evidence("the mean of the others", round(others, 3), "seconds"),
                Evidence(
                    "POSIX_BYTES_READ + _BYTES_WRITTEN", int(moved), "bytes of all ranks, which have as many each"
                ),
            ],
            files=[path],
            calls=DATA,
            ratio=worst / others,
            where="",
        )


def _target(facts: Facts, slow: list[str], all_alike: list[str]) -> str:
    """The storage target that the slow files share and the others do not use."""
    of_slow, of_all = Counter[int](), Counter[int]()
    for paths, count in ((slow, of_slow), (all_alike, of_all)):
        for path in paths:
            count.update(set(facts.job.stripes.get(path, (0, 0, ()))[2]))
    blamed = [one for one, times in of_slow.items() if times == len(slow) and times >= 0.8 * of_all[one]]
    return f", all on storage target {blamed[0]}" if len(blamed) == 1 else ""


def serial(facts: Facts) -> Iterator[Finding]:
    """I3: one rank moves nearly everything, and next to nothing by collective calls."""
    mpi = facts.mpi
    together = (mpi.of("BYTES_READ") + mpi.of("BYTES_WRITTEN"))[mpi.collective_calls > 0]
    everything = float((facts.posix.raw("BYTES_READ") + facts.posix.raw("BYTES_WRITTEN")).sum())
    if facts.ranks < 2 or float(together.sum()) > 0.05 * everything:
        return
    moved = facts.posix.by_rank(["BYTES_READ", "BYTES_WRITTEN"]) + facts.stdio.by_rank(["BYTES_READ", "BYTES_WRITTEN"])
    total, most, rank = _bytes_by_rank(facts.posix)
    if float(facts.stdio.rows.column("STDIO_BYTES_WRITTEN").sum()) > total:
        total, most, rank = float(moved.sum()), float(moved.max()), int(moved.argmax())
    if total < MIB or most < 0.9 * total:
        return
    seconds = max(
        float(facts.posix.by_rank(["F_READ_TIME", "F_WRITE_TIME"])[rank]),
        float(facts.posix.raw("F_SLOWEST_RANK_TIME").sum()),
        float(facts.stdio.by_rank(["F_READ_TIME", "F_WRITE_TIME"])[rank]),
    )
    parallel = min(facts.ranks, 8)
    paths = sorted(zip(facts.posix.slowest, facts.posix.paths, strict=True), reverse=True)
    yield found(
        facts,
        "I3",
        f"Rank {rank} moves {share(most / total)} of {size(total)}, the other {facts.ranks - 1} next to nothing",
        seconds * (1 - 1 / parallel),
        [
            Evidence("POSIX_BYTES_READ + _BYTES_WRITTEN", int(most), f"bytes of rank {rank}"),
            Evidence("the same", int(total), "bytes of all ranks"),
            Evidence("MPIIO_COLL_READS + _COLL_WRITES", int(mpi.collective_calls.sum()), size(float(together.sum()))),
        ],
        files=[path for _, path in paths[:3]],
        everywhere=True,
        calls=DATA,
        module="",
        confidence=0.75,
        rank=rank,
        share=share(most / total),
        others=facts.ranks - 1,
    )


CROWD = 8  # writers of a node
LITTLE = 0.1  # of the run


def crowded_nodes(facts: Facts) -> Iterator[Finding]:
    """P1: many ranks of one node in the file system."""
    posix = facts.posix
    written = posix.by_rank(["BYTES_WRITTEN"])
    seconds = float(posix.of("F_WRITE_TIME").sum()) / facts.ranks
    if facts.ranks < CROWD or float(written.sum()) < LEAST_BYTES or seconds < LITTLE * facts.seconds:
        return  # hosts may take a pass over all accesses
    by_node: dict[str, int] = defaultdict(int)
    for rank, host in facts.hosts.items():
        by_node[host] += bool(written[rank] > 0)
    most = max(by_node.values(), default=0)
    if most < CROWD:
        return
    yield found(
        facts,
        "P1",
        f"{most} ranks of a node write at the same time ({names(by_node)})",
        seconds * 0.2,
        [Evidence("writers of a node", most), Evidence("nodes", len(by_node))],
        calls=("WRITE",),
        confidence=0.4,
        most=most,
        nodes=len(by_node),
    )


def late(facts: Facts) -> Iterator[Finding]:
    """I4: ranks wait in collective calls for one that comes late, which itself spends least time in them."""
    mpi = facts.mpi
    waits = {i: facts.late(i) for i in range(len(mpi)) if facts.late(i) > 0}
    if not waits:
        return
    by_rank: dict[int, float] = defaultdict(float)
    traced = {i: one for i, one in waits.items() if one > facts.counted_late(i)}
    for i, seconds in waits.items():
        for one, part in facts.arrivals[mpi.paths[i]].by_last.items() if i in traced else ():
            by_rank[one] += part
        if i not in traced:
            by_rank[_fastest_rank(mpi, i)] += seconds
    rank = max(by_rank, key=lambda one: by_rank[one])
    ordered = sorted(waits, key=lambda i: -waits[i])
    fastest, slowest = (float(of[ordered].sum()) for of in (mpi.fastest, mpi.slowest))
    whole = sum(waits.values())
    of_all = float(mpi.seconds[ordered].sum()) / facts.ranks
    # As many come late as, waiting as little as the fastest, would make the mean of the others' time.
    many = round(facts.ranks * (slowest - of_all) / max(slowest - fastest, 1e-9))
    by_turns = by_rank[rank] < MOSTLY * whole
    if by_turns:
        most = f" (rank {rank} most)" if by_rank[rank] >= 0.5 * whole else ""
        whose = f"Now one rank comes, now another{most}"
    else:
        whose = f"About {many} ranks (rank {rank} most) come" if many > 1 else f"Rank {rank} comes"
    own, spent = _own_files(facts, rank)
    by_io = spent >= 0.5 * whole
    in_turn = by_turns and sum(traced.values()) > 0.5 * whole
    starts = Evidence(
        "DXT_MPIIO: starts of calls", round(sum(traced.values()), 3), "s that the mean rank waits for the last"
    )
    yield found(
        facts,
        "I4",
        f"{whose} late to collective calls, and the others wait there for {whole:.3g} s in the mean "
        f"({names(mpi.paths[i] for i in ordered)})"
        + (f", {min(spent, whole):.3g} s of it for its I/O" if by_io else ""),
        whole,
        [
            *([starts] if traced else []),
            Evidence(
                "MPIIO_F_FASTEST_RANK_TIME",
                round(fastest, 3),
                "seconds of the rank that spends least" + ("" if by_turns else f": rank {rank}"),
            ),
            Evidence("MPIIO_F_SLOWEST_RANK_TIME", round(slowest, 3), "seconds of the rank that spends most"),
            Evidence(
                "MPIIO_F_READ_TIME + _WRITE_TIME + _META_TIME",
                round(of_all, 3),
                "seconds of the mean rank",
            ),
            Evidence(
                "POSIX_F_SLOWEST_RANK_TIME",
                round(sum(float(facts.posix.slowest[at]) for at in _below(facts, ordered)), 3),
                "seconds of the busiest rank in the file system",
            ),
        ],
        files=[*own, *(mpi.paths[i] for i in ordered)] if by_io else [mpi.paths[i] for i in ordered],
        calls=DATA if by_io else (),  # the time of collective calls is not theirs
        variant="io" if by_io else "turns" if in_turn else "",
        whole=whole,
        part=share(by_rank[rank] / whole),
        own=names(own),
        spent=spent,
        confidence=0.8,
        module="MPI-IO",
        rank=rank,
        fastest=fastest,
        slowest=slowest,
    )


def _own_files(facts: Facts, rank: int) -> tuple[list[str], float]:
    """Files with data that RANK has for itself, and the seconds that it is in such files more than the mean rank."""
    by_path: dict[str, float] = {}
    spent = 0.0
    for use in (facts.posix, facts.stdio):
        data = use.raw("F_READ_TIME") + use.raw("F_WRITE_TIME")
        spent += float(use.of_own(data)[rank] - use.of_own(data).mean())
        for i, path in enumerate(use.rows.paths):
            if use.rows.ranks[i] == rank and data[i] > 0 and facts.mpi.index(path) is None:
                by_path[path] = float(data[i])
    return sorted(by_path, key=lambda path: -by_path[path]), max(0.0, spent) if by_path else 0.0


def _fastest_rank(mpi: Use, i: int) -> int:
    of_file = [k for k, path in enumerate(mpi.rows.paths) if path == mpi.paths[i]]
    if mpi.is_shared[i]:
        return int(max(mpi.raw("FASTEST_RANK")[of_file]))
    seconds = [float(sum(mpi.raw(f"F_{verb}_TIME")[k] for verb in CALLS)) for k in of_file]
    return int(mpi.rows.ranks[of_file[int(np.argmin(seconds))]])


def _below(facts: Facts, of_mpi: list[int]) -> Iterator[int]:
    for i in of_mpi:
        if (at := facts.posix_of(facts.mpi.paths[i])) is not None:
            yield at


RULES = (late, uneven, slow_target, serial, crowded_nodes)
