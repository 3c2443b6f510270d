"""python-develop.py: makes this source tree the package `penstock` of the environment that runs it, without building anything."""

import sys
import sysconfig
import tomllib
from pathlib import Path

root = Path(__file__).resolve().parents[1]
site = Path(sysconfig.get_path("purelib"))
project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
name, version = project["name"], project["version"]

(site / f"{name}.pth").write_text(
    f"{root / 'tools'}\n{root / 'build/lib/python'}\n{root / 'build/serial/lib/python'}\n"
)
info = site / f"{name}-{version}.dist-info"
info.mkdir(exist_ok=True)
(info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
(info / "INSTALLER").write_text("python-develop\n")
groups = {"console_scripts": project["scripts"], **project["entry-points"]}
(info / "entry_points.txt").write_text(
    "".join(f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in entries.items()) for group, entries in groups.items())
)
files = [f"{name}.pth", *(f"{info.name}/{each}" for each in ("METADATA", "INSTALLER", "entry_points.txt", "RECORD"))]
for command, target in project["scripts"].items():
    module, function = target.split(":")
    script = Path(sysconfig.get_path("scripts")) / command
    script.write_text(f"#!{sys.executable}\nimport sys\nfrom {module} import {function}\nsys.exit({function}())\n")
    script.chmod(0o755)
    files.append(str(script))
(info / "RECORD").write_text("".join(f"{each},,\n" for each in files))
