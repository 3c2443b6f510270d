"""overhead.py: what recording cost, as the recorder itself counted."""

from pathlib import Path

from penstock.jobs.profile.files import SUFFIX, read_file


def describe_overhead(folder: Path, seconds: float) -> str:
    files = [read_file(path).about for path in sorted(folder.glob("*" + SUFFIX))]
    calls = sum(int(one["calls"]) for one in files)
    by_rank: dict[int, float] = {}
    for one in files:
        by_rank[one["rank"]] = by_rank.get(one["rank"], 0.0) + one["recorder"] * 1e-9
    worst = max(by_rank.values())
    each = sum(by_rank.values()) / max(calls, 1)
    return (
        f"recording took {100 * worst / max(seconds, 1e-9):.3g} % of the run at most ({worst:.2g} s of a rank; "
        f"{calls:,} calls, {each * 1e6:.2g} microseconds each)"
    )
