"""arrows.py: fails where a source file includes another room than its room's arrows allow.

    python tools/checks/arrows.py [--root .] [--law build/arrows.txt]

The law is written by CMake from the link lines of the rooms, one "FOLDER: FOLDER ..." per line. A room may include
itself and whatever its arrows lead to. Formats and transports never see each other, and a few foreign headers have
their places. The picture of the rooms in ARCHITECTURE.md must be the law's; --draw puts it there.
"""

import argparse
import posixpath
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

SUFFIXES = {".c", ".h", ".cpp", ".hpp"}
TREES = ("include", "core", "bindings", "bench", "programs", "examples", "tests")

# The room that each public header belongs to; config.h is generated and everybody's.
PUBLIC = {
    "penstock.h": "bindings/c",
    "penstock/status.hpp": "core/base",
    "penstock/phase.hpp": "core/base",
    "penstock/timeout.hpp": "core/base",
    "penstock/communicator.hpp": "core/comm",
    "penstock/mpi.hpp": "core/comm",
    "penstock/dims.hpp": "core/base",
    "penstock/type.hpp": "core/model",
    "penstock/attribute.hpp": "core/model",
    "penstock/decomposition.hpp": "core/model",
    "penstock/supplier.hpp": "core/model",
    "penstock/array.hpp": "core/session",
    "penstock/file.hpp": "core/session",
    "penstock/integrity.hpp": "core/integrity",
    "penstock/report.hpp": "core/base",
    "penstock/stream.hpp": "core/container",
    "penstock/provenance.hpp": "core/series",
    "penstock/series.hpp": "core/series",
    "penstock/shared_reader.hpp": "core/access",
}
GENERATED = {"penstock/config.h"}

# Folders that are no rooms of the library. Tests may look into every room, examples see what users see.
PROGRAMS = {
    "bench": ["core/session"],
    "programs": ["core/series"],
    "bindings/hdf5_driver": [],
    "bindings/mpiio": ["core/series"],
    "bindings/python": ["core/series", "core/container"],
    "examples": ["bindings/c"],
    "tests": ["*"],
}

# Headers of others, and the only places that may include them.
PLACES = {
    "mpi.h": [
        "core/comm/mpi/",
        "core/transport/mpiio/",
        "core/engine/",
        "include/penstock.h",
        "include/penstock/mpi.hpp",
        "bindings/c/",
        "bindings/hdf5_driver/",
        "bindings/mpiio/",
        "bench/launch.cpp",
        "bench/probe/",
        "bench/replay/mpiio.cpp",
        "programs/program.cpp",
        "examples/",
        "tests/",
    ],
    "hdf5.h": ["core/hdf5/", "core/engine/", "bindings/hdf5_driver/", "bench/verify/", "examples/", "tests/"],
    "netcdf.h": ["core/engine/", "bench/verify/", "bench/program/", "tests/"],
    "pnetcdf.h": ["core/engine/", "bench/verify/", "tests/"],
}
STRANGERS = {("core/format", "core/transport"), ("core/transport", "core/format")}

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


@dataclass
class Law:
    """Which rooms may be included from which: DIRECT as CMake links them, and what follows from it."""

    direct: dict[str, list[str]] = field(default_factory=dict)

    def reachable(self, room: str) -> set[str]:
        """ROOM and every room that its arrows lead to."""
        seen: set[str] = set()
        ahead = [room]
        while ahead:
            here = ahead.pop()
            if here not in seen:
                seen.add(here)
                ahead += self.direct.get(here, [])
        return seen

    def room(self, path: str) -> str | None:
        """The room that a file of the repository lies in; None outside of all."""
        if path.startswith("include/"):
            return PUBLIC.get(path.removeprefix("include/"))
        inside = [room for room in self.direct if path.startswith(room + "/")]
        return max(inside, key=len, default=None)


