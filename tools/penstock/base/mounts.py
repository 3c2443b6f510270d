"""mounts.py: the file system that a folder lies on, and whether it is this machine's own."""

import re
from pathlib import Path

LOCAL = {"ext2", "ext3", "ext4", "xfs", "btrfs", "tmpfs", "ramfs", "overlay", "zfs", "f2fs", "bcachefs", "vfat"}
ESCAPE = re.compile(r"\\([0-7]{3})")


def mounted() -> list[tuple[str, str]]:
    """(point, type) of this machine's, in the order in which they were mounted; empty where that is not known."""
    try:
        lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        mount, _, system = line.partition(" - ")
        found.append((unescaped(mount.split()[4]), system.split()[0]))
    return found


def unescaped(text: str) -> str:
    r"""A field of mountinfo, which has \040 for a blank."""
    return ESCAPE.sub(lambda found: chr(int(found[1], 8) & 0xFF), text)


def kind_of(folder: Path) -> str:
    """The type of file system that FOLDER, an absolute path, lies on: "ext4"; empty where it is not known."""
    deepest, kind = -1, ""
    for point, kind_here in mounted():
        if folder.is_relative_to(point) and len(point) >= deepest:
            deepest, kind = len(point), kind_here
    return kind


def is_local(folder: Path) -> bool:
    """False where it is not known."""
    return kind_of(folder) in LOCAL
