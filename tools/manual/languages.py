"""languages.py: the interfaces of C++, Fortran and Python as pages of the site, from their sources."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import header

sys.path.insert(0, str(header.ROOT / "bindings" / "fortran"))
import generate
from functions import escaped

FOLDER = header.ROOT / "include" / "penstock"
LEFT_OUT = re.compile(r"\s*(#|namespace |}  // namespace|$)")


def cpp() -> str:
    """The C++ headers: what their comments say, and the declarations below each."""
    lines = ["# C++", "", "Made from the headers in `include/penstock/`, which are the same to read.", ""]
    for path in sorted(FOLDER.glob("*.hpp")):
        lines += [f"## penstock/{path.name}", "", *_blocks(path), ""]
    return "\n".join(lines)


def _blocks(path: Path) -> Iterator[str]:
    """Prose and declarations in turn; what is private is left out."""
    prose: list[str] = []
    code: list[str] = []
    private = False
    for line in [*path.read_text().split("\n"), "", "// end"]:
        text = line.strip()
        if re.fullmatch(r"(private|protected):", text):
            private = True
        elif re.fullmatch(r"public:|};", text):
            private = False
        if text.startswith("//") or not text:
            if code:
                yield from [escaped("\n".join(prose)), "", "```cpp", *code, "```", ""]
                prose, code = [], []
            if text.startswith("//"):
                prose.append(text.removeprefix("//").removeprefix(" "))
            elif prose:  # prose of its own
                yield from [escaped("\n".join(prose)), ""]
                prose = []
        elif not private and not LEFT_OUT.match(line):
            code.append(line)


PROCEDURE = re.compile(
    r"^ *(?:pure |recursive )*(?P<result>[\w() ,*=:]*?)\b(?P<kind>subroutine|function) (?P<name>\w+)"
    r"\((?P<arguments>[^)]*)\)"
    r"(?P<body>.*?)^ *end (?P=kind)",
    re.MULTILINE | re.DOTALL,
)
INTERFACE = re.compile(
    r"(?P<comment>(?:^  +! [^\n]*\n)*)^  interface (?P<name>penstock_\w+)\n(?P<body>.*?)^  end interface",
    re.MULTILINE | re.DOTALL,
)


def fortran() -> str:
    """Every procedure of module penstock by the names that programs call, with its arguments."""
    template = (header.ROOT / "bindings" / "fortran" / "penstock.f90.in").read_text().split("\n")
    lines = [
        "# Fortran",
        "",
        "The procedures of module `penstock`, made from its source; what is in brackets may be left out. ",
    ]
    lines += ["[Fortran](../docs/fortran.md) says how they are used, and [C](c.md) what each does.", ""]
    for name, (comment, forms) in sorted(_procedures("\n".join(generate.expand(template, {"mpi_f08"}))).items()):
        lines += [f"## {name}", "", escaped(comment), "", "```fortran", *forms, "```", ""]
    return "\n".join(lines)


def _procedures(text: str) -> dict[str, tuple[str, list[str]]]:
    """Of each public name the comment above it and the different ways in which it is called."""
    text = re.sub(r"&\s*\n\s*&?", " ", text)
    public = set(re.findall(r"penstock_\w+", " ".join(re.findall(r"^  public :: (.*)$", text, re.MULTILINE))))
    procedures = {match["name"]: match for match in PROCEDURE.finditer(text)}
    found: dict[str, tuple[str, list[str]]] = {}
    for match in INTERFACE.finditer(text):
        inner = [
            *re.findall(r"module procedure (\w+)", match["body"]),
            *(m["name"] for m in PROCEDURE.finditer(match["body"])),
        ]
        comment = "\n".join(re.sub(r"^ *! ?", "", line) for line in match["comment"].splitlines() if "---" not in line)
        forms = [_form(match["name"], procedures[name]) for name in inner if name in procedures]
        old = found.get(match["name"], ("", []))
        found[match["name"]] = (old[0] or comment, list(dict.fromkeys([*old[1], *forms])))
    for name in public & set(procedures) - set(found):
        found[name] = ("", [_form(name, procedures[name])])
    return found


def _form(name: str, procedure: re.Match[str]) -> str:
    optional = set(re.findall(r"\w+", " ".join(re.findall(r"optional[^\n]*:: ([^\n]*)", procedure["body"]))))
    arguments = [a.strip() for a in procedure["arguments"].split(",") if a.strip()]
    written = ", ".join(f"[{a}]" if a in optional else a for a in arguments)
    return f"call {name}({written})" if procedure["kind"] == "subroutine" else f"value = {name}({written})"


TITLES = {
    "dataset": "Datasets",
    "group": "Groups",
    "file": "Files",
    "opening": "What opens files",
    "put": "What is assigned",
    "steps": "Series",
    "stream": "Streams",
    "whole": "Whole files",
    "exceptions": "Errors",
}


def python() -> str:
    """The names of package penstock, for Sphinx's autodoc."""
    lines = ["# Python", "", "Made from the docstrings; [Python](../docs/python.md) says how it is used.", ""]
    homes = re.search(r"_HOMES = \{(.*?)\n\}", (header.ROOT / "tools/penstock/__init__.py").read_text(), re.DOTALL)
    assert homes is not None
    for home, words in re.findall(r'"(\w+)": ((?:"[^"]*"\s*)+)', homes[1]):
        title = TITLES[home]
        lines += [f"## {title}", ""]
        for name in "".join(re.findall(r'"([^"]*)"', words)).split():
            directive = "autofunction" if name[0].islower() else "autoexception" if title == "Errors" else "autoclass"
            members = ":members:\n" if directive == "autoclass" else ""
            lines += [
                "```{eval-rst}",
                f".. {directive}:: penstock.{name}",
                *(f"   {m}" for m in members.split()),
                "```",
                "",
            ]
    return "\n".join(lines)