def read_law(path: Path) -> Law:
    direct = dict(PROGRAMS)
    for line in path.read_text(encoding="utf-8").splitlines():
        folder, colon, arrows = line.partition(":")
        if colon:
            direct[folder.strip()] = arrows.split()
    return Law(direct)


def picture(law: Law) -> list[str]:
    """The rooms of the core in Mermaid's language, without arrows that follow from others."""
    lines = ["```mermaid", "graph TD"]
    for room, arrows in law.direct.items():
        if not room.startswith("core/"):
            continue
        implied = {far for arrow in arrows for far in law.reachable(arrow) - {arrow}}
        if direct := [arrow.removeprefix("core/") for arrow in arrows if arrow not in implied]:
            lines.append(f"  {room.removeprefix('core/')} --> {' & '.join(direct)}")
    return [*lines, "```"]


def with_picture(text: str, law: Law) -> str:
    """TEXT of ARCHITECTURE.md with the picture of LAW in the place of its own."""
    return re.sub(r"```mermaid\n.*?```", lambda _: "\n".join(picture(law)), text, count=1, flags=re.DOTALL)


def sources(root: Path) -> Iterator[str]:
    """The C and C++ files of the repository, relative to ROOT."""
    for tree in TREES:
        for path in sorted((root / tree).rglob("*")):
            if path.suffix in SUFFIXES and path.is_file():
                yield path.relative_to(root).as_posix()


def violations(root: Path, law: Law) -> Iterator[str]:
    """One line for each include that the law forbids."""
    for path in sources(root):
        text = (root / path).read_text(encoding="utf-8", errors="replace")
        for number, line in enumerate(text.splitlines(), 1):
            if (match := INCLUDE.match(line)) and (reason := forbidden(path, match[1], law)):
                yield f"{path}:{number}: {reason}"


def forbidden(path: str, header: str, law: Law) -> str | None:
    """Why the file PATH may not include HEADER; None where it may."""
    if header in PLACES:
        allowed = any(path.startswith(place) for place in PLACES[header])
        return None if allowed else f"{header} has no place here, only in {', '.join(PLACES[header])}"
    if header.startswith("penstock/") and header not in PUBLIC.keys() | GENERATED:
        return f"{header} is not in the table of public headers of {Path(__file__).name}"
    target = PUBLIC.get(header) or law.room(_resolve(path, header))
    own = law.room(path)
    if target is None:
        return None  # a library's, or generated
    if own is None:
        return f"{path} lies in no room"
    reachable = law.reachable(own)
    if (own, target) in STRANGERS or (target not in reachable and "*" not in reachable):
        return f"{own} has no arrow to {target} ({header})"
    return None


def _resolve(path: str, header: str) -> str:
    """HEADER as a path of the repository: headers are named from its root, or beside the file that includes them."""
    if header.split("/", maxsplit=1)[0] in TREES:
        return header
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), header)) if ".." in header else header


def main() -> int:
    parser = argparse.ArgumentParser(description="Checks every #include against the arrows between the rooms.")
    parser.add_argument("--root", type=Path, default=Path())
    parser.add_argument("--law", type=Path, default=None, help="default: ROOT/build/arrows.txt")
    parser.add_argument("--draw", action="store_true", help="put the law's picture into ARCHITECTURE.md")
    options = parser.parse_args()
    law_path = options.law or options.root / "build" / "arrows.txt"
    if not law_path.is_file():
        print(f"arrows: there is no {law_path}; configuring the build makes it", file=sys.stderr)
        return 2
    law = read_law(law_path)
    found = list(violations(options.root, law))
    page = options.root / "ARCHITECTURE.md"
    if page.is_file() and (drawn := with_picture(text := page.read_text(encoding="utf-8"), law)) != text:
        if options.draw:
            page.write_text(drawn, encoding="utf-8")
        else:
            found.append(f"{page}: the picture of the rooms is old: 'python {Path(__file__).name} --draw' renews it")
    print("\n".join([*found, f"arrows: {len(found)} faults" if found else "arrows: every include follows one"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
