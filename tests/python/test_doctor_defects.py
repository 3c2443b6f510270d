"""test_doctor_defects.py: shapes of real programs' logs, with a defect or without, and what is said first."""

import pytest

import test_doctor as known
from penstock.doctor.diagnosis import diagnose
from penstock.doctor.job import Job


@pytest.mark.parametrize(
    ("made", "remedy"),
    [
        (known.independent_small_writes(), "Application: MPI_File_write_at_all"),  # romio_cb_write does nothing for it
        (known.read_by_all(), "Application: one rank reads and MPI_Bcast hands on"),  # not stripes
        (known.metadata_storm(), "Application: keep files open"),  # not more metadata servers
        (known.sieving(), "Mpi hint: romio_ds_write=disable"),
        (known.one_aggregator(stripes={"/scratch/out": (1, 1 << 20, (3,))}), "File system: "),
    ],
)
def test_the_verdict_names_the_remedy_that_helps_most(made: Job, remedy: str) -> None:
    said = diagnose(made).verdict
    assert f". {remedy}" in said
