"""test_monitor_sources.py: what `penstock monitor` makes of the counters of disks, NFS, Lustre, GPFS and processes."""

import stat
import sys
from pathlib import Path

import pytest

from monitor_root import LLITE, MMPMON, MOUNTSTATS, OSC, make_root, write, write_disks, write_process
from penstock.operate.monitor import counters, devices, mounts, nfs, processes, reading
from penstock.operate.monitor.file_systems import FileSystem
from penstock.operate.monitor.lustre import read_lustre
from penstock.operate.monitor.members import Members
from penstock.operate.monitor.outputs import Outputs
from penstock.operate.monitor.queries import Queries
from penstock.operate.monitor.reading import Reading
from penstock.operate.monitor.sample import Sample, between


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_root(tmp_path)


def taken(root: Path, at: float) -> Reading:
    with Queries() as queries:
        found = reading.read_node(root, queries, Members())
    found.at = at
    return found


def sampled(before: Reading, now: Reading) -> Sample:
    return between(before, now, Outputs())


def system(sample: Sample, mount: str) -> FileSystem:
    return next(one for one in sample.file_systems if one.mount == mount)


@pytest.mark.parametrize(
    ("before", "now", "bits", "moved"),
    [
        (5, 12, 64, 7),
        (12, 5, 64, None),  # began again
        (2**32 - 10, 20, 32, 30),  # wrapped
        (3 * 10**9, 2 * 10**9, 32, None),  # that would be most of its range: began again
        (0, 0, 32, 0),
    ],
)
def test_counters_wrap_and_begin_again(before: int, now: int, bits: int, moved: int | None) -> None:
    assert counters.moved(before, now, bits) == moved


def test_each_file_system_is_there_once(root: Path) -> None:
    found = {mount.point: mount for mount in mounts.read_mounts(root)}
    assert " ".join(found) == "/ /dev/shm /gpfs/fs1 /home /mnt/old data /mnt/projects /scratch"
    assert found["/home"].others == ["/mnt/ada"]
    assert found["/scratch"].others == ["/home/scratch"]


def test_rates_of_a_disk_are_those_of_its_counters(root: Path) -> None:
    before = taken(root, 100.0)
    write_disks(root, reads=11, read_sectors=2048, read_ms=50, writes=100, write_sectors=409600, write_ms=800,
                busy_ms=1500, queue_ms=6000, flushes=4)  # fmt: skip
    sample = sampled(before, taken(root, 102.0))
    assert [device.name for device in sample.devices] == ["sda", "dm-0"], "the partition is its disk's"
    disk = sample.devices[0]
    assert disk.read_bytes_per_second == 2048 * 512 / 2
    assert disk.write_bytes_per_second == 409600 * 512 / 2
    assert (disk.reads_per_second, disk.writes_per_second, disk.flushes_per_second) == (5.0, 50.0, 2.0)
    assert (disk.utilisation, disk.queue, disk.in_flight) == (0.75, 3.0, 3)
    assert (disk.read_seconds, disk.write_seconds) == (0.005, 0.008)
    assert (sample.devices[1].title, sample.devices[1].below) == ("vg-home", ("sda",))
    assert sample.node.write_bytes_per_second == 409600 * 512 / 2, "what lies on a disk is counted with it alone"
    assert (sample.node.dirty_bytes, sample.node.writeback_bytes) == (10240, 2048)
    on_root = system(sample, "/")
    assert (on_root.figures, on_root.write_bytes_per_second) == ("device sda2", 409600 * 512 / 2)
    assert system(sample, "/home").figures == "device vg-home"
    assert system(sample, "/dev/shm").figures is None  # noqa: S108


def test_narrow_counters_of_disks_wrap_and_sectors_begin_again(root: Path) -> None:
    write_disks(root, busy_ms=2**32 - 500, queue_ms=2**32 - 1, write_sectors=1000)
    before = taken(root, 0.0)
    write_disks(root, busy_ms=500, queue_ms=1999, write_sectors=1000)
    disk = sampled(before, taken(root, 2.0)).devices[0]
    assert (disk.utilisation, disk.queue) == (0.5, 1.0)
    write_disks(root, write_sectors=10)
    restarted = sampled(before, taken(root, 2.0)).devices[0]
    assert restarted.write_bytes_per_second is None


