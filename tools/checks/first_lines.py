"""first_lines.py: fails where a file of ours does not begin with a comment that says what it is for.

python tools/checks/first_lines.py [--root .]
"""

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

FOLDERS = ("include", "core", "bindings", "bench", "examples", "tests", "tools", "scripts", "cmake", ".ci")
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


def mute(root: Path) -> Iterator[str]:
    """One line for each file that does not say what it is for."""
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            kind = KINDS.get(path.with_suffix("").suffix if path.suffix == ".in" else path.suffix)
            if kind is None or not path.is_file() or _is_foreign(path) or says(path, kind):
                continue
            yield f"{path.relative_to(root).as_posix()}:1: the first line does not say what the file is for"


def says(path: Path, kind: re.Pattern[str]) -> bool:
    """Whether the first line of PATH, after the line that names its interpreter, is a comment of a few words."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    if lines and lines[0].startswith("#!"):
        lines.pop(0)
    match = kind.match(lines[0]) if lines else None
    return match is not None and len(match["text"].split()) >= LEAST_WORDS


def _is_foreign(path: Path) -> bool:
    if path.parent.name != "data" and {"tests", "data"} <= set(path.parts):
        return True  # as other programs wrote it
    return "__pycache__" in path.parts or any(part.endswith(".egg-info") for part in path.parts)


def main() -> int:
    parser = argparse.ArgumentParser(description="Checks that every file begins by saying what it is for.")
    parser.add_argument("--root", type=Path, default=Path())
    found = list(mute(parser.parse_args().root))
    print(
        "\n".join([*found, f"first lines: {len(found)} files are mute" if found else "first lines: every file has one"])
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
