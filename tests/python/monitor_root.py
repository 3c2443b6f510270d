"""monitor_root.py: folders with /proc and /sys of other machines, in the kernel's formats, for the monitor's tests."""

import struct
from pathlib import Path
from typing import Any

MOUNTINFO = """\
22 28 0:21 / /proc rw,relatime - proc proc rw
25 28 0:23 / /dev/shm rw,relatime shared:3 - tmpfs tmpfs rw,size=24684096k
28 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw
29 28 0:26 / /run rw,nosuid shared:5 - tmpfs tmpfs rw
31 28 253:0 / /home rw shared:6 - xfs /dev/mapper/vg-home rw
32 28 253:0 /ada /mnt/ada rw shared:6 - xfs /dev/mapper/vg-home rw
40 28 0:51 / /mnt/old\\040data rw,relatime - nfs 192.0.2.10:/export/old rw,vers=3
41 28 0:52 / /mnt/projects rw,relatime - nfs4 fs.example.com:/projects rw,vers=4.2
50 28 0:60 / /scratch rw,noatime - lustre 10.0.0.1@o2ib:10.0.0.2@o2ib:/scratch rw,flock
51 28 0:61 / /home/scratch rw,noatime - lustre 10.0.0.1@o2ib:10.0.0.2@o2ib:/scratch/home rw,flock
60 28 0:70 / /gpfs/fs1 rw,relatime - gpfs fs1 rw
"""

# With the fields of Linux 5.5 and later; a partition has as many.
DISKSTATS = """\
   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
   8       0 sda {read} {write} 3 {busy_ms} {queue_ms} {rest} {flushes} 0
   8       2 sda2 {read} {write} 0 {busy_ms} {queue_ms} {rest} 0 0
 253       0 dm-0 10 0 80 5 20 0 160 10 0 15 15
"""

MOUNTSTATS = """\
device proc mounted on /proc with fstype proc
device /dev/sda2 mounted on / with fstype ext4
device 192.0.2.10:/export/old mounted on /mnt/old\\040data with fstype nfs statvers=1.1
\topts:\trw,vers=3,hard,nolock,proto=tcp,timeo=600,retrans=2,sec=sys
\tage:\t123456
\tcaps:\tcaps=0x3fc7,wtmult=4096,dtsize=1048576,bsize=0,namlen=255
\tsec:\tflavor=1,pseudoflavor=1
\tevents:\t900 800 700 600 500 400 300 200 100
\tbytes:\t{asked_read} 4000 0 0 {server_read} 900 800 700
\tRPC iostats version: 1.1  p/v: 100003/3 (nfs)
\txprt:\ttcp 0 0 1 0 12 1000 990 0 5000 0 2 100 200
\tper-op statistics
\t        NULL: 1 1 0 44 24 0 0 0 0
\t     GETATTR: {getattrs} {getattr_sent} 2 70000 56000 10 300 320 0
\t        READ: {reads} {reads} 0 14000 1048000 5 {read_ms} 920 0
\t       WRITE: 50 50 1 6000000 7000 1 400 410 0
\t      FSSTAT: 77 77 0 0 0 0 0 0 0

device fs.example.com:/projects mounted on /mnt/projects with fstype nfs4 statvers=1.1
\topts:\trw,vers=4.2,rsize=131072,wsize=131072,namlen=255,hard,proto=tcp
\tage:\t83520
\timpl_id:\tname='',domain='',date='0,0'
\tcaps:\tcaps=0x3fff7,wtmult=512,dtsize=32768,bsize=0,namlen=255
\tnfsv4:\tbm0=0xfdffafff,bm1=0xf9be3e,bm2=0x800,acl=0x0,sessions,pnfs=not configured
\tbytes:\t2021340783 39056395530 0 0 1788561151 {server_write} 442605 9557343
\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)
\txprt:\ttcp 940 0 2 0 1 938505 938504 0 12756069 0 32 254729 10823602
\tper-op statistics
\t        READ: 34096 34096 0 7103096 1792122744 2272 464840 467945
\t       WRITE: {writes} {writes} 0 39161277084 56725504 401718334 {write_ms} 411864389
\t      COMMIT: 12541 12541 0 2709896 1304264 342 7179 7819
\tOPEN_CONFIRM: 0 0 0 0 0 0 0 0
"""

LLITE = """\
snapshot_time             {time}.279418700 secs.nsecs
start_time                1783705564.331211471 secs.nsecs
elapsed_time              254599.948207229 secs.nsecs
read_bytes                10 samples [bytes] 4096 1048576 {read} 123456
write_bytes               {writes} samples [bytes] 4096 1048576 {write} 654321
write                     {writes} samples [usecs] 2 3904 {write_usecs} 16988546393
open                      {opens} samples [usecs] 7 7 7 49
statfs                    16977 samples [usecs] 2 3904 16809097 16988546393
"""