def test_disks_come_and_go(root: Path) -> None:
    before = taken(root, 0.0)
    now = taken(root, 1.0)
    new = devices.Device("sdb", "8:16", "", (), {name: 5 for name in devices.FIELDS if name != "in_flight"}, 0)
    now.devices["sdb"] = new
    del now.devices["dm-0"]
    sample = sampled(before, now)
    assert next(one for one in sample.devices if one.name == "sdb").write_bytes_per_second is None
    assert sample.gone == ["device dm-0"]
    assert system(sample, "/home").figures is None


@pytest.mark.parametrize(
    ("name", "disk"),
    [
        ("sda12", "sda"),
        ("nvme0n1p2", "nvme0n1"),
        ("nvme0n1", None),
        ("mmcblk0p1", "mmcblk0"),
        ("dm-3", None),
        ("vdb", None),
    ],
)
def test_partitions_are_known_without_sysfs(tmp_path: Path, name: str, disk: str | None) -> None:
    write(tmp_path / "proc/diskstats", f"8 0 {name} 1 2 3 4 5 6 7 8 9 10 11\n")
    assert devices.read_devices(tmp_path)[name].partition_of == disk


def test_nonsense_in_diskstats_is_passed_over(tmp_path: Path) -> None:
    write(tmp_path / "proc/diskstats", "8 0 sda\n\n8 0 sdb x y z\nwhat\n8 0 sdc 1 2 3 4 5 6 7 8 9 10 11 12\n")
    assert set(devices.read_devices(tmp_path)) == {"sdc"}
    assert devices.read_devices(tmp_path / "nowhere") == {}


NFS = {"asked_read": 5000, "server_read": 1000, "getattrs": 500, "getattr_sent": 503, "reads": 100, "read_ms": 900,
       "server_write": 39087991255, "writes": 322308, "write_ms": 10139998}  # fmt: skip


def test_nfs_counts_bytes_calls_waits_and_retransmissions(root: Path) -> None:
    write(root / "proc/self/mountstats", MOUNTSTATS.format_map(NFS))
    before = taken(root, 0.0)
    later = {"asked_read": 25000, "server_read": 21000, "getattrs": 520, "getattr_sent": 527, "reads": 110,
             "read_ms": 1000, "server_write": 39087991255 + 2**21, "writes": 322312,
             "write_ms": 10139998 + 8}  # fmt: skip
    write(root / "proc/self/mountstats", MOUNTSTATS.format_map(later))
    sample = sampled(before, taken(root, 2.0))
    old = system(sample, "/mnt/old data")
    assert (old.figures, old.read_bytes_per_second, old.asked_read_bytes_per_second) == ("NFS 3", 10000.0, 10000.0)
    assert (old.reads_per_second, old.metadata_per_second, old.retransmissions_per_second) == (5.0, 10.0, 2.0)
    assert old.read_seconds == 0.01
    new = system(sample, "/mnt/projects")
    assert (new.figures, new.write_bytes_per_second, new.write_seconds) == ("NFS 4.2", 2.0**20, 0.002)
    assert sample.node.write_bytes_per_second == 2.0**20


def test_nfs_that_was_mounted_anew_has_no_rates(root: Path) -> None:
    write(root / "proc/self/mountstats", MOUNTSTATS.format_map(NFS))
    before = taken(root, 0.0)
    write(root / "proc/self/mountstats", MOUNTSTATS.format_map(NFS | {"server_read": 10}))
    one = system(sampled(before, taken(root, 1.0)), "/mnt/old data")
    assert (one.figures, one.read_bytes_per_second, one.total_bytes is not None) == ("NFS 3", None, True)


def test_mountstats_of_other_versions_are_read(tmp_path: Path) -> None:
    write(tmp_path / "proc/self/mountstats", "device a:/b mounted on /c with fstype nfs4 statvers=1.0\n\tbytes:\t1 2\n")
    assert nfs.read_nfs(tmp_path)["/c"].counters == {"asked_read": 1, "asked_write": 2}


def write_lustre(root: Path, place: str, instances: int, **values: int) -> None:
    numbers = {"time": 1783960164, "read": 0, "writes": 4, "write": 2097152, "write_usecs": 100, "opens": 7} | values
    for i in range(instances):
        write(root / place / f"llite/scratch-ffff9a0c8b1d080{i}/stats", LLITE.format_map(numbers))
    for target in ("OST0000", "OST001a"):
        osc = {"write": numbers["write"], "writes": numbers["writes"], "usecs": numbers["write_usecs"]}
        write(root / place / f"osc/scratch-{target}-osc-ffff9a0c8b1d0800/stats", OSC.format_map(osc))


