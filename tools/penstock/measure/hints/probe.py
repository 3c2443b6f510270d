"""probe.py: runs penstock-probe-hints and says of each hint whether anything was done otherwise because of it."""

import json
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from penstock.base import launch
from penstock.base.errors import UserError
from penstock.measure.hints.tables import Hint, How, Probe

BOGUS = "penstock_bogus"
SECONDS = 300
Run = dict[str, Any]

# What a person reads of a run: a name, the field of the program's output, and how the ranks' numbers join.
SUMMARY = (
    ("writers", "writes", lambda ranks: sum(n > 0 for n in ranks)),
    ("write calls", "writes", sum),
    ("bytes written", "write_bytes", sum),
    ("largest write", "largest_write", max),
    ("readers", "reads", lambda ranks: sum(n > 0 for n in ranks)),
    ("read calls", "reads", sum),
    ("bytes read", "read_bytes", sum),
    ("largest read", "largest_read", max),
    ("locks", "locks", sum),
    ("direct calls", "direct_calls", sum),
)


class Library(StrEnum):
    """An implementation of MPI-IO."""

    ompio = "ompio"
    romio = "romio"
    mpich = "mpich"

    @property
    def mpi(self) -> launch.Mpi:
        return launch.Mpi.mpich if self is Library.mpich else launch.Mpi.openmpi

    @property
    def options(self) -> list[str]:
        """What mpiexec needs to choose it: ROMIO's component has its version in its name, so OMPIO is excluded."""
        return ["--mca", "io", "^ompio"] if self is Library.romio else []


class Honoured(StrEnum):
    """Whether a hint changes what the ranks do to a file."""

    yes = "yes"
    no = "no"
    kills = "kills"  # the program that sets it
    not_probed = "not probed"


@dataclass(frozen=True)
class Finding:
    """What was found out about a hint; REPORTED is what MPI_File_get_info said, which proves nothing."""

    hint: Hint
    honoured: Honoured
    evidence: str
    reported: str | None = None
    runs: list[Run] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return {
            "hint": self.hint.name,
            "layer": self.hint.layer,
            "set": self.hint.how,
            "meaning": self.hint.meaning,
            "allowed": self.hint.allowed,
            "default": self.hint.default,
            "honoured": self.honoured,
            "evidence": self.evidence,
            "reported": self.reported,
            "probes": self.runs,
        }


@dataclass(frozen=True)
class Probed:
    """All findings about one library; a CONTROL that is not `no` means that the probes cannot be believed."""

    version: str
    ranks: int
    control: Honoured
    findings: list[Finding]


def probe_hints(hints: Iterable[Hint], library: Library, ranks: int, folder: Path) -> Probed:
    """Probes HINTS on RANKS with small files in FOLDER, which are removed."""
    hints = list(hints)
    prober = _Prober(library, ranks, folder)
    keys = [(hint.name, probe) for hint in hints if hint.how is How.info and not hint.needs for probe in hint.probes]
    control_probe = _wanted(BOGUS, Probe("1", "write"))
    answer = prober.run([control_probe], {})
    runs: dict[str, list[Run]] = {}
    for run in [*answer["probes"], *prober.run_all([_wanted(name, probe) for name, probe in keys])]:
        runs.setdefault(run["hint"], []).append(run)
    control = Honoured.yes if runs[BOGUS][0]["effect"] else Honoured.no
    findings = [_finding(hint, library, runs.get(hint.name, []), prober) for hint in hints]
    return Probed(answer["library"].rstrip("\0"), ranks, control, findings)


