"""mounts.py: whether a folder's names are this machine's own to tell, or come from a server and may be late."""

from pathlib import Path

LOCAL = {"ext2", "ext3", "ext4", "xfs", "btrfs", "tmpfs", "ramfs", "overlay", "zfs", "f2fs", "bcachefs", "vfat"}


def mounted() -> list[tuple[str, str]]:
    """(point, type) of this machine's, in the order in which they were mounted; empty where that is not known."""
    try:
        lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        mount, _, system = line.partition(" - ")
        point = mount.split()[4].encode("latin-1", "replace").decode("unicode_escape")
        found.append((point, system.split()[0]))
    return found


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
