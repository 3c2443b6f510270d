"""test_doctor_remedies.py: remedies are those for the file system, the MPI library and the interface of the run."""

import re
from collections import defaultdict
from dataclasses import replace

import pytest

import known_jobs as known
from jobs import GIB, job, record, shared
from penstock.diagnose.diagnosis import diagnose
from penstock.diagnose.facts import Facts
from penstock.diagnose.rules.common import UNCHANGED, _remedies, words
from penstock.jobs.job import Module


@pytest.mark.parametrize("kind", ["ext4", "nfs4", "gpfs", "lustre"])
def test_remedies_of_lustre_are_for_lustre(kind: str) -> None:
    for make in (known.one_aggregator, known.read_by_all, known.metadata_storm, known.sieving, known.rank_0_only):
        for one in diagnose(replace(make(), mounts=(("/", kind),))).findings:
            said = " ".join(one.remedies.values())
            assert kind == "lustre" or not any(word in said for word in ("lfs ", "Lustre", "striping_")), said
    told = [one.remedies for one in diagnose(replace(known.one_aggregator(), mounts=(("/", "lustre"),))).findings]
    assert any("lfs setstripe" in one.get("file system", "") for one in told)


def test_unchanged_programs_are_cured_where_they_write_through_mpi_io() -> None:
    for make, rules in (
        (known.sieving, {"A1", "A2"}),
        (known.one_aggregator, {"C2"}),
        (known.independent_small_writes, set()),  # these stay calls of their own
        (known.rank_0_only, set()),
        (known.read_by_all, set()),
        (known.metadata_storm, set()),
    ):
        told = {one.rule: one.remedies[UNCHANGED] for one in diagnose(make()).findings if UNCHANGED in one.remedies}
        assert set(told) == rules, make.__name__
        assert all(text.startswith("penstock run -- COMMAND") for text in told.values())
    read = job(
        record("MPI-IO", COLL_READS=64 * 1000, BYTES_READ=50 * GIB, F_READ_TIME=64 * 60, F_SLOWEST_RANK_TIME=61),
        shared("POSIX", 64, 1, READS=50 * 1024, BYTES_READ=50 * GIB, F_READ_TIME=10, SEQ_READS=50 * 1024,
               SIZE_READ_1M_4M=50 * 1024),
    )  # fmt: skip
    found = {one.rule: one.remedies for one in diagnose(read).findings}
    assert "C2" in found
    assert not [rule for rule, remedies in found.items() if UNCHANGED in remedies]


def test_hints_of_romio_are_said_to_be_so() -> None:
    hint = diagnose(known.sieving()).findings[0].remedies["mpi hint"]
    assert hint.startswith("romio_ds_write=disable")
    assert "Open MPI with --mca io ^ompio" in hint
    own = record("POSIX", "/local/ompi.n1.1000/jf.0/1/out_cid-3-4711.sm", 0, OPENS=1)
    made = known.sieving()
    posix = Module("POSIX", [*made.modules["POSIX"].records, own])
    hint = diagnose(replace(made, modules={**made.modules, "POSIX": posix})).findings[0].remedies["mpi hint"]
    assert hint.startswith("this run used Open MPI's own MPI-IO, OMPIO, which ignores hints of ROMIO")


@pytest.mark.parametrize("kind", ["ext4", "lustre"])
def test_runs_with_ompio_get_only_hints_that_it_takes_or_the_word_that_it_ignores_them(kind: str) -> None:
    own = record("POSIX", "/scratch/out_cid-3-4711.sm", 0, OPENS=1)
    facts = Facts(job(own, mounts=(("/", kind),)))
    told = 0
    for rule, one in words().items():
        figures = defaultdict(str, dict.fromkeys(re.findall(r"{(\w+)", str(one)), "1"))
        hint = _remedies(facts, one, ["/scratch/out"], (), figures).get("mpi hint", "")
        if any(name in hint for name in ("romio_", "cb_config_list", "striping_")):
            told += 1
            assert hint.startswith("this run used Open MPI's own MPI-IO, OMPIO"), rule
    assert told > 3
    hint = _remedies(facts, words()["C2"], ["/scratch/out"], (), defaultdict(str, target="4"))["mpi hint"]
    assert hint == "cb_nodes=4"
