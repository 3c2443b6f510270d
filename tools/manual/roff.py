"""roff.py: a man page from plain words."""

import itertools
import os
import re
import textwrap
import time
from collections.abc import Iterable
from dataclasses import dataclass, field


def escaped(text: str) -> str:
    """TEXT as roff takes it: what it would read as a command, or as another character, is kept."""
    text = (
        text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga").replace("^", "\\(ha").replace("~", "\\(ti")
    )
    text = text.replace('"', "\\(dq")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)


def folded(text: str) -> list[str]:
    """TEXT in lines of a page's source."""
    lines = textwrap.wrap(text, 72, break_long_words=False, break_on_hyphens=False)
    return [escaped(line) for line in lines]


@dataclass
class Page:
    """One page; TITLE penstock_put and SECTION 3 make penstock_put(3)."""

    title: str
    section: int
    version: str
    lines: list[str] = field(default_factory=list)

    def head(self, title: str) -> None:
        self.lines.append(f".SH {escaped(title.upper())}")

    def words(self, text: str) -> None:
        """Paragraphs; lines that are indented stay as they are."""
        for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
            for literal, lines in itertools.groupby(paragraph.split("\n"), lambda line: line.startswith("  ")):
                if not self.lines[-1].startswith(".SH"):
                    self.lines.append(".PP")
                if literal:
                    self.literal("\n".join(lines))
                else:
                    self.lines += folded(" ".join(lines))

    def literal(self, text: str) -> None:
        self.lines.extend([".nf", *map(escaped, text.split("\n")), ".fi"])

    def entry(self, tag: str, text: str) -> None:
        self.lines.extend([".TP", f"\\fB{escaped(tag)}\\fR", *folded(text or tag)])

    def also(self, names: Iterable[tuple[str, int]]) -> None:
        self.head("see also")
        found = [
            f".BR {escaped(name)} ({section})"
            for name, section in names
            if (name, section) != (self.title, self.section)
        ]
        self.lines.extend([*(f"{line} ," if at < len(found) - 1 else line for at, line in enumerate(found))])

    def name(self, summary: str) -> None:
        """What `man -k` finds."""
        self.head("name")
        self.lines += [escaped(self.title) + " \\-", *folded(summary)]

    def text(self) -> str:
        when = time.gmtime(float(os.environ.get("SOURCE_DATE_EPOCH", time.time())))
        date = time.strftime("%Y-%m-%d", when)
        head = f'.TH "{escaped(self.title.upper())}" "{self.section}" "{date}" "penstock {self.version}" "Penstock"'
        return "\n".join(
            [f'.\\" {self.title}({self.section}): made from what it describes', head, ".ad l", *self.lines, ""]
        )
