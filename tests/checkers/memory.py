"""memory.py: ranks under valgrind; fails where memory of ours is lost, or used without a value or after it was freed.

memory.py VALGRIND -- LAUNCHER... -- PROGRAM ARGUMENTS...

MPI, HDF5 and what lies under them have finds of their own. Of ours are lost blocks that our code asked for itself, and
all else with our code among its innermost frames, such as bytes without a value that go to write(2).
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

SUPPRESSIONS = "/usr/share/openmpi/openmpi-valgrind.supp"
OPTIONS = ["--quiet", "--leak-check=full", "--show-leak-kinds=definite", "--num-callers=40", "--track-origins=no"]
FRAME = re.compile(r"==\d+==    (?:at|by) 0x[0-9A-F]+: (.*)")
OURS = re.compile(r"penstock")
# Innermost frames that say nothing: of the C library and of valgrind's own versions of its functions.
PLAIN = re.compile(r"vg_replace_malloc|vgpreload|operator new|libc\.so|libpthread|/nptl/|syscall|\bin /usr/lib/.*ld-")


def main() -> int:
    words = sys.argv[1:]
    if words.count("--") != 2:
        print(__doc__)
        return 2
    first = words.index("--")
    second = words.index("--", first + 1)
    valgrind, launcher, program = words[0], words[first + 1 : second], words[second + 1 :]
    with tempfile.TemporaryDirectory(prefix="memory-") as folder:
        options = [*OPTIONS, f"--log-file={folder}/%p"]
        if Path(SUPPRESSIONS).exists():
            options.append(f"--suppressions={SUPPRESSIONS}")
        ran = subprocess.run([*launcher, valgrind, *options, *program], check=False)
        logs = sorted(Path(folder).iterdir())
        finds = [find for log in logs for find in split(log.read_text(errors="replace"))]
    ours = [find for find in finds if is_ours(find)]
    print(f"memory: {len(logs)} processes, {len(ours)} finds of ours, {len(finds) - len(ours)} of other libraries")
    for find in ours[:20]:
        print(find)
    return 1 if ours or ran.returncode != 0 or not logs else 0


def split(log: str) -> list[str]:
    """The finds of one process; they stand apart by empty lines."""
    return [find for find in re.split(r"^==\d+== \n", log, flags=re.MULTILINE) if FRAME.search(find)]


def is_ours(find: str) -> bool:
    frames = FRAME.findall(find)
    if "definitely lost" in find:
        # Made by a call of ours, not somewhere below a call of another library.
        frames = [frame for frame in frames if not PLAIN.search(frame)]
        return bool(frames) and bool(OURS.search(frames[0]))
    return any(OURS.search(frame) for frame in frames[:6])


if __name__ == "__main__":
    sys.exit(main())
