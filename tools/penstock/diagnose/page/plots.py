"""plots.py: the pictures of a diagnosis: where the time goes, which ranks when, which offsets, what would be saved."""

from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.base.pages import svg
from penstock.base.pages.frame import WIDE, Plot
from penstock.diagnose import record
from penstock.diagnose.diagnosis import Diagnosis
from penstock.diagnose.facts import STREAMS
from penstock.diagnose.finding import INFO
from penstock.diagnose.record import functions
from penstock.diagnose.rules.common import share, size
from penstock.jobs.job import SEGMENT, Job

ROWS, COLUMNS = 256, 400  # of a picture of ranks by time at most
POINTS = 6000  # accesses drawn at most
MOST_SHAPES = 1500  # of one picture: more become pixels
MOST_SITES = 12
KINDS = ("read", "write", "metadata")
HATCHES = ("", "///", "...")
CLASSES = ((1 << 12, "up to 4 KiB"), (1 << 16, "to 64 KiB"), (1 << 20, "to 1 MiB"), (1 << 24, "to 16 MiB"), (0, "more"))


def where(diagnosis: Diagnosis) -> Plot | None:
    """Seconds of the mean rank by interface and kind of call."""
    parts = functions(diagnosis.facts)
    if not parts:
        return None
    modules = list(dict.fromkeys(part["module"] for part in parts))
    made, axes = svg.figure(WIDE, 0.9 + 0.4 * len(modules))
    plot = axes[0][0]
    for index, kind in enumerate(KINDS):
        widths = [sum(p["seconds"] for p in parts if (p["module"], p["kind"]) == (module, kind)) for module in modules]
        left = [
            sum(p["seconds"] for p in parts if p["module"] == module and KINDS.index(p["kind"]) < index)
            for module in modules
        ]
        plot.barh(
            modules, widths, left=left, height=0.6, color=svg.SERIES[index], hatch=HATCHES[index],
            edgecolor=svg.PAPER, label=kind,
        )  # fmt: skip
    plot.set_xlim(0, diagnosis.job.seconds)
    plot.invert_yaxis()
    plot.set_xlabel(f"seconds of the mean rank; the run took {diagnosis.job.seconds:.4g} s")
    plot.legend(loc="upper left", bbox_to_anchor=(0, -0.35), ncols=3)
    rows = [
        (p["module"], p["kind"], f"{p['seconds']:.4g} s", share(p["seconds"] / diagnosis.job.seconds)) for p in parts
    ]
    text = "Seconds of the mean rank: " + "; ".join(f"{row[0]} {row[1]} {row[2]} ({row[3]})" for row in rows) + "."
    heads = ("interface", "kind", "mean rank", "of the run")
    return Plot("where", "Where the time of the mean rank goes", svg.text_of(made), text, heads, rows)


def call_sites(diagnosis: Diagnosis) -> Plot | None:
    """Seconds of the mean rank by function and place, of a profile."""
    found = record.call_sites(diagnosis.job)[:MOST_SITES]
    if not found:
        return None
    made, axes = svg.figure(WIDE, 0.8 + 0.45 * len(found))
    plot = axes[0][0]
    labels = [svg.wrapped(f"{one.function} from {one.place}", 52) for _, one in found]
    plot.barh(labels, [one.seconds for _, one in found], height=0.6, color=svg.SERIES[0])
    plot.invert_yaxis()
    plot.set_xlabel("seconds of the mean rank")
    rows = [
        (one.function, one.place, share(part), f"{one.calls:,}", f"{one.seconds:.4g} s", f"{one.slowest_seconds:.4g} s")
        for part, one in found
    ]
    text = "Of the I/O time: " + "; ".join(f"{row[2]} in {row[0]} called from {row[1]}" for row in rows) + "."
    heads = ("function", "called from", "of I/O", "calls", "mean rank", "slowest rank")
    return Plot("call-sites", "Where I/O is called", svg.text_of(made), text, heads, rows)


