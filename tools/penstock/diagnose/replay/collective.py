"""collective.py: MPI-IO's patterns: by itself and together, with and without buffers, sieving, aggregators."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from penstock.diagnose.facts import MIB
from penstock.diagnose.replay import source
from penstock.diagnose.replay.accesses import CALL
from penstock.diagnose.replay.source import Source
from penstock.diagnose.replay.steps import READ, WRITE, Steps, Variant, joined, together
from penstock.diagnose.replay.trial import Asked, Trial, comparison, mean, of_mpi, of_posix, through_mpi, uneven
from penstock.diagnose.rules.sieved import is_buffered

BUFFER = 16 * MIB
MOST_CALLS = 500  # of a rank, collective, in one way


def sieving(asked: Asked) -> Trial | str:
    """A1, A2: what sieving reads and writes back."""
    mpi = asked.facts.mpi
    if (i := mpi.index(asked.path)) is None:
        return _large_writes(asked)
    verb = source.verb_of(mpi, i)
    found = source.of_mpi(asked.facts, asked.path, verb, asked.ranks, asked.most)
    if not found.views:
        return "its counters do not say which pieces are sieved"
    word = verb.lower()
    collective = bool(mpi.collective[i])
    buffered, sieved = {f"romio_cb_{word}": "enable"}, {f"romio_cb_{word}": "disable"}
    unsieved = {f"romio_ds_{word}": "disable"}
    if is_buffered(asked.facts, asked.path):
        before = through_mpi("before", found.steps, found, True, **buffered)
        remedies = [
            through_mpi(f"romio_cb_{word}=disable, romio_ds_{word}=disable", found.steps, found, True,
                        **sieved, **unsieved),
            through_mpi("collective, without holes", _closed(found.steps), found, True, **buffered),
        ]  # fmt: skip
    else:
        cb = sieved if collective else {}
        before = through_mpi("before", found.steps, found, collective, **cb)
        remedies = [
            through_mpi(f"romio_ds_{word}=disable", found.steps, found, collective, **cb, **unsieved),
            through_mpi(f"collective, romio_cb_{word}=enable", found.steps, found, True, **buffered),
        ]
    return replace(comparison(asked, found, before, *remedies), sieves=True)


def _closed(of: Sequence[Steps]) -> list[Steps]:
    """The same pieces in the same order of the file, each where the one before it ends."""
    whole = np.concatenate(of)
    order = np.argsort(whole["offset"], kind="stable")
    lengths = whole["length"][order]
    whole["offset"][order] = np.cumsum(lengths) - lengths
    return list(np.split(whole, np.cumsum([len(one) for one in of])[:-1]))


def _large_writes(asked: Asked) -> Trial:
    """A2 without MPI-IO: the program's bytes alone, without what is read and written back."""
    found = of_posix(asked, "WRITE")
    both = [joined(*(_read_back(one), one)) for one in found.steps]
    return comparison(
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


def together_or_not(asked: Asked) -> Trial | str:
    """C5, A7, N1: by itself, and together."""
    i = asked.facts.mpi.index(asked.path)
    assert i is not None
    reads = float(asked.facts.mpi.of("INDEP_READS")[i]) > float(asked.facts.mpi.of("INDEP_WRITES")[i])
    found = of_mpi(asked, "READ" if reads else "WRITE")
    word = "read" if reads else "write"
    hint = {f"romio_cb_{word}": "enable"}
    gathered = together(found.steps, READ if reads else WRITE, CALL)
    views = Source(gathered, found.exact, True)
    remedies = [through_mpi(f"MPI_File_{word}_all in a view, {CALL // MIB} MiB a call", gathered, views, True, **hint)]
    if not uneven(found) and max(map(len, found.steps)) <= MOST_CALLS:
        remedies.append(through_mpi(f"MPI_File_{word}_at_all", found.steps, found, True, **hint))
    return comparison(asked, found, through_mpi("before", found.steps, found, False), *remedies)


def aggregators(asked: Asked) -> Trial | str:
    """C1, C2, C4: more aggregators, fewer and larger calls."""
    facts = asked.facts
    i = facts.mpi.index(asked.path)
    if i is None:
        return "its file is not one of MPI-IO"
    verb = source.verb_of(facts.mpi, i)
    found = of_mpi(asked, verb)
    act, word = (READ, "read") if verb == "READ" else (WRITE, "write")
    at = facts.posix.index(asked.path)
    writers = 1 if at is None else max(1, min(asked.ranks, round(float(facts.posix.movers[at]))))
    more = max(2, min(asked.ranks, 2 * writers if writers > 1 else 8))
    enable = {f"romio_cb_{word}": "enable", "cb_config_list": "*:*"}
    remedies = [through_mpi(f"cb_nodes={more}", found.steps, found, True, **enable, cb_nodes=str(more))]
    if max(map(len, found.steps)) > 1 and not found.views and mean(found) < CALL / 2:
        gathered = together(found.steps, act, CALL)
        hints = enable | {"cb_nodes": str(writers)}
        remedies.append(through_mpi("larger calls", gathered, Source(gathered, found.exact, True), True, **hints))
    before = through_mpi(f"before, cb_nodes={writers}", found.steps, found, True, **enable, cb_nodes=str(writers))
    return comparison(asked, found, before, *remedies)


def buffered(asked: Asked) -> Trial | str:
    """C6: collective calls that go one by one."""
    i = asked.facts.mpi.index(asked.path)
    assert i is not None
    verb = source.verb_of(asked.facts.mpi, i)
    word = verb.lower()
    found = of_mpi(asked, verb)
    enable = {f"romio_cb_{word}": "enable", "cb_buffer_size": str(BUFFER)}
    return comparison(
        asked, found, through_mpi("before", found.steps, found, True, **{f"romio_cb_{word}": "disable"}),
        through_mpi(f"romio_cb_{word}=enable, cb_buffer_size={BUFFER}", found.steps, found, True, **enable),
    )  # fmt: skip


def unbuffered(asked: Asked) -> Trial | str:
    """C7: long contiguous pieces that are exchanged first."""
    i = asked.facts.mpi.index(asked.path)
    assert i is not None
    verb = source.verb_of(asked.facts.mpi, i)
    word = verb.lower()
    found = of_mpi(asked, verb)
    return comparison(
        asked, found, through_mpi("before", found.steps, found, True, **{f"romio_cb_{word}": "enable"}),
        through_mpi(f"romio_cb_{word}=disable", found.steps, found, True, **{f"romio_cb_{word}": "disable"}),
    )  # fmt: skip
