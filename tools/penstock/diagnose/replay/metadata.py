"""metadata.py: replays of many files against one, and of files that only a few ranks need to open."""

import numpy as np

from penstock.diagnose.facts import MIB
from penstock.diagnose.replay.source import Source
from penstock.diagnose.replay.steps import CLOSE, OPEN, READ, STAT, WRITE, Variant, joined, nothing, steps
from penstock.diagnose.replay.trial import Asked, Trial, comparison

MOST_FILES = 2000
MOST_STATS = 20  # for each open
MOST_BYTES_OF_FILES = 64 * MIB
FEWEST_OPENS = 200  # of a rank: a handful takes no time
LEAST_OPENS = 20  # where time is short


def many_files(asked: Asked) -> Trial | str:
    """M1, M4: many files, asked for, opened, moved a little and closed, against one file for all, opened once."""
    facts, posix = asked.facts, asked.facts.posix
    chosen = np.flatnonzero(posix.of("OPENS") > 0)
    opens, stats = (float(posix.of(name)[chosen].sum()) for name in ("OPENS", "STATS"))
    read, written = (float(posix.of(name)[chosen].sum()) for name in ("BYTES_READ", "BYTES_WRITTEN"))
    act, moved = (READ, read) if read > written else (WRITE, written)
    asks = min(MOST_STATS, round(stats / max(opens, 1)))
    of_rank = max(FEWEST_OPENS, min(MOST_FILES, round(opens / facts.ranks)))
    of_rank = max(LEAST_OPENS, min(of_rank, asked.most.steps // (asked.ranks * (asks + 3))))
    each = int(min(moved / max(opens, 1), MOST_BYTES_OF_FILES / (asked.ranks * of_rank)))
    shared = bool(posix.is_shared[chosen].all())
    files = min(of_rank, max(1, len(chosen) if shared else round(len(chosen) / facts.ranks)))
    acts = [*[STAT] * asks, OPEN, *([act] if each else []), CLOSE]
    number = np.arange(of_rank)
    before, after = [], []
    for rank in range(asked.ranks):
        places = (rank * of_rank + number) * each
        file = number % files + (0 if shared else rank * files)
        lengths = np.tile([each if one == act else 0 for one in acts], of_rank)
        offsets = np.repeat(places if shared else number // files * each, len(acts))
        before.append(steps(np.tile(acts, of_rank), offsets, lengths, np.repeat(file, len(acts))))
        rest = steps(act, places, each) if each else nothing()
        after.append(joined(steps([OPEN], 0, 0), rest, steps([CLOSE], 0, 0)))
    told = f"{asked.ranks} ranks, {of_rank} opens and {asks * of_rank} stats each, {each} bytes at a time"
    found = Source(before, False, note=told)
    return comparison(asked, found, Variant("before", before), Variant("one file, opened once", after))


def few_open(asked: Asked) -> Trial | str:
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
    return comparison(
        asked, Source(before, False, note=told), Variant("before", before), Variant("deferred open", after)
    )