def saved(diagnosis: Diagnosis) -> Plot | None:
    """Predicted savings of the findings, and what replay showed."""
    found = [one for one in diagnosis.findings if one.severity != INFO or one.replayed is not None]
    if not found:
        return None
    made, axes = svg.figure(WIDE, 0.8 + 0.45 * len(found))
    plot = axes[0][0]
    labels = [svg.wrapped(f"{one.rule} {one.title}", 52) for one in found]
    plot.barh(labels, [one.saved_seconds for one in found], height=0.55, color=svg.SERIES[2], label="predicted")
    replayed = [(row, one.replayed) for row, one in enumerate(found) if one.replayed is not None]
    for row, shown in replayed:
        seconds = shown.achieved_seconds
        plot.plot([seconds], [row], "D", color=svg.SERIES[1], label="after replay" if row == replayed[0][0] else None)
    plot.set_xlim(0, diagnosis.job.seconds)
    plot.invert_yaxis()
    plot.set_xlabel(f"seconds of {diagnosis.job.seconds:.4g}")
    if replayed:
        plot.legend(loc="lower right")
    rows = [
        (one.rule, one.title, f"{one.saved_seconds:.3g} s", f"{one.confidence:.0%}", _replay(one.replayed))
        for one in found
    ]
    text = "Seconds of the run that each finding would save: " + "; ".join(f"{r[0]} {r[2]}" for r in rows) + "."
    heads = ("rule", "finding", "would save", "confidence", "replayed")
    return Plot("saved", "What the findings would save", svg.text_of(made), text, heads, rows)


def _replay(shown: Any) -> str:
    if shown is None:
        return "not replayed"
    return f"{shown.before_seconds:.3g} s to {shown.after_seconds:.3g} s, {shown.outcome}"


def ranks_by_time(diagnosis: Diagnosis) -> Plot | None:
    line = diagnosis.facts.time_line
    if line is None or not (line.read.any() or line.written.any()):
        return None
    made, axes = svg.figure(WIDE, 3.4, 2, 1, sharex=True, height_ratios=(1, 2.2))
    total, ranks = axes[0][0], axes[1][0]
    both = line.read + line.written
    seconds = np.arange(both.shape[1]) * line.width
    for index, (name, part) in enumerate((("read", line.read), ("written", line.written))):
        rate = part.sum(axis=0) / line.width / (1 << 20)
        total.fill_between(seconds, rate, step="post", alpha=0.55, color=svg.SERIES[index], label=name, linewidth=0)
    total.set_ylabel("MiB/s")
    total.legend(loc="upper right", ncols=2)
    grid = _shrunk(both)
    with np.errstate(divide="ignore"):
        shown = np.ma.masked_less_equal(np.log10(np.maximum(grid, 1e-9)), 0)
    extent = (0, both.shape[1] * line.width, both.shape[0] - 0.5, -0.5)
    image = ranks.imshow(shown, aspect="auto", extent=extent, cmap="viridis", interpolation="nearest")
    ranks.set_ylabel("rank")
    ranks.set_xlabel("seconds from the start")
    ranks.grid(visible=False)
    bar = made.colorbar(image, ax=ranks, pad=0.01)
    bar.set_label("bytes, powers of ten")
    bar.outline.set_visible(False)
    found = diagnosis.phases
    rows = [
        (
            f"{one.start:.4g} s",
            f"{one.end:.4g} s",
            share(one.weight),
            size(one.read),
            size(one.written),
            str(len(one.ranks)),
        )
        for one in found
    ]
    how = "from every access" if line.exact else "from the log's heat map"
    text = (
        f"Bytes of each rank over time, {how}: {len(found)} bursts of {len(set().union(*(b.ranks for b in found)))} of "
        f"{diagnosis.job.ranks} ranks; the heaviest has {share(max(b.weight for b in found))} of their time."
    )
    heads = ("from", "to", "weight", "read", "written", "ranks")
    return Plot("ranks", "Which ranks move bytes, and when", svg.text_of(made), text, heads, rows)


