"""lines.py: fails if a file of ours does not begin with a comment that says what it is for, or has a line too long.

python tools/checks/lines.py [--root .]
"""

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

FOLDERS = (
    *("include", "core", "bindings", "bench", "programs", "examples", "tests", "tools", "scripts", "packaging"),
    *("cmake", "docs", ".ci"),
)
SLASHES = re.compile(r"^(//|/\*)\s*(?P<text>.*?)(\*/)?$")
BANG = re.compile(r"^!\s*(?P<text>.*)$")
HASH = re.compile(r"^#\s*(?P<text>.*)$")
DOCSTRING = re.compile(r'^"""(?P<text>.*?)("""|$)')
KINDS = {
    ".c": SLASHES,
    ".h": SLASHES,
    ".cpp": SLASHES,
    ".hpp": SLASHES,
    ".f90": BANG,
    ".F90": BANG,
    ".py": DOCSTRING,
    ".cmake": HASH,
    ".pc": HASH,
    ".txt": HASH,
    ".sh": HASH,
    "": HASH,
}
LEAST_WORDS = 3
LONGEST_LINE = 120
UNBROKEN = (".svg",)  # drawn by programs, a path in each line


def mute(root: Path) -> Iterator[str]:
    """One line for each file that does not say what it is for."""
    for path in _below(root):
        kind = KINDS.get(path.with_suffix("").suffix if path.suffix == ".in" else path.suffix)
        if kind is not None and not says(path, kind):
            yield f"{path.relative_to(root).as_posix()}:1: the first line does not say what the file is for"


def says(path: Path, kind: re.Pattern[str]) -> bool:
    """Whether the first line of PATH, after the line that names its interpreter, is a comment of a few words."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    if lines and lines[0].startswith(("#!", "#%Module")):
        lines.pop(0)
    match = kind.match(lines[0]) if lines else None
    return match is not None and len(match["text"].split()) >= LEAST_WORDS


def too_long(root: Path) -> Iterator[str]:
    """One line for each line of a text that has more than LONGEST_LINE characters."""
    for path in (*sorted(path for path in root.iterdir() if path.is_file()), *_below(root)):
        if path.suffix in UNBROKEN:
            continue
        try:
            lines = path.read_text(encoding="utf-8").split("\n")
        except UnicodeDecodeError:
            continue  # not a text
        for number, line in enumerate(lines, start=1):
            if len(line) > LONGEST_LINE:
                yield f"{path.relative_to(root).as_posix()}:{number}: {len(line)} columns, more than {LONGEST_LINE}"


def _below(root: Path) -> Iterator[Path]:
    """The files in FOLDERS that are ours."""
    for folder in FOLDERS:
        yield from (p for p in sorted((root / folder).rglob("*")) if p.is_file() and not _is_foreign(p))


def _is_foreign(path: Path) -> bool:
    if path.parent.name != "data" and {"tests", "data"} <= set(path.parts):
        return True  # as other programs wrote it
    return "__pycache__" in path.parts or any(part.endswith(".egg-info") for part in path.parts)


def main() -> int:
    parser = argparse.ArgumentParser(description="Checks that files say what they are for, and have no long lines.")
    parser.add_argument("--root", type=Path, default=Path())
    root = parser.parse_args().root
    found = [*mute(root), *too_long(root)]
    print("\n".join([*found, f"lines: {len(found)} faults" if found else "lines: nothing to mend"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
