"""mounts.py: the mounted file systems of a node from mountinfo, each once however often it is mounted."""

from dataclasses import dataclass, field
from pathlib import Path

from penstock.base.mounts import unescaped
from penstock.operate.monitor.counters import lines_of

# Of the kernel's own: they hold no files of anybody's.
NO_FILES = (
    "autofs binfmt_misc bpf cgroup cgroup2 configfs debugfs devpts devtmpfs efivarfs fusectl fuse.gvfsd-fuse "
    "fuse.lxcfs fuse.portal fuse.snapfuse hugetlbfs mqueue nfsd nsfs overlay proc pstore ramfs rpc_pipefs securityfs "
    "selinuxfs squashfs sysfs tracefs"
)
SYSTEM_FOLDERS = ("/run", "/sys", "/dev", "/proc", "/boot/efi")
SHARED_MEMORY = "/dev/shm"  # noqa: S108
NFS = frozenset({"nfs", "nfs4"})


@dataclass
class Mount:
    """A file system, at the shortest of the places where it is mounted."""

    point: str
    type: str
    source: str  # a device, server:/export, servers:/name
    device: str  # its numbers, "254:0"
    read_only: bool = False
    others: list[str] = field(default_factory=list)  # more places of the same

    @property
    def lustre_name(self) -> str:
        """The name of the Lustre file system: "scratch" for source "10.0.0.1@tcp:/scratch/home"."""
        return self.source.rpartition(":/")[2].partition("/")[0]

    @property
    def identity(self) -> str:
        """The same of all mounts of one file system, also where each has numbers of its own."""
        return f"lustre {self.lustre_name}" if self.type == "lustre" else f"{self.type} {self.device}"


def read_mounts(root: Path) -> list[Mount]:
    """Returns each mounted file system that holds files once, sorted by mount point; none that another mount covers."""
    by_point: dict[str, Mount] = {}
    for line in lines_of(root / "proc/self/mountinfo"):
        if (mount := parse(line)) is not None:
            by_point[mount.point] = mount  # a later one lies over it
    found: dict[str, Mount] = {}
    for mount in sorted(by_point.values(), key=lambda one: (len(one.point), one.point)):
        if not _holds_files(mount):
            continue
        first = found.setdefault(mount.identity, mount)
        if first is not mount:
            first.others.append(mount.point)
    return sorted(found.values(), key=lambda one: one.point)


def parse(line: str) -> Mount | None:
    """A line of mountinfo (proc_pid_mountinfo(5)); None where it is none."""
    where, _, what = line.partition(" - ")
    fields, system = where.split(" "), what.split(" ")
    if len(fields) < 6 or len(system) < 3:
        return None
    options = {*fields[5].split(","), *system[2].split(",")}
    return Mount(unescaped(fields[4]), unescaped(system[0]), unescaped(system[1]), fields[2], "ro" in options)


def _holds_files(mount: Mount) -> bool:
    if mount.point in (SHARED_MEMORY, "/"):
        return True
    if mount.type in NO_FILES.split() or any(
        mount.point == f or mount.point.startswith(f + "/") for f in SYSTEM_FOLDERS
    ):
        return False
    return not (mount.type == "tmpfs" and mount.read_only)