def _shrunk(grid: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Returns GRID shrunk to at most ROWS by COLUMNS cells; each new cell is the sum of those it replaces."""
    rows, columns = (-(-grid.shape[0] // ROWS), -(-grid.shape[1] // COLUMNS))
    padded = np.zeros((-(-grid.shape[0] // rows) * rows, -(-grid.shape[1] // columns) * columns))
    padded[: grid.shape[0], : grid.shape[1]] = grid
    return np.asarray(
        padded.reshape(padded.shape[0] // rows, rows, padded.shape[1] // columns, columns).sum(axis=(1, 3))
    )


def offsets(diagnosis: Diagnosis) -> Plot | None:
    """Accesses of the file with most bytes: offset by time and rank by time, coloured by size."""
    if not diagnosis.job.has_traced:
        return None
    path, accesses, ranks, total = _accesses(diagnosis.job)
    if len(accesses) == 0:
        return None
    made, axes = svg.figure(WIDE, 4.6, 2, 1, sharex=True)
    chosen = _class(accesses["length"])
    many = len(accesses) > MOST_SHAPES
    unit, name = (1 << 30, "GiB") if accesses["offset"].max() >= 1 << 30 else (1 << 20, "MiB")
    rows = []
    for index, (_, label) in enumerate(CLASSES):
        of_class = chosen == index
        if not of_class.any():
            continue
        colour, marker = (svg.PIXELS if many else svg.SERIES)[index], svg.MARKERS[index]
        kept = accesses[of_class]
        for plot, values in ((axes[0][0], kept["offset"] / unit), (axes[1][0], ranks[of_class])):
            plot.scatter(
                kept["start"], values, s=9, marker=marker, color=colour, label=label, linewidths=0, alpha=0.8,
                rasterized=many,
            )  # fmt: skip
        rows.append((label, str(int(of_class.sum())), size(float(kept["length"].sum())), f"{kept['end'].max():.4g} s"))
    axes[0][0].set_ylabel(f"offset, {name}")
    axes[1][0].set_ylabel("rank")
    axes[1][0].yaxis.get_major_locator().set_params(integer=True)
    axes[1][0].set_xlabel("seconds from the start")
    axes[0][0].legend(loc="upper left", bbox_to_anchor=(0, 1.25), ncols=5, markerscale=1.6)
    drawn = "" if len(accesses) == total else f", {len(accesses)} of them drawn"
    text = f"{total} accesses of {path}{drawn}: " + "; ".join(f"{row[1]} of {row[0]}, {row[2]}" for row in rows) + "."
    heads = ("size of an access", "drawn", "bytes", "until")
    return Plot("offsets", f"Offsets, ranks and sizes over time: {path}", svg.text_of(made), text, heads, rows)


def _class(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return np.searchsorted([top for top, _ in CLASSES[:-1]], lengths)


def _accesses(job: Job) -> tuple[str, npt.NDArray[np.void], npt.NDArray[np.int64], int]:
    """Returns, for the file that moved most bytes, its path, an evenly thinned sample of its accesses, the rank of
    each, and how many accesses there are in all.
    """
    moved: dict[tuple[str, str], int] = {}
    for one in job.traced():
        if one.path not in STREAMS:
            key = (one.module, one.path)
            moved[key] = moved.get(key, 0) + int(one.reads["length"].sum()) + int(one.writes["length"].sum())
    if not moved:
        return "", np.zeros(0, SEGMENT), np.zeros(0, np.int64), 0
    best = max(moved, key=lambda key: (moved[key], key[0]))
    counts = sum(len(one.reads) + len(one.writes) for one in job.traced() if (one.module, one.path) == best)
    step = max(1, -(-counts // POINTS))
    kept, ranks, seen = [], [], 0
    for one in job.traced():
        if (one.module, one.path) != best:
            continue
        for segments in (one.reads, one.writes):
            some = segments[(-seen) % step :: step].copy()
            seen += len(segments)
            kept.append(some)
            ranks.append(np.full(len(some), one.rank, np.int64))
    return best[1], np.concatenate(kept), np.concatenate(ranks), counts


def all_plots(diagnosis: Diagnosis) -> list[Plot]:
    made = [one(diagnosis) for one in (where, call_sites, saved, ranks_by_time, offsets)]
    return [one for one in made if one is not None]
