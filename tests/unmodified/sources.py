"""sources.py: fetches the source packages of this machine's distribution, from the archive that apt uses here."""

import os
import re
import subprocess
from pathlib import Path


class Missing(Exception):
    """What a suite needs is not to be had here; the message says what and why."""


def unpacked(package: str, folder: Path) -> tuple[Path, str]:
    """The folder and version of PACKAGE, which is fetched and unpacked below FOLDER if it is not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    if not description(package, folder):
        fetch(package, folder)
    found = description(package, folder)
    if found is None:
        raise Missing(f"apt-get source {package}: no .dsc file came")
    version = re.findall(r"^Version: (?:\d+:)?(\S+)", found.read_text(), re.MULTILINE)[0]
    source = folder / package
    if not source.is_dir():
        call("dpkg-source", "--extract", found.name, package, cwd=folder)
    return source, version


def description(package: str, folder: Path) -> Path | None:
    return next(iter(sorted(folder.glob(f"{package}_*.dsc"))), None)


def fetch(package: str, folder: Path) -> None:
    """apt gets lists of its own: the machine's may have no sources, and stay as they are."""
    state = folder / "apt"
    (state / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    (state / "sources.list").write_text(source_lines())
    options = [
        f"Dir::Etc::SourceList={state}/sources.list", "Dir::Etc::SourceParts=/dev/null",
        f"Dir::State::Lists={state}/lists", "Dir::Cache::pkgcache=", "Dir::Cache::srcpkgcache=",
    ]  # fmt: skip
    if os.geteuid() == 0:
        options.append("APT::Sandbox::User=root")
    apt = ["apt-get", "--quiet", *(word for option in options for word in ("--option", option))]
    call(*apt, "update", cwd=folder)
    try:
        call(*apt, "source", "--download-only", package, cwd=folder)
    except Missing:
        for left in folder.glob(f"{package}_*"):  # a .dsc comes first, and would look like success
            left.unlink()
        raise


def source_lines() -> str:
    """Those of the archive from which apt has this distribution's packages."""
    release = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)
    name = release["VERSION_CODENAME"].strip('"')
    texts = [path.read_text() for path in Path("/etc/apt/sources.list.d").glob("*.sources")]
    stanzas = [stanza for text in texts for stanza in re.split(r"\n\s*\n", text)]
    for stanza in stanzas:
        fields = dict(re.findall(r"^([\w-]+):\s*(.*)$", stanza, re.MULTILINE))
        if name in fields.get("Suites", "").split() and "main" in fields.get("Components", "").split():
            key = f"[signed-by={fields['Signed-By']}] " if fields.get("Signed-By", "").startswith("/") else ""
            return f"deb-src {key}{fields['URIs'].split()[0]} {name} main\n"
    old = Path("/etc/apt/sources.list")
    lines = old.read_text().splitlines() if old.is_file() else []
    for line in lines:
        if found := re.match(rf"deb\s+((?:\[.*?\]\s+)?\S+\s+{name})\s+.*\bmain\b", line):
            return f"deb-src {found[1]} main\n"
    raise Missing(f"apt has no archive of {name} here")


def call(*words: str, cwd: Path, log: Path | None = None, more: dict[str, str] | None = None) -> None:
    """Runs WORDS; if they fail, Missing says what they printed last. Everything goes to LOG, if there is one."""
    done = subprocess.run(
        ["nice", *words], cwd=cwd, env=os.environ | (more or {}), capture_output=True, text=True, check=False
    )
    if log is not None:
        log.write_text(f"{' '.join(words)}\n{done.stdout}{done.stderr}")
    if done.returncode != 0:
        last = (done.stderr or done.stdout).strip()[-1000:]
        raise Missing(f"{' '.join(words)[:200]} ends with {done.returncode}: {last}")


def said(*words: str) -> str:
    """What WORDS print."""
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout
