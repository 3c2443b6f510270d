"""common.py: what rules share: severities, words, numbers in words."""

import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from penstock.doctor.facts import Facts
from penstock.doctor.finding import HIGH, INFO, WARN, Evidence, Finding

ORDER = {HIGH: 2, WARN: 1, INFO: 0}
HIGH_SHARE, WARN_SHARE = 0.10, 0.02  # of the run time, predicted to be saved


def severity(share: float, cap: str) -> str:
    found = HIGH if share >= HIGH_SHARE else WARN if share >= WARN_SHARE else INFO
    return min(found, cap, key=lambda one: ORDER[one])


@cache
def words() -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / "words.toml").read_text(encoding="utf-8"))


def found(
    facts: Facts,
    rule: str,
    title: str,
    saved: float,
    evidence: Iterable[Evidence],
    *,
    files: Iterable[str] = (),
    cap: str = HIGH,
    confidence: float = 0.7,
    module: str = "POSIX",
    variant: str = "",
    without: Iterable[str] = (),
    **figures: object,
) -> Finding:
    """SAVED seconds of the run time, which are at most those of I/O. MODULE is whose records it stands on; FIGURES fill
    the words of the rule, or of its VARIANT; layers WITHOUT a remedy here.
    """
    told = words()[f"{rule}-{variant}" if variant else rule]
    saved = max(0.0, min(saved, facts.io_seconds))
    if facts.partial:
        confidence *= 0.7 if module in facts.partial else 0.85
    if facts.seconds < 1 or facts.impossible:
        confidence *= 0.5
    return Finding(
        rule=rule,
        title=title,
        severity=severity(saved / facts.seconds, cap),
        saved_seconds=saved,
        confidence=round(confidence, 2),
        cause=told["cause"].format(**figures),
        evidence=tuple(evidence),
        remedies={layer: text.format(**figures) for layer, text in told["remedies"].items() if layer not in without},
        files=tuple(files),
    )


def size(number: float) -> str:
    value, unit = float(number), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB", "PiB"):
        if abs(value) < 1024 or unit == "PiB":
            break
        value /= 1024
    return f"{value:.3g} {unit}" if value < 1000 else f"{value:.0f} {unit}"


def number(value: float | int | str) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}" if isinstance(value, float) else value


def times(number: float) -> str:
    return f"{number:,.0f}"


def share(number: float) -> str:
    return f"{100 * number:.3g} %"


def names(paths: Iterable[str], most: int = 3) -> str:
    told = [path.rsplit("/", 1)[-1] or path for path in paths]
    return ", ".join(told[:most]) + (f" and {len(told) - most} more" if len(told) > most else "")
