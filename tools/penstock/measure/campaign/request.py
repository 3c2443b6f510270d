"""request.py: what a campaign measures: workloads x methods x ranks x sizes x hints, as a TOML file says it."""

import itertools
import re
import tomllib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from penstock.base import launch
from penstock.base.errors import UserError, must_be_there

HINTED = ("phdf5", "netcdf4", "pnetcdf")  # engines that take hints of MPI_Info, as raw/mpiio and the like do
_PER_JOB = ("--repetitions", "--half-width", "--seed")  # of a run, but set for each of its jobs
_TOP = {
    "name", "title", "mpi", "ranks", "methods", "hints", "repetitions", "time-limit", "half-width", "seed", "workload",
    "environment", "readers", "regime", "interfere",
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One case of penstock-bench: WORDS are those of its command line, without --methods."""

    name: str
    words: tuple[str, ...]
    methods: tuple[str, ...]
    group: str = ""
    ranks: tuple[int, ...] = ()  # measured on these only; empty: on all


@dataclass(frozen=True)
class Request:
    """RANKS are the numbers of processes, each of which is a job of its own; TIME_LIMIT, in seconds, is of each job."""

    name: str
    ranks: tuple[int, ...]
    cases: tuple[Case, ...]
    repetitions: int = 6
    time_limit: float | None = None
    half_width: float | None = None  # percent
    seed: int = 1
    run_words: tuple[str, ...] = ()  # further words of penstock-bench for each job
    program: tuple[str, ...] = ()  # instead of cases: the words of a program inside penstock-bench
    mpi: str = launch.HERE.value
    environment: dict[str, str] = field(default_factory=dict)
    title: str = ""
    source: str = ""  # of a preset: who measured what where
    preset: str | None = None
    scale: float | None = None
    cut: tuple[str, ...] = ()  # what of the study is left out here, and why

    def of(self, ranks: int) -> list[Case]:
        """The cases of the job on RANKS."""
        return [case for case in self.cases if not case.ranks or ranks in case.ranks]

    def identity(self) -> dict[str, Any]:
        """What must be equal for one run to go on where another stopped."""
        whole = asdict(self)
        for name in ("repetitions", "time_limit", "half_width", "title", "source", "cut", "ranks"):
            del whole[name]
        plain: dict[str, Any] = _lists(whole)
        return plain


def read_request(path: Path) -> Request:
    """The campaign in the TOML file PATH, or a UserError that says what is wrong with it."""
    must_be_there(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not TOML: {error}") from None
    try:
        return _request(content, path.stem)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None


def parse_ranks(text: str) -> tuple[int, ...]:
    """ "4,8" as (4, 8)."""
    try:
        ranks = tuple(dict.fromkeys(int(word) for word in text.split(",")))
    except ValueError:
        raise UserError(f"--np {text}: numbers of ranks, as 4 or 4,8,16") from None
    if min(ranks) < 1:
        raise UserError(f"--np must be at least 1, not {min(ranks)}")
    return ranks


@dataclass(frozen=True)
class Words:
    """The words of penstock-bench: those of a case, those that every job gets, and those that are set for each job."""

    case: tuple[str, ...]
    run: tuple[str, ...]
    repetitions: int | None
    half_width: float | None
    seed: int


def split_words(words: list[str], run_options: dict[str, bool]) -> Words:
    """RUN_OPTIONS are the options of a run, not of a case, and whether each takes a value."""
    per_job: dict[str, str] = {}
    case: list[str] = []
    run: list[str] = []
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if not run_options.get(name, False):
            (run if name in run_options else case).append(word)
            continue
        given = value if equals else next(rest, None)
        if given is None:
            raise UserError(f"{name} needs a value")
        if name in _PER_JOB:
            per_job[name] = given
        else:
            run += [name, given]
    repetitions = _number(per_job, "--repetitions", int)
    return Words(
        tuple(case),
        tuple(run),
        None if repetitions is None else int(repetitions),
        _number(per_job, "--half-width", float),
        int(_number(per_job, "--seed", int) or 1),
    )


def parse_size(text: str) -> int:
    """ "512MiB" as bytes."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]i?)?B?", text)
    if found is None:
        raise UserError(f"{text}: a size, as 512MiB or 2GB")
    unit = found[2] or ""
    base = 1024 if unit.endswith("i") else 1000
    return int(float(found[1]) * base ** (" KMGT".index(unit[0]) if unit else 0))


def _number(options: dict[str, str], name: str, kind: type[int] | type[float]) -> float | None:
    if name not in options:
        return None
    try:
        number = kind(options[name])
    except ValueError:
        raise UserError(f"{name} {options[name]}: a number") from None
    if number <= 0:
        raise UserError(f"{name} {options[name]}: a number over 0")
    return number


