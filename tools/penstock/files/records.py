"""records.py: the description of a set of Fortran files, in TOML, checked and made ready for penstock-import."""

import glob
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from penstock.base.errors import UserError, must_be_there

_TYPE = re.compile(r"[iu](8|16|32|64)|f(32|64)|complex(64|128)|text\[[1-9][0-9]{0,5}\]")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_EXPRESSION = re.compile(r" *\w+ *([-+*] *\w+ *)*", re.ASCII)
_PROCESS = re.compile(r"\{process(?::0?([0-9]{1,2})d)?\}")
_USES = ("block", "ragged", "per_process", "replicated")

_SET = {
    "files": str,
    "first": int,
    "count": int,
    "endian": str,
    "marker": int,
    "rest": str,
    "process_grid": list,
    "process_order": str,
    "attributes": dict,
    "record": list,
}
_FIELD = {
    "name": str,
    "type": str,
    "shape": list,
    "dataset": str,
    "whole": list,
    "start": list,
    "first_index": int,
    "ghosts": list,
    "attributes": dict,
}
_WORDS = {str: "a text", int: "a whole number", list: "a list", dict: "a table"}

Table = dict[str, Any]


def read(path: Path) -> Table:
    """The description in PATH as penstock-import takes it; UserError names the file and the key that is wrong."""
    must_be_there(path)
    try:
        with path.open("rb") as file:
            given = tomllib.load(file)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path}: {error}") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: no TOML file: byte {error.start} is not UTF-8") from None
    return _Reader(path).set_of(given)