@pytest.mark.parametrize("place", ["proc/fs/lustre", "sys/kernel/debug/lustre"])
def test_lustre_counts_bytes_calls_and_targets(root: Path, place: str) -> None:
    write_lustre(root, place, 2)
    before = taken(root, 0.0)
    write_lustre(root, place, 2, writes=14, write=2097152 + 10 * 2**20, write_usecs=50100, opens=10)
    sample = sampled(before, taken(root, 2.0))
    one = system(sample, "/scratch")
    assert (one.figures, one.write_bytes_per_second, one.writes_per_second) == ("Lustre's client", 10.0 * 2**20, 10.0)
    assert (one.metadata_per_second, one.read_bytes_per_second) == (3.0, 0.0), "statfs is the monitor's own"
    assert one.write_seconds == 0.005
    assert one.targets["OST001a"]["write_bytes_per_second"] == 5.0 * 2**20
    assert one.targets["OST0000"]["write_seconds"] == 0.005


def test_lustre_that_only_root_may_look_at_is_said(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_path: Path) -> list[Path]:
        raise PermissionError

    monkeypatch.setattr("penstock.operate.monitor.lustre._below", refused)
    assert "only root may read" in (read_lustre(root).trouble or "")
    assert any("Lustre" in trouble for trouble in taken(root, 0.0).troubles)
    write(root / "proc/self/mountinfo", "28 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw\n")
    assert taken(root, 0.0).troubles == [], "nobody has Lustre here"


def write_mmpmon(root: Path, body: str) -> None:
    program = root / "usr/lpp/mmfs/bin/mmpmon"
    write(program, f"#!{sys.executable}\nimport sys\nassert sys.stdin.read() == 'fs_io_s\\n'\n{body}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)


def test_gpfs_is_asked_through_its_own_program(root: Path) -> None:
    write_mmpmon(root, f"print({MMPMON.format(read=1000, write=0)!r}, end='')")
    before = taken(root, 0.0)
    write_mmpmon(root, f"print({MMPMON.format(read=5000, write=8000)!r}, end='')")
    one = system(sampled(before, taken(root, 2.0)), "/gpfs/fs1")
    assert (one.figures, one.read_bytes_per_second, one.write_bytes_per_second) == ("GPFS's client", 2000.0, 4000.0)


def test_gpfs_whose_program_fails_is_said(root: Path) -> None:
    write_mmpmon(root, "sys.exit('mmpmon: only root may')")
    assert taken(root, 0.0).troubles == ["GPFS's mmpmon: mmpmon: only root may"]


def test_processes_have_rates_and_hand_theirs_to_nobody(root: Path) -> None:
    write_process(root, 10, "shell", parent=1, write_bytes=100, wchar=100)
    write_process(root, 11, "dd", parent=10, write_bytes=1_000_000, wchar=1_000_000)
    before = processes.read_processes(root)
    for file in ("stat", "io"):
        (root / "proc/11" / file).unlink()
    # the shell waited for dd, and the kernel gave it dd's counters
    write_process(root, 10, "shell", parent=1, write_bytes=1_004_100, wchar=1_004_100)
    write_process(root, 12, "new", parent=1, start=500, rchar=2000, syscr=4)
    found = {one.name: one for one in processes.rates(before, processes.read_processes(root), 2.0)}
    assert found["shell"].write_bytes_per_second == 2000.0
    assert (found["new"].asked_read_bytes_per_second, found["new"].calls_per_second) == (1000.0, 2.0)


def test_processes_of_others_are_counted_as_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_process(root, 10)
    write_process(root, 11)
    read_text = Path.read_text

    def refusing(path: Path, *args: str, **more: str) -> str:
        if path == root / "proc/11/io":
            raise PermissionError
        return read_text(path, *args, **more)

    monkeypatch.setattr(Path, "read_text", refusing)
    found = taken(root, 0.0)
    assert (len(found.processes.by_identity), found.processes.refused) == (2, 1)
    assert sampled(found, taken(root, 1.0)).processes_refused == 1


def test_a_number_that_was_given_again_is_another_process(root: Path) -> None:
    write_process(root, 10, start=100, write_bytes=10_000)
    before = processes.read_processes(root)
    write_process(root, 10, start=900, write_bytes=500)
    assert processes.rates(before, processes.read_processes(root), 1.0)[0].write_bytes_per_second == 500.0