def hinted(method: str, hints: dict[str, Any]) -> str:
    """METHOD with HINTS as parameters."""
    words = [f"hint.{name}={_word(value)}" for name, value in hints.items()]
    return method + (("," if ":" in method else ":") + ",".join(words) if words else "")


def takes_hints(method: str) -> bool:
    stem = method.partition(":")[0]
    return stem in HINTED or stem.endswith("/mpiio")


def _request(content: dict[str, Any], stem: str) -> Request:
    unknown = sorted(set(content) - _TOP)
    if unknown:
        raise UserError(f"no setting '{unknown[0]}'; there are {', '.join(sorted(_TOP))}")
    workloads = content.get("workload")
    if not isinstance(workloads, list) or not workloads:
        raise UserError('which workloads? A table [[workload]] for each, with name = "block2d" and its options')
    common: dict[str, Any] = {name: content[name] for name in ("regime", "interfere") if name in content}
    cases = [case for table in workloads for case in _cases(table, common, content)]
    names = [case.name for case in cases]
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"two cases are called '{name}': they differ in methods or ranks only; give them labels")
    limit = content.get("time-limit")
    width = content.get("half-width")
    return Request(
        name=str(content.get("name", stem)),
        title=str(content.get("title", "")),
        ranks=_ranks(content.get("ranks", 4), "ranks"),
        cases=tuple(cases),
        repetitions=_count(content.get("repetitions", 6), "repetitions"),
        time_limit=None if limit is None else _positive(limit, "time-limit"),
        half_width=None if width is None else _positive(width, "half-width"),
        seed=_count(content.get("seed", 1), "seed"),
        run_words=("--readers", str(_count(content["readers"], "readers"))) if "readers" in content else (),
        mpi=str(content.get("mpi", launch.HERE.value)),
        environment={str(name): str(value) for name, value in _table(content, "environment").items()},
    )


def _cases(table: Any, common: dict[str, Any], content: dict[str, Any]) -> Iterator[Case]:
    """Every combination of the options of TABLE that have lists."""
    if not isinstance(table, dict) or not isinstance(table.get("name"), str):
        raise UserError('a [[workload]] has a name = "block2d"')
    own = dict(table)
    workload = str(own.pop("name"))
    label = str(own.pop("label", workload))
    ranks = _ranks(own.pop("ranks"), "ranks") if "ranks" in own else ()
    methods = _methods(own.pop("methods", content.get("methods")), own.pop("hints", content.get("hints", [])), label)
    options = common | own
    axes = [name for name, value in options.items() if isinstance(value, list)]
    for values in itertools.product(*(options[name] for name in axes)):
        point = options | dict(zip(axes, values, strict=True))
        named = [f"{name}={_word(value)}" for name, value in zip(axes, values, strict=True)]
        yield Case(
            name=" ".join([label, *named]),
            group=label,
            words=(workload, *(word for name, value in point.items() for word in _option(name, value))),
            methods=methods,
            ranks=ranks,
        )


def _methods(given: Any, hints: Any, label: str) -> tuple[str, ...]:
    if isinstance(given, str):
        given = [given]
    if not isinstance(given, list) or not given or not all(isinstance(method, str) for method in given):
        raise UserError(f'{label}: which methods? methods = ["hdf5/two_phase", "raw/per_process"]')
    if not isinstance(hints, list) or not all(isinstance(one, dict) for one in hints):
        raise UserError(f'{label}: hints is a list of tables, as [{{}}, {{romio_ds_write = "disable"}}]')
    made = []
    for method in given:
        made += [hinted(method, one) for one in (hints or [{}])] if takes_hints(method) else [method]
    return tuple(dict.fromkeys(made))


def _option(name: str, value: Any) -> list[str]:
    if isinstance(value, bool):
        return [f"--{name}"] if value else []
    return [f"--interfere={value}"] if name == "interfere" else [f"--{name}", _word(value)]


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, (str, int, float)):
        raise UserError(f"{value!r}: a text or a number")
    return str(value)


def _ranks(value: Any, name: str) -> tuple[int, ...]:
    values = value if isinstance(value, list) else [value]
    if not values:
        raise UserError(f"{name}: at least one number")
    return tuple(dict.fromkeys(_count(one, name) for one in values))


def _count(value: Any, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise UserError(f"{name} = {value!r}: a number, at least 1")
    return value


def _positive(value: Any, name: str) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or value <= 0:
        raise UserError(f"{name} = {value!r}: a number over 0")
    return float(value)


def _table(content: dict[str, Any], name: str) -> dict[str, Any]:
    value = content.get(name, {})
    if not isinstance(value, dict):
        raise UserError(f"{name} is a table")
    return value


def _lists(value: Any) -> Any:
    """As JSON reads it back."""
    if isinstance(value, dict):
        return {name: _lists(one) for name, one in value.items()}
    return [_lists(one) for one in value] if isinstance(value, (list, tuple)) else value