class _Reader:
    def __init__(self, path: Path) -> None:
        self._path = path

    def _wrong(self, key: str, what: str) -> UserError:
        return UserError(f"{self._path}: {key}: {what}")

    def _check(self, table: Mapping[str, Any], keys: Mapping[str, type], where: str) -> None:
        for key, value in table.items():
            if key not in keys:
                raise self._wrong(where + key, f"there is no such key; here are {', '.join(keys)}")
            if type(value) is not keys[key]:
                raise self._wrong(where + key, f"must be {_WORDS[keys[key]]}, not {value!r}")

    def _one_of(self, table: Table, key: str, words: tuple[Any, ...], where: str = "") -> None:
        if key in table and table[key] not in words:
            raise self._wrong(where + key, f"must be {' or '.join(map(repr, words))}, not {table[key]!r}")

    def set_of(self, given: Table) -> Table:
        self._check(given, _SET, "")
        for key in ("files", "record"):
            if not given.get(key):
                raise self._wrong(key, "is missing")
        self._one_of(given, "endian", ("auto", "little", "big"))
        self._one_of(given, "marker", (4, 8))
        self._one_of(given, "rest", ("error", "ignore"))
        self._one_of(given, "process_order", ("first", "last"))
        files = self._files(given)
        grid = given.get("process_grid", [])
        if any(type(extent) is not int or extent < 1 for extent in grid):
            raise self._wrong("process_grid", f"must be whole numbers above 0, not {grid!r}")
        product = 1
        for extent in grid:
            product *= extent
        if grid and product != len(files):
            raise self._wrong("process_grid", f"{grid!r} is for {product} processes, there are {len(files)} files")
        lines = [self._line(each, f"record {i}: ", len(grid)) for i, each in enumerate(given["record"], 1)]
        names = [field["name"] for line in lines for field in line.get("fields", []) if field["name"]]
        for name in names:
            if names.count(name) > 1:
                raise self._wrong("name", f"two fields are called '{name}'")
        if not any("dataset" in field for line in lines for field in line.get("fields", [])):
            raise self._wrong("record", "no field says dataset = ..., so that nothing would be imported")
        plain: list[str] = ["endian", "marker", "rest", "process_grid", "process_order"]
        kept = {key: given[key] for key in plain if key in given}
        attributes = self._attributes(given.get("attributes", {}), "")
        return {**kept, "files": [str(file) for file in files], "records": lines, "attributes": attributes}

    def _line(self, given: Any, where: str, grid: int) -> Table:
        if not isinstance(given, dict):
            raise self._wrong(where.rstrip(": "), "must be a table, written [[record]]")
        if "skip" in given:
            if len(given) > 1:
                raise self._wrong(where + "skip", "stands alone: what is skipped is not described")
            return {"skip": self._expression(given["skip"], where + "skip")}
        line: Table = {}
        if "repeat" in given:
            line["repeat"] = self._expression(given["repeat"], where + "repeat")
        if "fields" in given:
            self._check({k: v for k, v in given.items() if k != "repeat"}, {"fields": list}, where)
            if not given["fields"] or not all(isinstance(each, dict) for each in given["fields"]):
                raise self._wrong(where + "fields", "must be a list of tables")
            fields = given["fields"]
        else:
            fields = [{key: value for key, value in given.items() if key != "repeat"}]
        line["fields"] = [
            self._field(each, f"{where}field {i}: " if len(fields) > 1 else where, grid, "repeat" in line)
            for i, each in enumerate(fields, 1)
        ]
        return line

    def _field(self, given: Table, where: str, grid: int, repeated: bool) -> Table:
        self._check(given, _FIELD, where)
        if "type" not in given:
            raise self._wrong(where + "type", "is missing")
        if not _TYPE.fullmatch(given["type"]):
            raise self._wrong(
                where + "type",
                f"'{given['type']}' is none of i8 to i64, u8 to u64, f32, f64, complex64, complex128, text[N]",
            )
        field: Table = {"type": given["type"], "name": given.get("name", "")}
        lists: Table = {
            key: self._expressions(given[key], where + key)
            for key in ("shape", "whole", "start", "ghosts")
            if key in given
        }
        rank = len(lists.get("shape", []))
        if rank > 7:
            raise self._wrong(where + "shape", f"has {rank} extents, at most 7 are possible")
        for key, words in lists.items():
            if len(words) != rank:
                raise self._wrong(where + key, f"has {len(words)} entries, the shape {rank}")
        field |= lists
        use = given.get("dataset")
        if use is None:
            extra = [key for key in ("whole", "start", "first_index", "ghosts", "attributes") if key in given]
            if extra:
                raise self._wrong(where + extra[0], "means nothing without dataset = ...")
            if field["name"] and rank == 0 and not _NAME.fullmatch(field["name"]):
                raise self._wrong(where + "name", f"'{field['name']}' is no name that a shape can use")
            return field
        self._one_of(given, "dataset", _USES, where)
        if not field["name"]:
            raise self._wrong(where + "name", "is missing: it is that of the dataset")
        field["dataset"] = use
        field["attributes"] = self._attributes(given.get("attributes", {}), where)
        if "first_index" in given:
            field["first_index"] = given["first_index"]
        self._check_use(field, where, grid, repeated)
        return field

    def _check_use(self, field: Table, where: str, grid: int, repeated: bool) -> None:
        use, rank = field["dataset"], len(field.get("shape", []))
        if use != "block":
            for key in ("whole", "start", "first_index"):
                if key in field:
                    raise self._wrong(where + key, f'is for dataset = "block", not "{use}"')
        if use == "ragged" and (rank == 0 or repeated):
            what = (
                "records that repeat cannot be; give each a record of its own"
                if repeated
                else "a single value has no rows"
            )
            raise self._wrong(where + "dataset", f'"ragged" joins rows: {what}')
        if use != "block":
            return
        if rank == 0:
            raise self._wrong(where + "dataset", "a single value is no block; per_process or replicated are possible")
        if ("whole" in field) != ("start" in field):
            raise self._wrong(where + "start", "and 'whole' belong together")
        if "whole" not in field and grid != rank:
            raise self._wrong(
                where + "dataset",
                f"a block needs 'whole' and 'start', or a process_grid of {rank} numbers"
                + (f", not of {grid}" if grid else ""),
            )

    def _expressions(self, given: list[Any], key: str) -> list[str]:
        return [self._expression(each, key) for each in given]

    def _expression(self, given: Any, key: str) -> str:
        if type(given) is int and given >= 0:
            return str(given)
        if not isinstance(given, str) or not _EXPRESSION.fullmatch(given):
            raise self._wrong(key, f"{given!r} is not made of names, whole numbers, +, - and *")
        return given

    def _attributes(self, given: Table, where: str) -> Table:
        for name, value in given.items():
            if type(value) not in (str, int, float):
                raise self._wrong(f"{where}attributes.{name}", f"must be a text or a number, not {value!r}")
            if type(value) is int and not -(2**63) <= value < 2**63:
                raise self._wrong(f"{where}attributes.{name}", "is beyond 64 bits")
        return given

    def _files(self, given: Table) -> list[Path]:
        """Returns the paths of the files in process order. Raises UserError if one is missing."""
        first, count = given.get("first", 0), given.get("count")
        if first < 0 or (count is not None and count < 1):
            raise self._wrong("count", "and 'first' must not be negative, and there is at least one file")
        places = list(_PROCESS.finditer(given["files"]))
        if not places:
            return self._matching(given)
        if len(places) > 1:
            raise self._wrong("files", "{process} stands in it more than once")
        before, after = given["files"][: places[0].start()], given["files"][places[0].end() :]
        digits = int(places[0][1] or 0)

        def named(number: int) -> Path:
            return self._path.parent / f"{before}{number:0{digits}d}{after}"

        if count is None:
            if "/" in after:
                raise self._wrong("count", "is missing, which is needed where folders have the number")
            count = self._last(named, first, Path(before + "0").name[:-1], after) - first + 1
        for number in range(first, first + count):
            if not named(number).exists():
                raise self._wrong("files", f"there is no '{named(number)}', the last is number {first + count - 1}")
        return [named(number) for number in range(first, first + count)]

    def _last(self, named: Callable[[int], Path], first: int, before: str, after: str) -> int:
        shape = re.compile(re.escape(before) + "([0-9]+)" + re.escape(after))
        folder = named(first).parent
        there = [shape.fullmatch(file.name) for file in folder.iterdir()] if folder.is_dir() else []
        numbers = [int(match[1]) for match in there if match]
        numbers = [number for number in numbers if number >= first and named(number).exists()]
        if not numbers:
            raise self._wrong("files", f"there is no '{named(first)}'")
        return max(numbers)

    def _matching(self, given: Table) -> list[Path]:
        if "first" in given:
            raise self._wrong("first", "is for 'files' with {process} in it")
        pattern = str(self._path.parent / given["files"])
        files = sorted(Path(file) for file in glob.glob(pattern))  # noqa: PTH207 (absolute ones, too)
        if not files:
            raise self._wrong("files", f"no file matches '{pattern}'")
        if len(files) != given.get("count", len(files)):
            raise self._wrong("count", f"is {given['count']}, but {len(files)} files match '{pattern}'")
        return files
