"""reports.py: reports made of records, and what IOR and h5bench write, for the tests of reports."""

from pathlib import Path

from conftest import Penstock

_MADE: dict[tuple[object, ...], str] = {}


def made(penstock: Penstock, folder: Path, *names: str, target: Path) -> str:
    """What `penstock report` makes of these records in TARGET; of the same ones it is made once."""
    key = (target.suffix, *((folder / name, (folder / name).stat().st_mtime_ns) for name in names))
    if key in _MADE:
        target.write_text(_MADE[key])
        return _MADE[key]
    done = penstock("report", *(str(folder / name) for name in names), "-o", str(target))
    assert done.returncode == 0, done.stderr
    assert str(target) in done.stdout
    _MADE[key] = target.read_text()
    return _MADE[key]


IOR: dict[str, object] = {  # as IOR 4.1 writes it, shortened
    "Version": "4.1.0+dev", "Began": "Mon Nov 23 20:45:33 2026", "Command line": "ior -a POSIX -F",
    "Machine": "Linux vm",
    "tests": [
        {
            "TestID": 0,
            "Parameters": {
                "api": "POSIX", "fsync": 1, "filePerProc": 1, "collective": 0, "segmentCount": 1,
                "transferSize": 1048576,
                "blockSize": 4194304,
            },
            "Options": {"api": "POSIX", "tasks": 2},
            "Results": [
                {"access": "write", "bwMiB": 800.0, "openTime": 0.003, "wrRdTime": 0.0203, "closeTime": 0.0011,
                 "totalTime": 0.01},
                {"access": "write", "bwMiB": 400.0, "openTime": 0.003, "wrRdTime": 0.0203, "closeTime": 0.0011,
                 "totalTime": 0.02},
            ],
        }
    ],
}  # fmt: skip


H5BENCH = """metric, value, unit
operation, write,
ranks, 2,
collective data, YES,
collective meta, NO,
subfiling, NO,
total compute time, 1.000, seconds
total size, 2.000, GB
raw time, 3.000, seconds
raw rate, 682.667, MB/s
metadata time, 0.002, seconds
observed rate, 512.000, MB/s
observed time, 5.000, seconds
"""


H5BENCH_PRINTED = """Configuration file: h5bench.cfg
=================== Performance Results ==================
Total number of ranks: 2
Total emulated compute time: 1.000 s
Total write size: 2.000 GB
Raw write time: 3.000 s
Metadata time: 0.002 s
H5Fcreate() time: 0.001 s
H5Fflush() time: 0.100 s
H5Fclose() time: 0.001 s
Observed completion time: {:.3f} s
SYNC Raw write rate: 682.667 MB/s
SYNC Observed write rate: {:.3f} MB/s
===========================================================
"""
