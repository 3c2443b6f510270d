"""python_arrows.py: fails where a module of tools/penstock imports what its room does not see, or where a circle is.

    PYTHONPATH=tools python -m checks.python_arrows [--root .]

The law is the table of these rooms in ARCHITECTURE.md. A room may import itself and whatever its arrows lead to. The
parts of a folder, which are modules and folders, make no circle. Imports in functions and for type checkers count.
"""

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

from checks.arrows import Law

PACKAGE = "penstock"
TABLE = re.compile(r"^\| room in `tools/penstock/` .*\n\|[-|]+\n((?:\|.*\n)+)", re.MULTILINE)
ROW = re.compile(r"^\| `(\w+)` \|.*\| ([\w, ]+) \|$", re.MULTILINE)

# The rooms of the modules that lie in no folder.
PUBLIC = {"__init__": "api", "__main__": "cli", "crc64": "base", "ramses": "api", "xarray_backend": "api"}


class Import(NamedTuple):
    """Line NUMBER of PATH; both modules as words, and that of a folder itself ends in __init__."""

    path: str
    number: int
    source: tuple[str, ...]
    target: tuple[str, ...]


def read_law(text: str) -> Law:
    """The table in TEXT; an empty law where there is none."""
    rows = found[1] if (found := TABLE.search(text)) else ""
    return Law({room: [] if sees == "nothing" else sees.split(", ") for room, sees in ROW.findall(rows)})


def imports(root: Path) -> Iterator[Import]:
    """All imports of the package's own modules."""
    tools = root / "tools"
    modules = {path.relative_to(tools).with_suffix("").parts: path for path in sorted(tools.glob(f"{PACKAGE}/**/*.py"))}

    def module(*words: str) -> tuple[str, ...] | None:
        return next((one for one in (words, (*words, "__init__")) if one in modules), None)

    for source, path in modules.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [tuple(alias.name.split(".")) for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                above = source[: -node.level] if node.level else ()
                home = (*above, *(node.module or "").split(".")) if node.module else above
                names = [(*home, alias.name) if module(*home, alias.name) else home for alias in node.names]
            else:
                continue
            for target in dict.fromkeys(filter(None, (module(*name) for name in names))):
                yield Import(path.relative_to(root).as_posix(), node.lineno, source, target)


def violations(root: Path, law: Law) -> Iterator[str]:
    """One line for each import that the law forbids, and for each circle."""
    parts: dict[tuple[str, ...], dict[str, set[str]]] = {(): {room: set(sees) for room, sees in law.direct.items()}}
    for one in imports(root):
        own, target = (PUBLIC.get(words[1], words[1]) for words in (one.source, one.target))
        name = ".".join(one.target).removesuffix(".__init__")
        if own not in law.direct:
            yield f"{one.path}:{one.number}: {own} is no room of the table in ARCHITECTURE.md"
        elif target not in law.reachable(own):
            yield f"{one.path}:{one.number}: {own} has no arrow to {target} ({name})"
        depth = next((i for i, (a, b) in enumerate(zip(one.source, one.target, strict=False)) if a != b), None)
        if depth is not None:
            graph = parts.setdefault(one.source[:depth], {})
            graph.setdefault(one.source[depth], set()).add(one.target[depth])
    for folder, graph in parts.items():
        try:
            TopologicalSorter({name: sorted(graph[name]) for name in sorted(graph)}).prepare()
        except CycleError as circle:
            yield f"{'/'.join(('tools', *folder)) if folder else 'ARCHITECTURE.md'}: {' <- '.join(circle.args[1])}"


def main() -> int:
    parser = argparse.ArgumentParser(description="Checks every import in tools/penstock against the table of rooms.")
    parser.add_argument("--root", type=Path, default=Path())
    root = parser.parse_args().root
    law = read_law((root / "ARCHITECTURE.md").read_text(encoding="utf-8"))
    if not law.direct:
        print("python arrows: ARCHITECTURE.md has no table of the rooms in tools/penstock", file=sys.stderr)
        return 2
    found = list(violations(root, law))
    print("\n".join([*found, f"python arrows: {len(found)} forbidden" if found else "python arrows: all is in order"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