OSC = """\
snapshot_time             1315506558.236162 secs.usecs
req_waittime              2193784 samples [usec] 31 19323671 22792548119 2825876578353643
req_active                2193784 samples [reqs] 1 19 4197043 17147705
read_bytes                591036 samples [bytes] 4096 1048576 452705124352 458909478532677632
write_bytes               298332 samples [bytes] 1 1048576 {write} 258272714735050642
ost_write                 {writes} samples [usec] 327 1999739 {usecs} 755869697207251
"""

MMPMON = (
    "_fs_io_s_ _n_ 10.22.0.106 _nn_ node1 _rc_ 0 _t_ 1579358234 _tu_ 53212 _cl_ gpfs.domain _fs_ fs1 _d_ 48 "
    "_br_ {read} _bw_ {write} _oc_ 10 _cc_ 8 _rdc_ 4 _wc_ 2 _dir_ 1 _iu_ 5\n"
    "_fs_io_s_ _n_ 10.22.0.106 _nn_ node1 _rc_ 1 _t_ 1579358234 _tu_ 53212 _cl_ gpfs.domain _fs_ other\n"
)

NUMBERS = ("reads", "read_sectors", "read_ms", "writes", "write_sectors", "write_ms", "busy_ms", "queue_ms", "flushes")
DISK = dict.fromkeys(NUMBERS, 0)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def write_disks(root: Path, **values: int) -> None:
    one = DISK | {"reads": 1} | values
    read, write_ = (f"{one[f'{w}s']} 0 {one[f'{w}_sectors']} {one[f'{w}_ms']}" for w in ("read", "write"))
    write(root / "proc/diskstats", DISKSTATS.format_map(one | {"read": read, "write": write_, "rest": "0 0 0 0"}))


def make_root(root: Path) -> Path:
    """With disks and mounts, and nothing behind them."""
    write(root / "proc/self/mountinfo", MOUNTINFO)
    write(root / "proc/meminfo", "MemTotal: 100 kB\nDirty:                10 kB\nWriteback:             2 kB\n")
    write_disks(root)
    for point in ("dev/shm", "home", "mnt/old data", "mnt/projects", "scratch", "home/scratch", "gpfs/fs1"):
        (root / point).mkdir(parents=True, exist_ok=True)
    block = root / "sys/class/block"
    (root / "sys/devices/sda/sda2").mkdir(parents=True)
    (root / "sys/devices/dm-0/slaves/sda").mkdir(parents=True)
    write(root / "sys/devices/sda/sda2/partition", "2\n")
    write(root / "sys/devices/dm-0/dm/name", "vg-home\n")
    block.mkdir(parents=True)
    for name, place in (("sda", "sda"), ("sda2", "sda/sda2"), ("dm-0", "dm-0")):
        (block / name).symlink_to(Path("../../devices") / place)
    return root


def write_process(
    root: Path, pid: int, name: str = "solver", parent: int = 1, start: int = 100, **counters: int
) -> None:
    """Of /proc: stat, io, environ and cmdline."""
    fields = ["S", str(parent), *["0"] * 17, str(start), *["0"] * 30]
    folder = root / "proc" / str(pid)
    write(folder / "stat", f"{pid} ({name}) {' '.join(fields)}\n")
    names = ("rchar", "wchar", "syscr", "syscw", "read_bytes", "write_bytes", "cancelled_write_bytes")
    write(folder / "io", "".join(f"{name}: {counters.get(name, 0)}\n" for name in names))
    write(folder / "cmdline", f"/opt/{name}\0-n\0" + "3\0")
    (folder / "fd").mkdir(exist_ok=True)


def page(pid: int, written: int = 0, role: int = 0, inside: str = "", **step: Any) -> bytes:
    """A status page as docs/formats/status.md has it.

    STEP: kind, token, start, rank, ranks, mine, total, base, path.
    """
    header = struct.pack("<8sIIII5q", b"PENSTAT\1", pid, role, 6, 640, written, 0, 3, 0, 0)
    names = ("define", "pack", "exchange", "write", "sync", "commit", "read")
    phases = b"".join(struct.pack("<qq", name == inside, 0) for name in names)
    data = header.ljust(144, b"\0") + phases
    if step:
        numbers = [step.get(name, 0) for name in ("sequence", "kind", "token", "start", "rank", "ranks", "commit")]
        numbers += [len(str(step.get("path", "")).encode()), *(step.get(name, 0) for name in ("mine", "total", "base"))]
        texts = (b"hdf5/two_phase", str(step.get("path", "")).encode())
        data += struct.pack("<IIQqiiiIqqq64s512s", *numbers, *texts)
    return data.ljust(4096, b"\0")


def write_page(root: Path, pid: int, data: bytes) -> None:
    """As the process's descriptor 5."""
    file = root / f"pages/{pid}/memfd:penstock-status"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    link = root / "proc" / str(pid) / "fd/5"
    if not link.is_symlink():
        link.symlink_to(file)
