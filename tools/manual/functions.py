"""functions.py: the C interface as man pages and as a page of the site, both from penstock.h."""

import re
from collections.abc import Iterator

import header
import roff

RETURNS = (
    "PENSTOCK_OK, or another status, whose meaning penstock_status(3) says. penstock_message(3) is then what went "
    "wrong, where, and what to do."
)


def man(parts: list[header.Part], version: str) -> Iterator[roff.Page]:
    """A page for each declaration of the header, and penstock(3) over all of them."""
    overview = roff.Page("penstock", 3, version)
    overview.name("parallel arrays into one portable file, and back: the C interface")
    overview.head("synopsis")
    overview.literal("#include <penstock.h>\n\ncc $(pkg-config --cflags --libs penstock) program.c")
    for part in parts:
        overview.head(part.title)
        for prose in filter(None, [part.subtitle, *part.prose]):
            overview.words(prose)
        for entry in part.entries:
            overview.entry(f"{entry.name}(3)", header.summary(entry.comment))
        yield from (_page(part, entry, version) for entry in part.entries)
    overview.also([("penstock", 1)])
    yield overview


def _page(part: header.Part, entry: header.Entry, version: str) -> roff.Page:
    page = roff.Page(entry.name, 3, version)
    page.name(header.summary(entry.comment) or part.title)
    page.head("synopsis")
    page.literal(f"#include <penstock.h>\n\n{entry.text}")
    if entry.comment or part.prose:
        page.head("description")
        for words in [entry.comment, *part.prose]:
            page.words(words)
    if entry.has_status:
        page.head("return value")
        page.words(RETURNS)
    names = [(other.name, 3) for other in part.entries]
    page.also([*names, ("penstock", 3)])
    return page


def markdown(parts: list[header.Part]) -> str:
    """The C interface as one page."""
    lines = [
        "# C",
        "",
        "Made from `penstock.h`, which is the same to read. Each function has a man page: `man penstock_put`.",
        "",
    ]
    for part in parts:
        lines += [f"## {part.title[:1].upper()}{part.title[1:]}", ""]
        for prose in filter(None, [part.subtitle, *part.prose]):
            lines += [escaped(prose), ""]
        for entry in part.entries:
            lines += [f"({entry.name})=", f"### {entry.name}", "", "```c", entry.text, "```", ""]
            lines += [escaped(entry.comment), ""]
    return "\n".join(lines)


def escaped(text: str) -> str:
    """TEXT of a comment in Markdown: nothing in it is a mark; indented lines are a list of names and meanings."""
    out: list[str] = []
    literal = False
    for line in text.split("\n"):
        if line.startswith("  ") != literal and line.strip():
            literal = not literal
            out += ["", "```text"] if literal else ["```", ""]
        if literal:
            out.append(line)
        else:
            out.append(re.sub(r"([\\`*_<\[#|$])", r"\\\1", line))
    return "\n".join([*out, *(["```"] if literal else [])])
