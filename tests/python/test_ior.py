"""test_ior.py: IOR's command lines, and what they ask of the bench."""

import json
from pathlib import Path

import pytest

from conftest import Penstock
from penstock.base.errors import UserError
from penstock.measure.campaign.ior import translate

# Of each MPI-IO method: IOR does none of it, and calls for each transfer.
AS_IOR = "--one-buffer --warm --own-ranks"
CALLS = "checksums=none,request=per_run,puts=apart,read_back=none,preallocate=false"


@pytest.mark.parametrize(
    ("line", "arguments", "methods"),
    [
        ("-b 16m -t 1m -s 4", "--block-size 16MiB --transfer-size 1MiB --segment-count 4", None),
        ("-b16m -t=1m -s4 -i1", "--block-size 16MiB --transfer-size 1MiB --segment-count 4 --repetitions 1", None),
        ("-b 1g -z -i 7 -k", "--block-size 1GiB --repetitions 7 --random-offset --keep", None),
        ("-b 64KiB -t 512B", "--block-size 64KiB --transfer-size 512B", None),
        ("blockSize=512 transferSize=256", "--block-size 512B --transfer-size 256B", None),
        ("-a POSIX -F -e", f"--regime durable {AS_IOR}", "raw/per_process:checksums=none,preallocate=false"),
        ("-a MPIIO -c", f"--regime cached {AS_IOR}", f"raw/mpiio:coordination=collective,{CALLS}"),
        ("-a MPIIO", f"--regime cached {AS_IOR}", f"raw/mpiio:coordination=independent,{CALLS}"),
        (
            "api=hdf5 collective=1 fsync=1",
            f"--regime durable {AS_IOR}",
            "phdf5:collective=true,checksums=none,preallocate=false",
        ),
        (
            "-a MPIIO -V -e",
            f"--regime durable {AS_IOR}",
            f"raw/mpiio:coordination=independent,positioning=individual,{CALLS}",
        ),
        ("-a NCMPI -c", f"--regime cached {AS_IOR}", "pnetcdf:mode=collective,checksums=none,preallocate=false"),
        ("-a NCMPI", f"--regime cached {AS_IOR}", "pnetcdf:mode=independent,checksums=none,preallocate=false"),
        (
            "-a NCMPI -F",
            f"--regime cached {AS_IOR}",
            "netcdf/independent:placement=per_rank,checksums=none,preallocate=false",
        ),
        ("-F -C", "--regime cached --one-buffer --warm", "raw/per_process:checksums=none,preallocate=false"),
        ("-F", f"--regime cached {AS_IOR}", "raw/per_process:checksums=none,preallocate=false"),
        ("--type int32 -b 4k --seed 3", "--type int32 --seed 3 --block-size 4KiB", None),
    ],
)
def test_words_of_ior(line: str, arguments: str, methods: str | None) -> None:
    done = translate(line.split())
    assert (" ".join(done.arguments), done.methods) == (arguments, methods)


def test_the_folder_of_the_file_is_where_it_is_measured() -> None:
    assert translate(["-o", "/scratch/me/testfile"]).directory == Path("/scratch/me")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("-b 16q", "blockSize 16q"),
        ("-b 16iB", "blockSize 16iB"),
        ("-b 16MB", "blockSize 16MB"),
        ("-b", "-b needs a value"),
        ("-a S3", "-a S3: there are POSIX, MPIIO, HDF5, NCMPI"),
        ("-a POSIX -c", "no collective calls"),
        ("-a HDF5 -F -c", "-c and -F"),
        ("-F -z", "-z and -F"),
    ],
)
def test_what_it_cannot_mean_is_named(line: str, words: str) -> None:
    with pytest.raises(UserError, match=words.replace("(", r"\(")):
        translate(line.split())


@pytest.mark.parametrize("line", ["-a MPIIO -c", "-a HDF5", "-a NCMPI", "-a POSIX -F -e", "-a HDF5 -F", "-z"])
def test_a_line_of_ior_runs_and_verifies(penstock: Penstock, tmp_path: Path, line: str) -> None:
    done = penstock(
        "bench",
        "ior",
        "--np",
        "3",
        *line.split(),
        *["-b", "64k", "-t", "16k", "-s", "2", "-i", "1", "-o", "./testfile"],
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ior, 384 KiB, written on 3 ranks" in done.stdout


def test_a_line_of_ior_runs_on_several_numbers_of_ranks(penstock: Penstock, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    line = ["ior", "-a", "POSIX", "-F", "-b", "64k", "-t", "16k", "-i", "2", "-o", "there/testfile"]
    done = penstock("bench", *line, "--np", "2,3", "--json", "out.json")
    assert done.returncode == 0, done.stdout + done.stderr
    jobs = json.loads((tmp_path / "out.json").read_text())["jobs"]
    assert {(job["np"], job["record"]["repetitions"]) for job in jobs} == {(2, 2), (3, 2)}
    for job in jobs:
        assert "/there/" in job["record"]["provenance"]["directory"]
        assert {one["method"] for one in job["record"]["cases"][0]["results"]} == {
            "raw/per_process:checksums=none,preallocate=false"
        }
    dry = penstock("bench", *line, "--np", "2", "--dry-run")
    assert dry.returncode == 0, dry.stderr


@pytest.mark.parametrize(
    "workload",
    [
        "block2d --type int8 --total 64KiB",
        "pencil --per-rank 64KiB --ghosts 1",
        "pic --per-rank 256KiB --steps 2 --tasks-per-node 2",
        "particles --per-rank 64KiB",
        "ramses-amr --domain 16",
        "ramses-hydro --domain 16 --grouped process",
    ],
)
def test_workloads_of_the_studies_are_verified(penstock: Penstock, workload: str) -> None:
    methods = "hdf5/two_phase,raw/per_process,netcdf/two_phase,phdf5,pnetcdf"
    done = penstock("bench", *workload.split(), "--np", "3", "--repetitions", "1", "--methods", methods)
    assert done.returncode == 0, done.stdout + done.stderr
    if workload.startswith("ramses-amr"):
        assert "1024^3 on 1024 processes: " in done.stdout
        assert "published 25.86" in done.stdout
