"""test_doctor_model.py: laws of operation counts: recovered exactly, proven or not, and carried on to other scales."""

import io
import subprocess
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from jobs import GIB, job, record, shared
from penstock.base import launch
from penstock.diagnose.model import Scale, fit, fit_scales, scale_of
from penstock.diagnose.model_text import print_model
from penstock.diagnose.page import growth
from penstock.jobs.job import Job
from penstock.jobs.trace.reader import read_trace

STEPS, FIELDS = 10, 6
NOTHING = dict.fromkeys(("metadata", "read", "write", "waiting", "other"), 0.0)


def pic(writers: int) -> Scale:
    """LRZ's counts: st steps, fi fields, cn writers."""
    st_, fi, cn = STEPS, FIELDS, writers
    counts = {
        "write_at_all": st_ * fi * cn,
        "set_view": st_ * fi * cn * 2,
        "write_at": 7 * st_,
        "read_at": 2 * fi * st_ * cn + 23 * cn,
        "open": st_ * cn,
    }
    return Scale({"ranks": 16 * writers, "writers": writers}, counts, NOTHING)


def test_four_scales_give_the_published_model_and_the_fifth() -> None:
    model = fit_scales([pic(n) for n in (1, 2, 5, 10)], {"steps": STEPS, "fields": FIELDS})
    assert not model.unexplained
    assert all(law.proven for law in model.laws.values())
    assert model.counts_at({"ranks": 320, "writers": 20}) == pic(20).counts
    assert {name: law.text(model.factors) for name, law in model.laws.items()} == {
        "write_at_all": "steps x fields x writers",
        "set_view": "2 x steps x fields x writers",
        "write_at": "7 x steps",
        "read_at": "(2 x steps x fields + 23) x writers",
        "open": "steps x writers",
    }


@pytest.mark.parametrize("columns", [60, 80])
def test_formulae_and_names_are_whole_in_a_narrow_terminal(columns: int) -> None:
    console = Console(width=columns, file=io.StringIO(), color_system=None)
    model = fit_scales([pic(n) for n in (1, 2, 5, 10)], {"steps": STEPS, "fields": FIELDS})
    print_model(model, console)
    said = cast(io.StringIO, console.file).getvalue()
    for name, law in model.laws.items():
        assert f"\n  {name} = {law.text(model.factors)}\n" in said
        assert f"\n {name} " in said
    assert "…" not in said


def test_one_run_gives_laws_that_are_not_proven() -> None:
    made = job(record("MPI-IO", COLL_WRITES=64 * 30, VIEWS=64 * 60 + 1, BYTES_WRITTEN=GIB), ranks=64)
    model = fit([made])
    assert model.laws["write_at_all"].text({}) == "30 x ranks"
    assert not model.laws["write_at_all"].proven
    assert model.laws["set_view"].variable is None
    assert model.counts_at(model.ahead(4))["write_at_all"] == 4 * 64 * 30


def test_what_follows_no_law_is_said_so() -> None:
    model = fit_scales([Scale({"ranks": n}, {"open": n * n}, NOTHING) for n in (2, 4, 8)], {})
    assert model.unexplained == ("open",)
    assert not model.laws


@given(
    st.integers(1, 1000), st.integers(-50, 1000), st.lists(st.integers(1, 10**6), min_size=3, max_size=6, unique=True)
)
def test_any_straight_line_is_found_exactly(slope: int, constant: int, ranks: list[int]) -> None:
    model = fit_scales([Scale({"ranks": n}, {"open": slope * n + constant}, NOTHING) for n in sorted(ranks)], {})
    law = model.laws["open"]
    assert law.at({"ranks": 12345}) == Fraction(slope * 12345 + constant)
    assert law.proven


def test_two_runs_of_different_programs_have_no_law() -> None:
    def of(ranks: int, count: int) -> Scale:
        return Scale({"ranks": ranks}, {"read_at": count}, NOTHING)

    assert fit_scales([of(1, 1_000_000), of(32, 128)], {}).unexplained == ("read_at",)
    assert fit_scales([of(2, 7), of(4, 12)], {}).unexplained == ("read_at",)  # 5/2 for each rank
    assert fit_scales([of(2, 7), of(4, 13)], {}).laws["read_at"].text({}) == "3 x ranks + 1"


def test_times_ahead_follow_the_runs() -> None:
    runs = [
        job(shared("POSIX", n, n, WRITES=n, BYTES_WRITTEN=GIB, F_META_TIME=n * (1.0 + n / 64), F_WRITE_TIME=n), ranks=n)
        for n in (16, 32, 64)
    ]
    model = fit(runs)
    assert model.seconds_at(128)["metadata"] == pytest.approx(3.0)
    assert model.seconds_at(128)["write"] == pytest.approx(1.0)
    assert model.basis.startswith("straight lines")


def test_times_that_fall_do_not_reach_nothing() -> None:
    runs = [job(shared("POSIX", n, n, WRITES=n, F_WRITE_TIME=n * (12 - n), OPENS=n), ranks=n) for n in (3, 4, 7)]
    assert [fit(runs).seconds_at(n)["write"] for n in (14, 112)] == pytest.approx([5.0, 5.0])


def traced(build: Path, folder: Path, ranks: int) -> Job:
    """The particle-in-cell workload through parallel HDF5, with its calls of MPI-IO, on real ranks."""
    words = [
        "pic",
        "--steps",
        "2",
        "--tasks-per-node",
        "2",
        "--total",
        f"{ranks}MiB",
        "--methods",
        "phdf5:collective=true",
    ]
    rest = ["--repetitions", "1", "--no-aa", "--dir", str(folder)]
    command = [*launch.mpiexec(launch.Mpi.openmpi, ranks), str(build / "bin" / "penstock-bench"), *words, *rest]
    environment = launch.environment() | {"PENSTOCK_TRACE": str(folder / f"np{ranks}")}
    subprocess.run(command, env=environment, capture_output=True, timeout=120, check=True)
    return read_trace(folder / f"np{ranks}")


def test_four_traced_scales_of_a_real_program_predict_the_fifth(build: Path, tmp_path: Path) -> None:
    scales = [traced(build, tmp_path, ranks) for ranks in (2, 3, 4, 6)]
    fifth = scale_of(traced(build, tmp_path, 8))
    model = fit(scales, {"steps": 2, "fields": 6})
    told = model.counts_at(fifth.variables)
    for name in ("write_at_all", "set_view"):
        assert model.laws[name].proven
        assert told[name] == fifth.counts[name] > 0
    # A view before and after each collective write, by every rank, in the warm-up and in the repetition.
    assert fifth.counts["set_view"] == 2 * fifth.counts["write_at_all"]
    assert fifth.counts["write_at_all"] == (2 * 2 * 6 + 2) * 8


def test_times_stand_against_nodes_where_all_runs_tell_them() -> None:
    runs = [
        job(record("POSIX", OPENS=1, F_WRITE_TIME=9.0 * n), ranks=n, hosts={r: f"n{r // 4}" for r in range(n)})
        for n in (8, 16)
    ]
    drawn = growth.times(fit(runs))
    assert "against nodes" in drawn.title
    assert drawn.heads == ("kind", "2 nodes", "4 nodes", *(f"{n} nodes, predicted" for n in (8, 16, 64)))
    assert "against ranks" in growth.times(fit([runs[0], replace(runs[1], hosts={})])).title
