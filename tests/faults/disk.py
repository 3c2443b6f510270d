"""disk.py: small file systems, mounted from files; the mounts go with the last process of their namespace."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SKIPPED = 77
INSIDE = "PENSTOCK_INSIDE"


@dataclass(frozen=True)
class Kind:
    """How a file system is made and mounted. What hides a missing sync is switched off."""

    make: tuple[str, ...]
    mebibytes: int
    options: str = "loop"
    quota: bool = False


KINDS = {
    "ext4": Kind(("mkfs.ext4", "-q", "-m", "0"), 32, "loop,noauto_da_alloc"),
    "ext4-writeback": Kind(("mkfs.ext4", "-q", "-m", "0"), 32, "loop,noauto_da_alloc,data=writeback"),
    "xfs": Kind(("mkfs.xfs", "-q", "--unsupported"), 64),  # as small as this has no support
    "btrfs": Kind(("mkfs.btrfs", "-q", "-M"), 128),
    "btrfs-quota": Kind(("mkfs.btrfs", "-q", "-M"), 128, quota=True),
}


def skip(why: str) -> None:
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def enter_namespace(*more: str) -> None:
    """Starts this program again where its mounts are its own, and what else the options MORE of unshare say."""
    there = f"namespaces: mount {' '.join(more)}"
    if os.environ.get(INSIDE) == there:
        return
    if os.geteuid() != 0:
        skip("mounts need root")
    if shutil.which("unshare") is None or subprocess.run(["unshare", "--mount", *more, "true"], check=False).returncode:
        skip(f"no namespaces here: unshare {' '.join(('--mount', *more))}")
    os.environ[INSIDE] = there
    os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", *more, "--", sys.executable, *sys.argv])


@contextmanager
def folders(prefix: str) -> Iterator[Path]:
    """A folder in memory where there is one: image files on a disk would wait for it at each sync."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=memory if memory.is_dir() else None))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Disk:
    """One file system of KIND below FOLDER."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind = kind
        self.image = folder / f"{kind}.image"
        self.path = folder / kind
        self.room = self.path / "room"  # where to write
        self._options = KINDS[kind].options

    def make(self) -> str:
        """Why there is none; "" where it is there now."""
        how = KINDS[self.kind]
        if shutil.which(how.make[0]) is None:
            return f"no {how.make[0]}"
        with self.image.open("wb") as file:
            file.truncate(how.mebibytes << 20)
        made = subprocess.run([*how.make, str(self.image)], capture_output=True, text=True, check=False)
        if made.returncode != 0:
            return f"{how.make[0]} fails: {made.stderr.strip()}"
        self.path.mkdir()
        mounted = subprocess.run(self._mount(), capture_output=True, text=True, check=False)
        if mounted.returncode != 0:
            return f"{self.kind} cannot be mounted here: {mounted.stderr.splitlines()[0]}"
        for words in (["quota", "enable", str(self.path)], ["subvolume", "create", str(self.room)]):
            if how.quota and subprocess.run(["btrfs", *words], capture_output=True, check=False).returncode != 0:
                self.remove()
                return "no quotas of btrfs here"
        self.room.mkdir(exist_ok=True)
        return ""

    def _mount(self) -> list[str]:
        return ["mount", "-o", self._options, str(self.image), str(self.path)]

    def remount(self) -> str:
        """A command that mounts it again, when all who use it are gone: its journal is replayed."""
        wait = f"n=0; until umount {self.path} 2>/dev/null; do n=$((n+1)); [ $n -lt 400 ] || exit 1; sleep 0.05; done"
        return f"{wait}; {' '.join(self._mount())}"

    def limit(self) -> str:
        """A command that leaves as many bytes as it is told."""
        script = Path(__file__).resolve().parent / "limit.sh"
        return f"{script} {'quota' if KINDS[self.kind].quota else 'full'} {self.path}"

    def remove(self) -> None:
        subprocess.run(["umount", str(self.path)], check=False)
        self.image.unlink(missing_ok=True)


def each_disk(kinds: list[str], prefix: str, use: Callable[[Disk, Path], int]) -> int:
    """USE's worst answer, one file system after the other; SKIPPED where there is none of them."""
    answers = []
    for kind in kinds:
        with folders(f"{prefix}-{kind}-") as folder:
            disk = Disk(kind, folder)
            if why := disk.make():
                print(f"skipped: {kind}: {why}", flush=True)
                continue
            (folder / "pages").mkdir()
            try:
                answers.append(use(disk, folder / "pages"))
            finally:
                disk.remove()
    return max(answers) if answers else SKIPPED
