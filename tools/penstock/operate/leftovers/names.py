"""names.py: names of partial files, which say who makes them; core/storage/owner.cpp makes and reads the same."""

import os
import re
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from penstock.crc64 import crc64

NAME_MOST = 255 - 24
MACHINE_DIGITS, TOKEN_DIGITS, JOB_MOST, HOST_MOST = 12, 16, 40, 32
NOWHERE = "0" * MACHINE_DIGITS  # a machine that does not say which it is
SCHEDULERS = {
    "SLURM_JOB_ID": "slurm",
    "PBS_JOBID": "pbs",
    "LSB_JOBID": "lsf",
    "FLUX_JOB_ID": "flux",
    "JOB_ID": "sge",
    "PMIX_NAMESPACE": "pmix",
}
PARTIAL = re.compile(
    r"\.(?P<base>.+)\.(?P<token>[0-9a-f]{16})"
    r"(?:\.(?P<machine>[0-9a-f]{12})-(?P<pid>\d{1,18})-(?P<start>\d{1,18})\.(?P<job>[\w-]+)\.(?P<host>[\w-]+))?"
    r"\.partial(?P<rest>.*)",
    re.ASCII | re.DOTALL,
)


class Life(Enum):
    """What is known of a process."""

    alive = "alive"
    dead = "dead"
    unknown = "unknown"


@dataclass(frozen=True)
class Owner:
    """The process of rank 0 as the name of a partial file tells of it."""

    machine: str  # of one start of a machine and its namespaces of processes
    pid: int
    start: int  # clock ticks since the machine's start; 0: not known
    job: str  # "slurm-4711-cluster", "pbs-17_server", ..; "none"
    host: str

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}" + ("" if self.job == "none" else f", job {self.job}")

    def life(self) -> Life:
        """Local: unknown of another machine, and where the system does not tell."""
        if self.machine != this_machine() or self.machine == NOWHERE or not 0 < self.pid < 2**31:
            return Life.unknown
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return Life.dead
        except PermissionError:
            pass
        found = _process_stat(self.pid)  # hidden from other users on some machines
        if found is None or self.start == 0:
            return Life.unknown
        start, ended = found
        return Life.alive if start == self.start and not ended else Life.dead


@dataclass(frozen=True)
class PartialName:
    """A partial file's name, read; no OWNER where an earlier version made it; REST: what a library added for itself."""

    name: str
    base: str
    token: str
    owner: Owner | None
    rest: str

    def is_of(self, target: str) -> bool:
        """Whether it is, or belongs to, the partial file of a target with this name."""
        others = len(os.fsencode(self.name)) - len(os.fsencode(self.base)) - len(os.fsencode(self.rest))
        return _cut(target, NAME_MOST - others) == self.base


def parse(name: str) -> PartialName | None:
    """Nothing where NAME is none of a partial file."""
    inner = name[1:] if name.startswith("..") and ".partial." in name else name  # ROMIO puts a dot before it
    found = PARTIAL.fullmatch(inner)
    if found is None:
        return None
    owner = None
    if found["machine"]:
        owner = Owner(found["machine"], int(found["pid"]), int(found["start"]), found["job"], found["host"])
    return PartialName(inner, found["base"], found["token"], owner, found["rest"])


def partial_path(target: Path) -> Path:
    """Where this process makes a new file that becomes TARGET."""
    import secrets  # which has a start of its own

    pid = os.getpid()
    machine = this_machine()
    found = None if machine == NOWHERE else _process_stat(pid)
    owner = f"{machine}-{pid}-{found[0] if found else 0}.{_this_job()}.{this_host()}"
    rest = f".{secrets.token_hex(TOKEN_DIGITS // 2)}.{owner}.partial"
    return target.with_name(f".{_cut(target.name, NAME_MOST - 1 - len(rest))}{rest}")


def this_machine() -> str:
    """As in the names of the partial files of processes here."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        processes = Path("/proc/self/ns/pid").readlink()
        own_proc = str(Path("/proc/self").readlink()) == str(os.getpid())
    except OSError:
        return NOWHERE
    if not own_proc:
        return NOWHERE
    try:
        times = str(Path("/proc/self/ns/time").readlink())
    except OSError:
        times = ""
    return _digits(f"{boot} {processes} {times}".encode(), MACHINE_DIGITS)


def this_host() -> str:
    """As in the names of the partial files of processes here."""
    return host_name(os.uname().nodename) or "unknown"


def host_name(host: str) -> str:
    """HOST, perhaps with its domain, as it stands in names."""
    return _plain(host.partition(".")[0], HOST_MOST)


def _this_job() -> str:
    for variable, kind in SCHEDULERS.items():
        if number := os.environ.get(variable):
            cluster = os.environ.get("SLURM_CLUSTER_NAME") if kind == "slurm" else None
            return _plain(f"{kind}-{number}" + (f"-{cluster}" if cluster else ""), JOB_MOST)
    return "none"


def _process_stat(pid: int) -> tuple[int, bool] | None:
    """When it started, in clock ticks, and whether it has ended and is only not waited for."""
    try:
        line = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    fields = line[line.rfind(b")") + 1 :].split()
    if len(fields) < 20:
        return None
    return int(fields[19]), fields[0] in {b"Z", b"X"} and int(fields[17]) <= 1


def _plain(text: str, most: int) -> str:
    cut = os.fsencode(text)[:most].decode("latin-1")
    return re.sub(r"[^0-9A-Za-z-]", "_", cut)


def _digits(data: bytes, count: int) -> str:
    return f"{crc64(data):016x}"[:count]


def _cut(base: str, most: int) -> str:
    data = os.fsencode(base)
    if len(data) <= most:
        return base
    kept = most - 1 - TOKEN_DIGITS
    while kept > 0 and data[kept] & 0xC0 == 0x80:
        kept -= 1
    return f"{os.fsdecode(data[:kept])}~{_digits(data, TOKEN_DIGITS)}"
