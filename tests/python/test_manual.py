"""test_manual.py: the man pages, the site, its links, and the commands that it shows."""

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from penstock.base import launch
from penstock.cli import whole
from penstock.measure.campaign import ior, program

MANUAL = ROOT / "tools" / "manual"
PAGES = sorted(
    path
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
    if path.name != "CHANGELOG.md"
)
LINK = re.compile(r"(?<!`)\]\(([^)\s]+)\)")
BLOCK = re.compile(r"```(?:sh|console|bash|text)?\n(.*?)```", re.DOTALL)


def made(what: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(MANUAL), what, str(folder)]
    environment = {"PYTHONPATH": str(ROOT / "tools"), "PATH": "/usr/bin:/bin", "SOURCE_DATE_EPOCH": "0"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("man")
    done = made("man", folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_function_has_a_page_that_says_what_it_does(pages: Path) -> None:
    declared = set(re.findall(r"\b(penstock_\w+)\(", re.sub(r"/\*.*?\*/", "", _header(), flags=re.DOTALL)))
    assert declared <= {path.stem for path in (pages / "man3").iterdir()}
    put = (pages / "man3" / "penstock_put.3").read_text()
    assert "Copies DATA before it returns." in put
    assert ".SH RETURN VALUE" in put
    assert all(re.fullmatch(r"\w+\.3", page.name) for page in (pages / "man3").iterdir())
    assert "A function that reports a wait" in (pages / "man3" / "penstock_waiting.3").read_text()
    assert "reports long waits" in (pages / "man3" / "penstock_when_waiting.3").read_text()


def _header() -> str:
    return (ROOT / "include" / "penstock.h").read_text()


def test_every_subcommand_has_a_page_with_its_options(pages: Path) -> None:
    for words, command in _commands((), whole()):
        name = "-".join(["penstock", *words])
        text = (pages / "man1" / f"{name}.1").read_text()
        for option in _options(command):
            assert option.replace("-", "\\-") in text, f"{name}(1) lacks {option}"


@pytest.mark.parametrize("reader", ["man", "mandoc"])
def test_readers_of_man_pages_have_no_complaint(pages: Path, reader: str) -> None:
    if shutil.which(reader) is None:
        pytest.skip(f"{reader} is not installed: Debian's package {'man-db' if reader == 'man' else reader}")
    for page in sorted(pages.glob("man?/*")):
        words = ["--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z"] if reader == "man" else ["-Tlint"]
        done = subprocess.run([reader, *words, str(page)], capture_output=True, text=True, check=False)
        said = done.stderr if reader == "man" else done.stdout
        assert not said, said


def test_the_site_is_made_without_a_warning(tmp_path: Path) -> None:
    done = made("site", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    for page in (
        "reference/c",
        "reference/cpp",
        "reference/fortran",
        "reference/python",
        "reference/cli",
        "docs/index",
    ):
        assert (tmp_path / "html" / f"{page}.html").is_file()
    assert Path(done.stdout.split()[-1]).is_file()  # the page that it names
    assert "Copies DATA before it returns" in (tmp_path / "html" / "reference" / "c.html").read_text()
    assert "exception penstock.Denied" in re.sub("<.*?>", "", (tmp_path / "html/reference/python.html").read_text())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.DOTALL)
    for target in LINK.findall(text):
        path, _, anchor = target.partition("#")
        if "://" in path or target.startswith("mailto:") or path.startswith("../reference/"):
            continue
        file = page.parent / path if path else page
        assert file.exists(), f"{page.name}: {target} leads nowhere"
        if anchor and file.suffix == ".md":
            assert anchor in _anchors(file), f"{page.name}: {path} has no heading #{anchor}"


def _anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _commands(words: tuple[str, ...], command: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield words, command
    for name, inner in ((name, one) for name, one in getattr(command, "commands", {}).items() if not one.hidden):
        yield from _commands((*words, name), inner)


def _options(command: Any) -> set[str]:
    return {name for p in command.params for name in [*p.opts, *p.secondary_opts] if name.startswith("-")} | {"--help"}


def shown() -> Iterator[tuple[str, str]]:
    """Every command line of `penstock` that a block of a page shows."""
    for page in PAGES:
        for block in BLOCK.findall(page.read_text()):
            for line in block.replace("\\\n", " ").split("\n"):
                match = re.match(r"(?:\$ )?(?:build/bin/)?penstock (?P<words>[a-z-].*)", line.strip())
                if match:
                    yield page.relative_to(ROOT).as_posix(), match["words"].partition("  #")[0].partition(" | ")[0]


def test_shown_commands_have_the_options_that_are_shown(build: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_BIN", str(build / "bin"))
    passed_on = {name for group in program.options(launch.Mpi.openmpi).values() for name in group}
    found = list(shown())
    assert found
    commands = dict(_commands((), whole()))
    for page, line in found:
        words = shlex.split(line.partition(" -- ")[0])  # what follows is another program's
        known = next((words[:n] for n in (2, 1) if tuple(words[:n]) in commands), None)
        if words[0].startswith("--"):
            known = []
        assert known is not None, f"{page}: penstock {line}: no such subcommand"
        options = _options(commands[tuple(known)]) | (ior.OPTIONS if words[:2] == ["bench", "ior"] else set())
        options |= passed_on if words[0] in ("bench", "tune", "plan", "simulate") else set()
        for word in words:
            option = word.partition("=")[0]
            if re.fullmatch(r"--?[a-z][a-z-]*", option):
                assert option in options, f"{page}: penstock {line}: there is no {option}"
