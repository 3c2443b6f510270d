"""test_commands.py: the command line as one thing: its overview, its names of before, and what a start imports."""

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import penstock as library
from conftest import ROOT, Penstock
from penstock.cli import command, main, whole
from penstock.cli.table import ALIASES, COMMANDS, overview

HEAVY = {"asyncio", "darshan", "h5py", "jinja2", "matplotlib", "mpi4py", "numpy", "pandas", "rich", "sqlite3", "xarray"}


def imported(words: list[str], folder: Path, bin_folder: Path) -> set[str]:
    """The modules that `penstock WORDS...` has imported at its end, in a process of its own."""
    tell = (
        "import atexit, sys\n"
        "atexit.register(lambda: print(*sys.modules, file=open('modules', 'w')))\n"
        "from penstock.cli import main\n"
        "main()\n"
    )
    subprocess.run(
        [sys.executable, "-c", tell, *words],
        cwd=folder,
        env={"PENSTOCK_BIN": str(bin_folder), "PATH": "/nowhere"},
        check=True,
        capture_output=True,
        timeout=300,
    )
    return set((folder / "modules").read_text().split())


@pytest.mark.parametrize("line", ["--version", "--help"])
def test_the_overview_imports_no_command(build: Path, tmp_path: Path, line: str) -> None:
    found = imported([line], tmp_path, build / "bin")
    assert not (found & (HEAVY | {"typer", "pydantic", "pathlib"}))
    assert {name for name in found if name.startswith("penstock.cli.")} == {"penstock.cli.table"}


def test_a_package_that_python_lacks_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "typer", None)
    monkeypatch.setattr(sys, "argv", ["penstock", "info", "a.h5"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert f"penstock: {sys.executable} lacks the package 'typer'" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["info", "a.h5"], ["info", "."], ["ls", "."]], ids=" ".join)
def test_info_imports_nothing_heavy_and_needs_no_launcher(build: Path, tmp_path: Path, words: list[str]) -> None:
    with library.create(tmp_path / "a.h5") as file:
        file["q"] = library.replicated(1.0)
    found = imported(words, tmp_path, build / "bin")
    assert not (found & HEAVY)
    others = {row.module for row in COMMANDS.values()} - {"info"}
    assert not (found & {f"penstock.cli.{name}" for name in others})


@pytest.mark.parametrize("name", COMMANDS)
def test_every_row_names_a_command_and_begins_its_help(name: str) -> None:
    found = command(name)
    assert found.name == name
    assert not found.hidden
    assert found.help.splitlines()[0] == f"{COMMANDS[name].help}."


def test_an_option_of_several_commands_is_declared_once() -> None:
    declared = Counter(
        ast.unparse(node)
        for path in (ROOT / "tools" / "penstock" / "cli").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "typer.Option"
    )
    assert declared["typer.Option('--mpi', help='Run under this MPI library.')"] == 1
    assert {option: count for option, count in declared.items() if count > 1} == {}


def test_names_of_before_are_hidden_and_work(penstock: Penstock) -> None:
    shown = {name for name, one in whole().commands.items() if not one.hidden}
    assert shown == set(COMMANDS)
    assert set(whole().commands) - shown == set(ALIASES)
    assert [line[12:24].strip() for line in overview().splitlines()[1:]] == list(COMMANDS)
    for name in ALIASES:
        assert command(name).hidden
        assert penstock(name, "--help").stdout.startswith(f"Usage: penstock {name} ")


@pytest.mark.parametrize("words", [[], *([name] for name in [*COMMANDS, *ALIASES]), ["campaign", "run"]], ids=" ".join)
def test_h_is_help(penstock: Penstock, words: list[str]) -> None:
    long, short = penstock(*words, "--help"), penstock(*words, "-h")
    assert (short.returncode, short.stdout, short.stderr) == (0, long.stdout, "")
    assert short.stdout.startswith("Usage: penstock")


def test_the_overview_fits_a_screen(penstock: Penstock) -> None:
    shown = penstock("--help")
    assert shown.returncode == 0
    assert len(shown.stdout.splitlines()) <= 24
    assert max(map(len, shown.stdout.splitlines())) <= 80
    bare = penstock()
    assert (bare.returncode, bare.stdout) == (2, shown.stdout)


@pytest.mark.parametrize(
    ("word", "said"), [("verfy", "there is no command 'verfy': verify?"), ("--all", "there is no option '--all'")]
)
def test_an_unknown_command_is_one_line(penstock: Penstock, word: str, said: str) -> None:
    done = penstock(word)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"penstock: {said}")
    assert done.stderr.count("\n") == 1
