"""common.py: shared by all rules: the most that can be saved, suitable remedies, texts, formatted numbers."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from penstock.diagnose.facts import CALLS, Facts
from penstock.diagnose.finding import INFO, Evidence, Finding

DXT = "Darshan with DXT (DXT_ENABLE_IO_TRACE=1)"
ROMIO_OF_OMPIO = (
    "this run used Open MPI's own MPI-IO, OMPIO, which ignores hints of ROMIO: mpiexec --mca io ^ompio; then {}"
)
NOT_OF_OMPIO = ("romio_", "cb_config_list", "striping_")  # its code for Lustre takes the factor for the unit
UNCHANGED = "unchanged program"  # the layer of what `penstock run` does for MPI-IO
ROMIO_OF_ANY = "{} (hints of ROMIO, which MPICH, Cray's and Intel's MPI have; Open MPI with --mca io ^ompio)"


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
    everywhere: bool = False,
    calls: Sequence[str] = CALLS,
    confidence: float = 0.7,
    module: str = "POSIX",
    variant: str = "",
    without: Iterable[str] = (),
    **figures: object,
) -> Finding:
    """A finding that could save SAVED seconds of the run time in CALLS on FILES (on all files if EVERYWHERE). It is
    based on the records of MODULE. FIGURES fill in the texts of the rule, or of its VARIANT. WITHOUT names layers that
    have no remedy here. diagnosis.py limits what each finding can save and sets its severity (HIGH, WARN or INFO).
    """
    told = words()[f"{rule}-{variant}" if variant else rule]
    paths = tuple(files)
    if facts.partial:
        confidence *= 0.7 if module in facts.partial else 0.85
    if facts.seconds < 1 or facts.impossible:
        confidence *= 0.5
    return Finding(
        rule=rule,
        title=title,
        severity=INFO,
        saved_seconds=max(0.0, saved),
        confidence=round(confidence, 2),
        cause=told["cause"].format(**figures),
        evidence=tuple(evidence),
        remedies=_remedies(facts, told, paths, without, figures),
        files=paths,
        everywhere=everywhere or not paths,
        calls=tuple(calls),
        module=module,
    )


def capped(facts: Facts, one: Finding) -> Finding:
    """Nothing saves more than the busiest rank spends in the calls that it is about, nor than all I/O takes."""
    most = facts.io_seconds
    if one.calls:
        most = min(most, facts.most(one.module, one.calls, None if one.everywhere else one.files))
    return replace(one, saved_seconds=min(one.saved_seconds, most))


def _remedies(
    facts: Facts, told: Mapping[str, Any], paths: Sequence[str], without: Iterable[str], figures: Mapping[str, object]
) -> dict[str, str]:
    """Remedies of Lustre are left out or replaced where the file system is known, and is another; so are hints that the
    MPI library of the run does not take, and that for writes of MPI-IO where there are none.
    """
    kind = facts.file_system(paths[0]) if paths else facts.all_on
    texts = dict(told["remedies"])
    if kind and "lustre" not in kind:
        texts |= told.get("not-lustre", {})
        texts = {layer: text for layer, text in texts.items() if text and not text.startswith("Lustre: ")}
    if facts.is_ompio:
        texts |= told.get("ompio", {})
    if not any(_is_written(facts, path) for path in paths):
        texts.pop(UNCHANGED, None)
    hint = texts.get("mpi hint", "")
    if facts.is_ompio and any(name in hint for name in NOT_OF_OMPIO):
        texts["mpi hint"] = ROMIO_OF_OMPIO.replace("{}", hint)
    elif "romio_" in hint:
        texts["mpi hint"] = ROMIO_OF_ANY.replace("{}", hint)
    return {layer: text.format(**figures) for layer, text in texts.items() if layer not in without}


def _is_written(facts: Facts, path: str) -> bool:
    i = facts.mpi.index(path)
    return i is not None and bool(facts.mpi.of("BYTES_WRITTEN")[i] > 0)


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