class _Prober:
    def __init__(self, library: Library, ranks: int, folder: Path) -> None:
        self.library, self.ranks, self.folder = library, ranks, folder
        self.program = launch.program("penstock-probe-hints", library.mpi)
        self._plain: dict[str, tuple[Run, Run]] = {}

    def run(self, probes: list[dict[str, Any]], settings: dict[str, str]) -> dict[str, Any]:
        """The program's answer about PROBES, started with the MCA parameters SETTINGS."""
        with tempfile.TemporaryDirectory(prefix="penstock-hints-", dir=self.folder) as scratch:
            listing = Path(scratch) / "probes.json"
            listing.write_text(json.dumps(probes), encoding="utf-8")
            command = launch.mpiexec(self.library.mpi, self.ranks)
            command += self.library.options
            for name, value in settings.items():
                command += ["--mca", name, value]
            command += [str(self.program), str(listing), str(Path(scratch) / "probe.dat")]
            try:
                done = subprocess.run(
                    command, env=launch.environment(), capture_output=True, text=True, timeout=SECONDS, check=False
                )
            except subprocess.TimeoutExpired as error:
                raise UserError(f"penstock-probe-hints did not end within {SECONDS} s", 1) from error
        line = next((line for line in done.stdout.splitlines() if line.startswith("{")), None)
        if done.returncode != 0 or line is None:
            messages = done.stderr.strip().splitlines() or ["nothing was said"]
            last = next((line for line in messages if "An error occurred" in line), messages[-1])
            raise UserError(f"penstock-probe-hints failed with status {done.returncode}: {last}", 1)
        answer: dict[str, Any] = json.loads(line)
        return answer

    def run_all(self, probes: list[dict[str, Any]]) -> list[Run]:
        """The runs of PROBES, in one start; where that fails, in one each, so that only the fatal ones are lost."""
        if not probes:
            return []
        try:
            runs: list[Run] = self.run(probes, {})["probes"]
            return runs
        except UserError as error:
            if len(probes) == 1:
                return [probes[0] | {"effect": False, "fatal": str(error)}]
        return [run for probe in probes for run in self.run_all([probe])]

    def twice(self, operation: str, settings: dict[str, str]) -> tuple[Run, Run]:
        """Two runs of OPERATION with SETTINGS; those asked for before are remembered."""
        key = json.dumps([operation, settings], sort_keys=True)
        if key not in self._plain:
            plain = {"hint": "", "operation": operation}
            runs = self.run([plain, plain], settings)["probes"]
            self._plain[key] = (runs[0]["without_hint"], runs[1]["without_hint"])
        return self._plain[key]


def _wanted(name: str, probe: Probe) -> dict[str, Any]:
    return {"hint": name, "value": probe.value, "operation": probe.operation, "with": probe.with_}


def _finding(hint: Hint, library: Library, runs: list[Run], prober: _Prober) -> Finding:
    if hint.needs:
        return Finding(hint, Honoured.not_probed, f"needs {hint.needs}")
    if hint.how is How.mca and library is not Library.ompio:
        return Finding(hint, Honoured.not_probed, "a parameter of Open MPI's OMPIO")
    if not hint.probes:
        return Finding(hint, Honoured.not_probed, hint.unprobed)
    if hint.how is How.mca:
        runs = [_mca_run(hint.name, probe, prober) for probe in hint.probes]
    fatal = next((run for run in runs if "fatal" in run), None)
    if fatal is not None:
        return Finding(hint, Honoured.kills, f"={fatal['value']}: {fatal['fatal']}", None, runs)
    effective = [run for run in runs if run["effect"]]
    reported = next((run["reported"] for run in runs if run.get("reported") is not None), None)
    if not effective:
        values = ", ".join(dict.fromkeys(run["value"] for run in runs))
        return Finding(hint, Honoured.no, f"={values}: the same calls by the same ranks", reported, runs)
    return Finding(hint, Honoured.yes, evidence(effective[0], alone=not runs[0]["effect"]), reported, runs)


def _mca_run(name: str, probe: Probe, prober: _Prober) -> Run:
    without = prober.twice(probe.operation, probe.with_)
    with_ = prober.twice(probe.operation, probe.with_ | {name: probe.value})
    described = asdict(probe)
    return {
        "hint": name,
        "value": probe.value,
        "operation": probe.operation,
        "with": described["with_"],
        "without_hint": without[0],
        "with_hint": with_[0],
        "effect": differ(without, with_),
    }


def differ(without: tuple[Run, Run], with_: tuple[Run, Run]) -> bool:
    """Whether some number of some rank is stable within each pair of runs and another between the pairs."""
    for name, before in without[0].items():
        if name == "error":
            continue
        columns = zip(before, without[1][name], with_[0][name], with_[1][name], strict=True)
        if any(a == b and c == d and a != c for a, b, c, d in columns):
            return True
    return ("error" in without[0]) != ("error" in with_[0])


def evidence(run: Run, *, alone: bool) -> str:
    """What the hint changed, in words; ALONE says that it did nothing by itself."""
    before, after = run["without_hint"], run["with_hint"]
    changes = [
        f"{name} {join(before[key])} → {join(after[key])}"
        for name, key, join in SUMMARY
        if join(before[key]) != join(after[key])
    ]
    others = " ".join(f"{name}={value}" for name, value in run["with"].items())
    condition = f" {'only ' if alone else ''}with {others}" if others else ""
    if "error" in after and "error" not in before:
        changes.insert(0, after["error"])
    return f"={run['value']}{condition}: {', '.join(changes[:3]) or 'other ranks or other offsets'}"
