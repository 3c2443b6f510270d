"""python-develop.py: makes this source tree the package `penstock` of the environment that runs it; builds nothing.

python scripts/python-develop.py [FOLDER]      FOLDER: only what says of an installed package what it is, into FOLDER
"""

import sys
import sysconfig
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
NAME, VERSION = PROJECT["name"], PROJECT["version"]


def describe(folder: Path, installer: str) -> list[str]:
    """The files in FOLDER by which Python knows the package, its command and its entry points."""
    info = folder / f"{NAME}-{VERSION}.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {VERSION}\n")
    (info / "INSTALLER").write_text(f"{installer}\n")
    groups = {"console_scripts": PROJECT["scripts"], **PROJECT["entry-points"]}
    (info / "entry_points.txt").write_text(
        "".join(
            f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in entries.items()) for group, entries in groups.items()
        )
    )
    return [f"{info.name}/{each}" for each in ("METADATA", "INSTALLER", "entry_points.txt")]


def develop() -> None:
    site = Path(sysconfig.get_path("purelib"))
    (site / f"{NAME}.pth").write_text(
        f"{ROOT / 'tools'}\n{ROOT / 'build/lib/python'}\n{ROOT / 'build/serial/lib/python'}\n"
    )
    files = [f"{NAME}.pth", *describe(site, "python-develop")]
    for command, target in PROJECT["scripts"].items():
        module, function = target.split(":")
        script = Path(sysconfig.get_path("scripts")) / command
        script.write_text(f"#!{sys.executable}\nimport sys\nfrom {module} import {function}\nsys.exit({function}())\n")
        script.chmod(0o755)
        files.append(str(script))
    record = f"{NAME}-{VERSION}.dist-info/RECORD"
    (site / record).write_text("".join(f"{each},,\n" for each in [*files, record]))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        describe(Path(sys.argv[1]), "cmake")
    else:
        develop()
