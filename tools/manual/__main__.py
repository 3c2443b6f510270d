"""manual: makes the man pages, the shell completions and the site.

python tools/manual man FOLDER             FOLDER/man1 and FOLDER/man3
python tools/manual completions FOLDER     FOLDER/bash, FOLDER/zsh and FOLDER/fish
python tools/manual site FOLDER            FOLDER/html, from docs/ and generated references; warnings are errors
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

import commands
import functions
import header
import languages

from penstock import __version__

# What pages of docs/ have links to, so that these lead somewhere.
SEEN = ("docs", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["man", "completions", "site"])
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    folder: Path = arguments.folder.absolute()
    if arguments.what == "man":
        return man(folder)
    return site(folder) if arguments.what == "site" else completions(folder)


def parts() -> list[header.Part]:
    return header.parse((header.ROOT / "include" / "penstock.h").read_text())


def man(folder: Path) -> int:
    pages = [*functions.man(parts(), __version__), *commands.man(__version__)]
    for page in pages:
        path = folder / f"man{page.section}" / f"{page.title}.{page.section}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page.text())
    print(f"{len(pages)} man pages in {folder}")
    return 0


def completions(folder: Path) -> int:
    from penstock.cli import completion, whole

    for shell, name in (("bash", "penstock"), ("zsh", "_penstock"), ("fish", "penstock.fish")):
        path = folder / shell / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(completion.script(completion.Shell(shell), whole()))
    print(f"completions of bash, zsh and fish in {folder}")
    return 0


def site(folder: Path) -> int:
    """The references and a copy of docs/ in one tree, by which Sphinx makes HTML."""
    source = folder / "source"
    shutil.rmtree(source, ignore_errors=True)
    (source / "reference").mkdir(parents=True)
    for name in SEEN:
        copy = shutil.copytree if (header.ROOT / name).is_dir() else shutil.copyfile
        copy(header.ROOT / name, source / name)
    for name, text in (
        ("c", functions.markdown(parts())),
        ("cpp", languages.cpp()),
        ("fortran", languages.fortran()),
        ("python", languages.python()),
        ("cli", commands.markdown()),
    ):
        (source / "reference" / f"{name}.md").write_text(text)
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-W",
        "--keep-going",
        "--quiet",
        "-b",
        "html",
        "-c",
        str(header.ROOT / "docs"),
    ]
    environment = {**os.environ, "PYTHONPATH": str(header.ROOT / "tools")}
    ran = subprocess.run(
        [*command, "-d", str(folder / "doctrees"), str(source), str(folder / "html")], env=environment, check=False
    )
    if ran.returncode == 0:
        print(f"the site is {folder / 'html' / 'docs' / 'index.html'}")
    return ran.returncode


if __name__ == "__main__":
    sys.exit(main())
