"""table.py: the results as a table in Markdown, and the tests that differ, by name."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from trial import PASSED, SKIPPED

HEAD = (
    "| suite | version | tests | pass without | pass with | differ | fail without, too | calls done | passed through |",
    "|---|---|---:|---:|---:|---:|---:|---:|---:|",
)
Record = dict[str, Any]


def text(suites: Sequence[Record]) -> str:
    lines = ["", *HEAD, *(row(suite) for suite in suites), ""]
    for suite in suites:
        lines += [f"{suite['name']}: {note}" for note in suite.get("notes", ())]
        lines += [f"{suite['name']}: not run: {suite['missing']}"] if "missing" in suite else []
        lines += listed(suite, "fail without, too", [trial["name"] for trial in failing(suite)])
        lines += [
            f"{suite['name']}: sometimes fails without, too: {trial['name']}: {told(trial)}"
            for trial in unstable(suite)
        ]
        lines += listed(suite, "skipped", [trial["name"] for trial in ended(suite, "without", SKIPPED)])
        lines += listed(suite, "pass with, but not without", [trial["name"] for trial in gained(suite)])
        for trial in suite.get("trials", ()):
            found = trial.get("files", {})
            lines += [f"{suite['name']}: {trial['name']}: files differ: {name}" for name in found.get("differ", ())]
        lines += listed(
            suite, "passed through", [f"{name} ({n})" for name, n in sorted(total(suite, "passed").items())]
        )
        lines += [f"DIFFERS  {suite['name']}: {trial['name']}: {told(trial)}" for trial in lost(suite)]
    return "\n".join(lines)


def row(suite: Record) -> str:
    if "missing" in suite:
        return f"| {suite['name']} | not run | | | | | | | |"
    trials = suite["trials"]
    cells = [suite["name"], suite["version"], len(trials), len(ended(suite, "without", PASSED))]
    if any("with" in trial for trial in trials):
        differ = len(lost(suite)) + len(gained(suite))
        cells += [len(ended(suite, "with", PASSED)), differ, len(failing(suite))]
        cells += [total(suite, "calls").total(), total(suite, "passed").total()]
    else:
        cells += ["", "", len(trials) - len(ended(suite, "without", PASSED, SKIPPED)), "", ""]
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def ended(suite: Record, kind: str, *verdicts: str) -> list[Record]:
    return [trial for trial in suite.get("trials", ()) if kind in trial and trial[kind]["verdict"] in verdicts]


def lost(suite: Record) -> list[Record]:
    """The tests that always pass without the library, and once or more not with it."""
    passing = [trial for trial in ended(suite, "without", PASSED) if trial not in unstable(suite)]
    return [trial for trial in passing if "with" in trial and trial["with"]["verdict"] != PASSED]


def unstable(suite: Record) -> list[Record]:
    """Those that passed without the library, not with it, and not when repeated without it."""
    repeated = [trial for trial in suite.get("trials", ()) if "again" in trial]
    return [trial for trial in repeated if set(trial["again"]["without"]) != {PASSED}]


def gained(suite: Record) -> list[Record]:
    passing = ended(suite, "with", PASSED)
    return [trial for trial in passing if trial["without"]["verdict"] not in (PASSED, SKIPPED)]


def failing(suite: Record) -> list[Record]:
    """Those that fail without, and with if they ran with it."""
    good = (PASSED, SKIPPED)
    failed = [trial for trial in suite.get("trials", ()) if trial["without"]["verdict"] not in good]
    return [trial for trial in failed if "with" not in trial or trial["with"]["verdict"] not in good]


def told(trial: Record) -> str:
    """The verdicts of the first run and of those that repeated it."""
    again = trial.get("again", {"without": [], "with": []})
    without = [trial["without"]["verdict"], *again["without"]]
    return f"without {', '.join(without)}, with {', '.join([trial['with']['verdict'], *again['with']])}"


def total(suite: Record, what: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    for trial in suite.get("trials", ()):
        counts.update(trial.get("with", {}).get(what, {}))
    return counts


def listed(suite: Record, title: str, names: Sequence[str]) -> list[str]:
    return [f"{suite['name']}: {title}: {', '.join(names)}"] if names else []
