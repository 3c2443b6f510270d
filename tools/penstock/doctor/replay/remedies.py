"""remedies.py: of a finding, its pattern as it is and as its remedies would have it; or why it cannot be replayed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from penstock.doctor.facts import MIB, Facts
from penstock.doctor.finding import Finding
from penstock.doctor.replay import source
from penstock.doctor.replay.source import Source
from penstock.doctor.replay.steps import (
    BROADCAST,
    CLOSE,
    OPEN,
    READ,
    STAT,
    SYNC,
    WRITE,
    Extents,
    Steps,
    Variant,
    extents,
    joined,
    nothing,
    shared_out,
    steps,
    together,
)  # fmt: skip

AGAIN = "before, again"  # the A/A control
CALL = 4 * MIB  # of a rank in one collective call
BUFFER = 16 * MIB
MOST_FILES = 2000

NOT_HERE = {
    "C3": "storage targets are the file system's own: a replay elsewhere shows nothing",
    "I2": "a slow target is that file system's own: a replay elsewhere shows nothing",
    "T1": "time-outs are that file system's own: a replay elsewhere shows nothing",
    "N1-nfs": "the locks are those of NFS: name a folder on NFS with --dir",
    "H1": "a hint that is not taken moves nothing",
    "O1": "what computing would hide is not in a log",
    "P1": "one node is replayed, not the crowding of several",
    "S1": "what text says is not in a log",
    "M3": "the growth with ranks is the finding: the model carries it on",
}


@dataclass(frozen=True)
class Trial:
    path: str
    variants: Sequence[Variant]  # as it is, the same again, and remedies
    exact: bool
    note: str


@dataclass(frozen=True)
class Asked:
    facts: Facts
    finding: Finding
    path: str
    ranks: int


def trial(facts: Facts, finding: Finding, ranks: int, kind: str) -> Trial | str:
    """RANKS at most, on a file system of KIND; a text says why there is none."""
    of_nfs = any(facts.file_system(path).startswith("nfs") for path in finding.files[:1])
    if finding.rule == "N1" and of_nfs and not kind.startswith("nfs"):
        return NOT_HERE["N1-nfs"]
    if (make := TRIALS.get(finding.rule)) is None:
        return NOT_HERE.get(finding.rule, "nothing is known that replays it")
    if not finding.files:
        return "it names no file"
    return make(Asked(facts, finding, finding.files[0], ranks))


def _trial(asked: Asked, found: Source, before: Variant, *remedies: Variant) -> Trial:
    return Trial(asked.path, [before, replace(before, name=AGAIN), *remedies], found.exact, found.note)


def _of_mpi(asked: Asked, verb: str) -> Source:
    at = asked.facts.mpi.index(asked.path)
    assert at is not None
    if asked.facts.mpi.of("VIEWS")[at] == 0:  # in a view offsets are not those of the file
        exact = source.logged(asked.facts, "MPI-IO", asked.path, asked.ranks)
        if exact is not None:
            act = READ if verb == "READ" else WRITE
            kept = [joined(one[one["act"] == act]) for one in exact.steps]
            if any(map(len, kept)):
                return replace(exact, steps=kept)
    return source.of_mpi(asked.facts, asked.path, verb, asked.ranks)


def _of_posix(asked: Asked, verb: str) -> Source:
    exact = source.logged(asked.facts, "POSIX", asked.path, asked.ranks)
    if exact is not None:
        act = READ if verb == "READ" else WRITE
        kept = [joined(one[one["act"] == act]) for one in exact.steps]
        if any(map(len, kept)):
            return replace(exact, steps=kept)
    return source.of_posix(asked.facts, asked.path, verb, asked.ranks)


def _mpi(name: str, of: Sequence[Steps], found: Source, collective: bool, **hints: str) -> Variant:
    return Variant(name, of, "mpiio", collective, found.views, hints)


def _sieving(asked: Asked) -> Trial | str:
    """A1, A2: what sieving reads and writes back."""
    mpi = asked.facts.mpi
    if (i := mpi.index(asked.path)) is None:
        return _large_writes(asked)
    verb = source.verb_of(mpi, i)
    found = source.of_mpi(asked.facts, asked.path, verb, asked.ranks)
    if not found.views:
        return "its counters do not say which pieces are sieved"
    word = verb.lower()
    collective = bool(mpi.collective[i])
    alone = asked.facts.posix.movers[asked.facts.posix.index(asked.path) or 0] > 0.5 * mpi.rank_count[i]
    cb = {f"romio_cb_{word}": "disable" if alone else "enable"} if collective else {}
    before = _mpi("before", found.steps, found, collective, **cb)
    return _trial(
        asked, found, before,
        _mpi(f"romio_ds_{word}=disable", found.steps, found, collective, **cb, **{f"romio_ds_{word}": "disable"}),
        _mpi(f"collective, romio_cb_{word}=enable", found.steps, found, True, **{f"romio_cb_{word}": "enable"}),
    )  # fmt: skip


def _large_writes(asked: Asked) -> Trial:
    """A2 without MPI-IO: the program's bytes alone, without what is read and written back."""
    found = _of_posix(asked, "WRITE")
    both = [joined(*(_read_back(one), one)) for one in found.steps]
    return _trial(
        asked, replace(found, note=f"{found.note}; each write with a read of the same bytes before it"),
        Variant("before", [_interleaved(one, len(one) // 2) for one in both]),
        Variant("whole blocks, nothing read", found.steps),
    )  # fmt: skip


def _read_back(of: Steps) -> Steps:
    made = of.copy()
    made["act"] = READ
    return made


def _interleaved(of: Steps, half: int) -> Steps:
    return joined(of[np.arange(2 * half).reshape(2, half).T.ravel()])


def _collective(asked: Asked) -> Trial | str:
    """C5, A7, N1: by itself, and together."""
    i = asked.facts.mpi.index(asked.path)
    assert i is not None
    reads = float(asked.facts.mpi.of("INDEP_READS")[i]) > float(asked.facts.mpi.of("INDEP_WRITES")[i])
    found = _of_mpi(asked, "READ" if reads else "WRITE")
    word = "read" if reads else "write"
    hint = {f"romio_cb_{word}": "enable"}
    gathered = together(found.steps, READ if reads else WRITE, CALL)
    views = Source(gathered, found.exact, True)
    return _trial(
        asked, found, _mpi("before", found.steps, found, False),
        _mpi(f"MPI_File_{word}_all in a view, {CALL // MIB} MiB a call", gathered, views, True, **hint),
        *([] if _uneven(found) else [_mpi(f"MPI_File_{word}_at_all", found.steps, found, True, **hint)]),
    )  # fmt: skip


def _uneven(found: Source) -> bool:
    """Whether ranks make different numbers of calls, which would have to be made up for."""
    return len({len(one) for one in found.steps}) > 1


def _aggregators(asked: Asked) -> Trial | str:
    """C1, C2: more aggregators, none, fewer and larger calls."""
    facts = asked.facts
    i = facts.mpi.index(asked.path)
    if i is None:
        return "its file is not one of MPI-IO"
    verb = source.verb_of(facts.mpi, i)
    found = _of_mpi(asked, verb)
    act, word = (READ, "read") if verb == "READ" else (WRITE, "write")
    at = facts.posix.index(asked.path)
    writers = 1 if at is None else max(1, min(asked.ranks, round(float(facts.posix.movers[at]))))
    more = max(2, min(asked.ranks, 2 * writers if writers > 1 else 8))
    enable = {f"romio_cb_{word}": "enable", "cb_config_list": "*:*"}
    remedies = [_mpi(f"cb_nodes={more}", found.steps, found, True, **enable, cb_nodes=str(more))]
    if not found.views and _mean(found) >= MIB:
        remedies.append(_mpi(f"romio_cb_{word}=disable", found.steps, found, True, **{f"romio_cb_{word}": "disable"}))
    if max(map(len, found.steps)) > 1 and not found.views and _mean(found) < CALL / 2:
        gathered = together(found.steps, act, CALL)
        hints = enable | {"cb_nodes": str(writers)}
        remedies.append(_mpi("larger calls", gathered, Source(gathered, found.exact, True), True, **hints))
    before = _mpi(f"before, cb_nodes={writers}", found.steps, found, True, **enable, cb_nodes=str(writers))
    return _trial(asked, found, before, *remedies)


def _mean(found: Source) -> float:
    return sum(float(one["length"].sum()) for one in found.steps) / max(1, sum(map(len, found.steps)))


def _buffered(asked: Asked) -> Trial | str:
    """C6: collective calls that go one by one."""
    i = asked.facts.mpi.index(asked.path)
    assert i is not None
    verb = source.verb_of(asked.facts.mpi, i)
    word = verb.lower()
    found = _of_mpi(asked, verb)
    enable = {f"romio_cb_{word}": "enable", "cb_buffer_size": str(BUFFER)}
    return _trial(
        asked, found, _mpi("before", found.steps, found, True, **{f"romio_cb_{word}": "disable"}),
        _mpi(f"romio_cb_{word}=enable, cb_buffer_size={BUFFER}", found.steps, found, True, **enable),
    )  # fmt: skip


def _unbuffered(asked: Asked) -> Trial | str:
    """C7: long contiguous pieces that are exchanged first."""
    i = asked.facts.mpi.index(asked.path)
    assert i is not None
    verb = source.verb_of(asked.facts.mpi, i)
    word = verb.lower()
    found = _of_mpi(asked, verb)
    return _trial(
        asked, found, _mpi("before", found.steps, found, True, **{f"romio_cb_{word}": "enable"}),
        _mpi(f"romio_cb_{word}=disable", found.steps, found, True, **{f"romio_cb_{word}": "disable"}),
    )  # fmt: skip


def _once(asked: Asked) -> Trial | str:
    """A3: what is read again and again, read once; what other ranks read as well, handed on."""
    found = _of_posix(asked, "READ")
    of_ranks = sum(int((one[:, 2] - one[:, 1]).sum()) for one in (extents([each], READ) for each in found.steps))
    whole = extents(found.steps, READ)
    unique = int((whole[:, 2] - whole[:, 1]).sum())
    if of_ranks <= 1.5 * unique:
        kept = [shared_out(extents([one], READ), 1, READ)[0] for one in found.steps]
        return _trial(asked, found, Variant("before", found.steps), Variant("each byte once", kept))
    ranks = len(found.steps)
    parts = shared_out(whole, ranks, READ)
    handed = _handed_on([int(one["length"].sum()) for one in parts])
    made = [joined(own, handed) for own in parts]
    return _trial(asked, found, Variant("before", found.steps), Variant("read once, MPI_Bcast", made))


def _handed_on(lengths: Sequence[int]) -> Steps:
    owners = np.repeat(np.arange(len(lengths)), [-(-length // (64 * MIB)) for length in lengths])
    each = [min(64 * MIB, length - at) for length in lengths for at in range(0, length, 64 * MIB)]
    return steps(BROADCAST, np.zeros(len(owners), np.int64), np.array(each, np.int64), owners) if each else nothing()


def _gathered(asked: Asked) -> Trial | str:
    """A4: small accesses, gathered: in each rank where they follow each other, else among ranks."""
    facts = asked.facts
    at = facts.posix.index(asked.path)
    assert at is not None
    verb = source.verb_of(facts.posix, at)
    act = READ if verb == "READ" else WRITE
    found = _of_posix(asked, verb)
    alone = [shared_out(extents([one], act), 1, act)[0] for one in found.steps]
    remedies = [Variant("a MiB and more at once", alone)]
    if sum(map(len, alone)) > 0.5 * sum(map(len, found.steps)):
        gathered = together(found.steps, act, CALL)
        hint = {f"romio_cb_{verb.lower()}": "enable"}
        remedies = [_mpi("collective, in a view", gathered, Source(gathered, found.exact, True), True, **hint)]
    return _trial(asked, found, Variant("before", found.steps), *remedies)


def _in_order(asked: Asked) -> Trial | str:
    """A5."""
    at = asked.facts.posix.index(asked.path)
    assert at is not None
    verb = source.verb_of(asked.facts.posix, at)
    found = _of_posix(asked, verb)
    ordered = [joined(one[np.argsort(one["offset"], kind="stable")]) for one in found.steps]
    return _trial(asked, found, Variant("before", found.steps), Variant("in the order of the file", ordered))


def _aligned(asked: Asked) -> Trial | str:
    """A6."""
    at = asked.facts.posix.index(asked.path)
    assert at is not None
    block = int(asked.facts.posix.most("FILE_ALIGNMENT")[at])
    found = _of_posix(asked, "WRITE")
    whole = extents(found.steps, WRITE)
    return _trial(
        asked, found, Variant("before", found.steps),
        Variant(f"whole blocks of {block}", shared_out(whole, len(found.steps), WRITE, block)),
    )  # fmt: skip


def _shared(asked: Asked) -> Trial | str:
    """I1, I3: the bytes of few, by all alike."""
    posix = asked.facts.posix
    at = posix.index(asked.path)
    if at is None:
        return "its file is not one of POSIX"
    verb = source.verb_of(posix, at)
    act = READ if verb == "READ" else WRITE
    found = source.logged(asked.facts, "POSIX", asked.path, asked.ranks)
    if found is None and asked.finding.rule == "I1":
        return "how uneven the ranks are takes a log with every access"
    if found is None or not any(map(len, found.steps)):
        found = source.of_posix(asked.facts, asked.path, verb, asked.ranks)
    padded = [*found.steps, *(nothing() for _ in range(asked.ranks - len(found.steps)))]
    kept = [joined(one[one["act"] == act]) for one in padded]
    whole: Extents = extents(kept, act)
    return _trial(asked, found, Variant("before", kept), Variant("by all ranks", shared_out(whole, asked.ranks, act)))


def _synced_once(asked: Asked) -> Trial | str:
    """T2."""
    posix = asked.facts.posix
    at = posix.index(asked.path)
    assert at is not None
    found = _of_posix(asked, "WRITE")
    every = max(1, round(float(posix.of("WRITES")[at]) / max(1.0, float(posix.of("FSYNCS")[at]))))
    often = [_with_syncs(one, every) for one in found.steps]
    note = f"{found.note}; a sync after every {every} writes"
    return _trial(
        asked, replace(found, note=note), Variant("before", often),
        Variant("one sync at the end", [_with_syncs(one, max(1, len(one))) for one in found.steps]),
    )  # fmt: skip


def _with_syncs(of: Steps, every: int) -> Steps:
    places = np.arange(every, len(of) + 1, every)
    made = np.insert(of, places, np.zeros(1, of.dtype)) if len(places) else of.copy()
    at = places + np.arange(len(places))
    made["act"][at], made["file"][at] = SYNC, of["file"][0] if len(of) else 0
    return joined(made)


def _metadata(asked: Asked) -> Trial | str:
    """M1, M4: a file for each rank and more, against one for all, opened once."""
    posix = asked.facts.posix
    chosen = [i for path in asked.finding.files if (i := posix.index(path)) is not None]
    opens, stats = (float(posix.of(f"{name}S")[chosen].sum()) for name in ("OPEN", "STAT"))
    used = max(1, min(MOST_FILES, len(chosen)))
    per_rank = max(1, min(2000, round(opens / asked.facts.ranks)))
    asks = min(20, round(stats / max(opens, 1)))
    written = float((posix.of("BYTES_WRITTEN"))[chosen].sum())
    each = int(min(written / max(opens, 1), MOST_BYTES_OF_FILES / (asked.ranks * per_rank)))
    shared = bool(posix.is_shared[chosen].any())
    count = asked.ranks * per_rank
    before, after = [], []
    for rank in range(asked.ranks):
        number = np.arange(per_rank)
        file = (number if shared else rank * per_rank + number) % max(1, min(used, count) if shared else count)
        places = (rank * per_rank + number) * each
        acts = [STAT] * asks + [OPEN] + ([WRITE] if each else []) + [CLOSE]
        one = steps(
            np.tile(acts, per_rank), np.repeat(places if shared else np.zeros_like(places), len(acts)),
            np.tile([each if act == WRITE else 0 for act in acts], per_rank), np.repeat(file, len(acts)),
        )  # fmt: skip
        before.append(one)
        rest = steps(WRITE, places, np.full(per_rank, each)) if each else nothing()
        after.append(joined(steps([OPEN], 0, 0), rest, steps([CLOSE], 0, 0)))
    told = f"{asked.ranks} ranks, {per_rank} opens and {asks * per_rank} stats each, {each} bytes in each file"
    return _trial(
        asked, Source(before, False, note=told), Variant("before", before), Variant("one file, opened once", after)
    )  # fmt: skip


MOST_BYTES_OF_FILES = 64 * MIB


def _few_open(asked: Asked) -> Trial | str:
    """M2: all open what few move."""
    posix = asked.facts.posix
    at = posix.index(asked.path)
    assert at is not None
    opens = max(1, round(float(posix.of("OPENS")[at]) / float(posix.rank_count[at])))
    of_rank = steps(np.tile([OPEN, CLOSE], opens), 0, 0)
    before = [of_rank for _ in range(asked.ranks)]
    few = max(1, asked.ranks // 8)
    after = [of_rank if rank < few else nothing() for rank in range(asked.ranks)]
    told = f"{asked.ranks} ranks, {opens} opens each"
    return _trial(asked, Source(before, False, note=told), Variant("before", before), Variant("deferred open", after))


TRIALS: dict[str, Callable[[Asked], Trial | str]] = {
    "C1": _aggregators, "C2": _aggregators, "C5": _collective, "C6": _buffered, "C7": _unbuffered, "N1": _collective,
    "A1": _sieving, "A2": _sieving, "A3": _once, "A4": _gathered, "A5": _in_order, "A6": _aligned, "A7": _collective,
    "I1": _shared, "I3": _shared, "T2": _synced_once, "M1": _metadata, "M2": _few_open, "M4": _metadata,
}  # fmt: skip
