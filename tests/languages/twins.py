"""twins.py: what one language wrote has the same digests from all others, and is read by each of them.

python twins.py NAME=PROGRAM... -- LAUNCHER...    A PROGRAM may end in .py; LAUNCHER starts the ranks, none: one process
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(f"skipped: no Python with h5py: {missing}")
    sys.exit(77)

NAMES = ["complex64", "int32", "int64", "real32", "real64", "text"]


def digests(path: Path) -> list[int]:
    """Name, elements, block and sums of each dataset: words 6 and on, without the record's own sum and zeros behind."""
    with h5py.File(path) as file:
        words = [int(word) for word in file["_penstock/checksums"]]
    assert words[0] == 0x314D555354534E50
    assert words[4] == len(NAMES)
    found = words[6 : words[5] - 1]
    assert len(found) == 4 * len(NAMES), found
    return found


def run(program: str, launcher: list[str], what: str, path: Path) -> None:
    command = (
        [sys.executable, *(["-m", "mpi4py"] if launcher else []), program] if program.endswith(".py") else [program]
    )
    environment = os.environ | {"TWIN_MPI": "1" if launcher else "0"}
    done = subprocess.run(
        [*launcher, *command, what, str(path)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, f"{program} {what} {path.name}:\n{done.stdout}{done.stderr}"


at = sys.argv.index("--")
programs = dict(word.split("=", 1) for word in sys.argv[1:at])
launcher = sys.argv[at + 1 :]
with tempfile.TemporaryDirectory(dir=".") as folder:
    paths = {name: Path(folder) / f"of_{name}.h5" for name in programs}
    for name, path in paths.items():
        run(programs[name], launcher, "write", path)
    first = digests(next(iter(paths.values())))
    y, x = np.mgrid[1:13, 1:8]
    for name, path in paths.items():
        assert digests(path) == first, f"{name}: other digests"
        with h5py.File(path) as file:
            assert np.array_equal(file["real64"], 100 * y + x), name
        for reader, program in programs.items():
            if reader != name:
                run(program, launcher, "read", path)
print(f"{', '.join(programs)}: the same digests, {len(programs) * (len(programs) - 1)} files read")
