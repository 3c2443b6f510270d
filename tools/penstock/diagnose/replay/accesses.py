"""accesses.py: the accesses themselves: once, gathered, in order, aligned, by all ranks, synced once."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from penstock.diagnose.facts import MIB
from penstock.diagnose.replay import source
from penstock.diagnose.replay.source import Source
from penstock.diagnose.replay.steps import (
    BROADCAST,
    READ,
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
)
from penstock.diagnose.replay.trial import Asked, Trial, comparison, of_posix, through_mpi

CALL = 4 * MIB  # of a rank in one collective call


def once(asked: Asked) -> Trial | str:
    """A3: data that is read repeatedly is read once; data that several ranks read is read by one and broadcast."""
    found = of_posix(asked, "READ")
    of_ranks = sum(int((one[:, 2] - one[:, 1]).sum()) for one in (extents([each], READ) for each in found.steps))
    whole = extents(found.steps, READ)
    unique = int((whole[:, 2] - whole[:, 1]).sum())
    if of_ranks <= 1.5 * unique:
        kept = [shared_out(extents([one], READ), 1, READ)[0] for one in found.steps]
        return comparison(asked, found, Variant("before", found.steps), Variant("each byte once", kept))
    ranks = len(found.steps)
    parts = shared_out(whole, ranks, READ)
    handed = _handed_on([int(one["length"].sum()) for one in parts])
    made = [joined(own, handed) for own in parts]
    return comparison(asked, found, Variant("before", found.steps), Variant("read once, MPI_Bcast", made))


def _handed_on(lengths: Sequence[int]) -> Steps:
    owners = np.repeat(np.arange(len(lengths)), [-(-length // (64 * MIB)) for length in lengths])
    each = [min(64 * MIB, length - at) for length in lengths for at in range(0, length, 64 * MIB)]
    return steps(BROADCAST, np.zeros(len(owners), np.int64), np.array(each, np.int64), owners) if each else nothing()


def gathered(asked: Asked) -> Trial | str:
    """A4: small accesses, gathered: in each rank where they follow each other, else among ranks."""
    facts = asked.facts
    at = facts.posix.index(asked.path)
    assert at is not None
    verb = source.verb_of(facts.posix, at)
    act = READ if verb == "READ" else WRITE
    found = of_posix(asked, verb)
    alone = [shared_out(extents([one], act), 1, act)[0] for one in found.steps]
    remedies = [Variant("a MiB and more at once", alone)]
    if sum(map(len, alone)) > 0.5 * sum(map(len, found.steps)):
        gathered = together(found.steps, act, CALL)
        hint = {f"romio_cb_{verb.lower()}": "enable"}
        remedies = [through_mpi("collective, in a view", gathered, Source(gathered, found.exact, True), True, **hint)]
    return comparison(asked, found, Variant("before", found.steps), *remedies)


def in_order(asked: Asked) -> Trial | str:
    """A5."""
    at = asked.facts.posix.index(asked.path)
    assert at is not None
    verb = source.verb_of(asked.facts.posix, at)
    found = of_posix(asked, verb)
    ordered = [joined(one[np.argsort(one["offset"], kind="stable")]) for one in found.steps]
    return comparison(asked, found, Variant("before", found.steps), Variant("in the order of the file", ordered))


def aligned(asked: Asked) -> Trial | str:
    """A6."""
    at = asked.facts.posix.index(asked.path)
    assert at is not None
    block = int(asked.facts.posix.most("FILE_ALIGNMENT")[at])
    found = of_posix(asked, "WRITE")
    whole = extents(found.steps, WRITE)
    return comparison(
        asked, found, Variant("before", found.steps),
        Variant(f"whole blocks of {block}", shared_out(whole, len(found.steps), WRITE, block)),
    )  # fmt: skip


def by_all(asked: Asked) -> Trial | str:
    """I1, I3: the bytes of a few ranks, shared evenly by all ranks."""
    posix = asked.facts.posix
    at = posix.index(asked.path)
    if at is None:
        return "its file is not one of POSIX"
    verb = source.verb_of(posix, at)
    act = READ if verb == "READ" else WRITE
    found = source.logged(asked.facts, "POSIX", asked.path, asked.ranks, asked.most)
    if found is None and asked.finding.rule == "I1":
        return "how uneven the ranks are takes a log with every access"
    if found is None or not any(map(len, found.steps)):
        found = source.of_posix(asked.facts, asked.path, verb, asked.ranks, asked.most)
    padded = [*found.steps, *(nothing() for _ in range(asked.ranks - len(found.steps)))]
    kept = [joined(one[one["act"] == act]) for one in padded]
    whole: Extents = extents(kept, act)
    return comparison(
        asked, found, Variant("before", kept), Variant("by all ranks", shared_out(whole, asked.ranks, act))
    )


def synced_once(asked: Asked) -> Trial | str:
    """T2."""
    posix = asked.facts.posix
    at = posix.index(asked.path)
    assert at is not None
    found = of_posix(asked, "WRITE")
    every = max(1, round(float(posix.of("WRITES")[at]) / max(1.0, float(posix.of("FSYNCS")[at]))))
    often = [_with_syncs(one, every) for one in found.steps]
    note = f"{found.note}; a sync after {'each write' if every == 1 else f'every {every} writes'}"
    return comparison(
        asked, replace(found, note=note), Variant("before", often),
        Variant("one sync at the end", [_with_syncs(one, max(1, len(one))) for one in found.steps]),
    )  # fmt: skip


def _with_syncs(of: Steps, every: int) -> Steps:
    places = np.arange(every, len(of) + 1, every)
    made = np.insert(of, places, np.zeros(1, of.dtype)) if len(places) else of.copy()
    at = places + np.arange(len(places))
    made["act"][at], made["file"][at] = SYNC, of["file"][0] if len(of) else 0
    return joined(made)
