"""header.py: what penstock.h says: its parts, and of each declaration its text and the comment above it."""

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bindings" / "fortran"))
import generate  # noqa: E402  the parser by which the Fortran modules are made

PART = re.compile(r"/\* -+ (?P<title>.*?)(?: -+)? *\*/")
TOKEN = re.compile(
    r"(?P<comment>/\*.*?\*/)(?P<gap>[ \t]*\n[ \t]*\n)?"
    r"|(?P<define>#\s*define (?:\\\n|[^\n])*)|(?P<preprocessor>#[^\n]*)"
    r"|(?P<declaration>[a-zA-Z_][^;{]*(?:\{(?:/\*.*?\*/|[^}])*\}[^;]*)?;[ \t]*(?:/\*[^\n]*\*/)?)",
    re.DOTALL,
)


@dataclass
class Entry:
    """One declaration; its words are those of the header."""

    name: str
    text: str
    comment: str
    is_function: bool
    has_status: bool = False


@dataclass
class Part:
    title: str
    subtitle: str = ""
    prose: list[str] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)


def plain(comment: str) -> str:
    """A comment's text, without its stars; lines that are indented stay so."""
    lines = comment.removeprefix("/*").removesuffix("*/").split("\n")
    return "\n".join(re.sub(r"^ \* ?", "", line).rstrip() for line in lines).strip()


def parse(text: str) -> list[Part]:
    """The parts of a header in the style of penstock.h, the first without a title of its own."""
    body = text[text.index('extern "C" {') : text.index("#ifdef __cplusplus", text.index('extern "C" {'))]
    body = body.partition("\n")[2].partition("#endif\n")[2]
    functions = {f.name: f for f in generate.parse(text).functions}
    parts = [Part("statuses, types and memory")]
    pending = ""
    for match in TOKEN.finditer(body):
        if comment := match["comment"]:
            # What ends a part: a declaration that follows has words of its own.
            title = PART.match(" ".join(comment.replace("\n *", " ").split()))
            if title:
                words, _, subtitle = title["title"].partition(": ")
                parts.append(Part(words.strip(), subtitle.strip()))
            elif match["gap"]:
                parts[-1].prose.append(plain(comment))
            else:
                pending = plain(comment)
        elif define := match["define"]:
            macro = define.split()[1].partition("(")[0]
            parts[-1].entries.append(Entry(macro, define.strip(), pending, is_function=False))
            pending = ""
        elif declaration := match["declaration"]:
            name = _name(declaration)
            function = functions.get(name)
            status = function is not None and function.result == "penstock_status"
            parts[-1].entries.append(Entry(name, declaration.strip(), pending, function is not None, status))
            pending = ""
    return parts


def _name(declaration: str) -> str:
    if pointer := re.match(r"typedef [^(;{]*\(\*(\w+)\)\(", declaration):
        return pointer[1]
    if declaration.startswith("typedef"):
        return declaration.split(";")[-2].rsplit(maxsplit=1)[-1] if "{" not in declaration else declaration.split()[2]
    match = re.search(r"(\w+)\(", declaration)
    assert match is not None, declaration
    return match[1]


def summary(comment: str) -> str:
    """The first clause of COMMENT that says what the function does, for one line."""
    text = re.sub(r"^((Collective|Local)\b[^.]*\.|Local\.) *", "", " ".join(comment.split()))
    clause = re.split(r"(?<=[^.])[.;:](?: |$)", text, maxsplit=1)[0]
    return clause[:1].lower() + clause[1:] if clause[1:2].islower() or clause[1:2] == " " else clause
