"""compared.py: HDF5's file driver leaves the same contents by fewer writes, and a configuration is one clear error.

python compared.py PROGRAM LIBRARY DRIVER FOLDER MPIEXEC...      of tests/mpiio/hdf5.c, on 1, 3, 4 and 7 ranks
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def main() -> int:
    program, library, driver, place = (Path(word) for word in sys.argv[1:5])
    launcher = sys.argv[5:]
    h5diff = shutil.which("h5diff") or "h5diff"
    taken = {"LD_PRELOAD": str(library)}
    driven = {
        "LD_PRELOAD": f"{driver}:{library}",
        "HDF5_DRIVER": "penstock",
        "HDF5_PLUGIN_PATH": str(driver.parent),
    }

    def run(ranks: int, file: Path, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
        words = [f"{name}={value}" for name, value in variables.items()]
        command = [*launcher, "-n", str(ranks), "env", *words, str(program), "fields", str(file)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    with tempfile.TemporaryDirectory(dir=place) as name:
        folder = Path(name)
        for ranks in (1, 3, 4, 7):
            writes = {}
            for kind, variables in (("without", {}), ("taken", taken), ("driven", driven)):
                reports = folder / f"{kind}{ranks}"
                reports.mkdir()
                asked = variables | {"PENSTOCK_RUN_REPORT": str(reports)}
                done = run(ranks, folder / f"{kind}.h5", asked)
                if done.returncode != 0:
                    print(f"{kind}, {ranks} ranks: status {done.returncode}\n{done.stdout}{done.stderr}")
                    return 1
                for report in reports.glob("*.json"):
                    (file,) = json.loads(report.read_text())["files"]
                    writes[kind] = file["storage"]["writes"]
            different = subprocess.run([h5diff, folder / "without.h5", folder / "driven.h5"], check=False).returncode
            print(f"{ranks} ranks: {writes['taken']} writes, by the driver {writes['driven']}; h5diff {different}")
            if different or writes["driven"] * 2 > writes["taken"]:
                return 1
        failed = run(2, folder / "failed.h5", driven | {"HDF5_DRIVER_CONFIG": "fast"})
        said = [line for line in failed.stderr.splitlines() if "HDF5_DRIVER_CONFIG=fast" in line]
        print(*said, sep="\n")
        return 0 if failed.returncode != 0 and 1 <= len(said) <= 2 * 2 else 1  # each rank, for each file that it opens


if __name__ == "__main__":
    os.chdir(sys.argv[4])
    sys.exit(main())
