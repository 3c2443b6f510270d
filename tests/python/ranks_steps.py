"""ranks_steps.py: what test_steps.py runs on several ranks: FOLDER; ends with 0 where all was as it should be."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

import penstock

comm = MPI.COMM_WORLD
r, n = comm.rank, comm.size
folder = Path(sys.argv[1])
rows = max(1, n - 1)  # the last of several has none


def put(f: penstock.File, value: float) -> None:
    mine = np.full((1 if r < rows else 0, 3), value)
    f["fluid/rho"] = penstock.block(mine, shape=(rows, 3), start=(min(r, rows - 1), 0), units="kg/m3")


def says(error: Exception, words: str) -> None:
    assert words in str(error), error


def fails(what: Callable[[], Any], mine: type[Exception], words: str) -> None:
    """WHAT is MINE on rank 1 with WORDS, and an error of the library's on the others: none of them waits."""
    expected = mine if r == 1 else penstock.Error
    try:
        what()
    except expected as error:
        says(error, words if r == 1 else "")
    else:
        raise AssertionError(f"no error for {words}")


def a_run_and_a_restart() -> None:
    pattern = folder / "out-*.h5"
    with penstock.series(pattern, comm, steps=10, keep_last=3) as series:
        for i in range(51):
            if series.due(i, i / 4):
                with series.step(i, i / 4) as f:
                    put(f, i)
                    f.collect_provenance()
                    f.provenance("code", f"of rank {r}")
    with penstock.series(pattern, comm, keep_last=3) as series, series.step(35, 8.75) as f:
        put(f, 35)
    with penstock.open_series(pattern, comm) as series:
        assert series.iterations.tolist() == [30, 35]
        for step in series:
            with step.open() as f:
                assert f["fluid/rho"][r:].tolist() == [[step.iteration] * 3] * max(0, rows - r)
                assert f["fluid/rho"].attrs["units"] == "kg/m3"
        with series[0].open() as f:
            assert f.attributes("provenance")["code"] == "of rank 0"
            assert "ranks_steps.py" in f.attributes("provenance")["command_line"]


def the_clock_is_rank_0s() -> None:
    with penstock.series(folder / "clock-*.h5", comm, io_budget="0.000001%") as series:
        assert series.due(1, 0)  # what the first costs is not known
        with series.step(1, 0) as f:
            put(f, 1)
        assert not series.due(2, 0)


def restart_files() -> None:
    with penstock.create(folder / "template.h5", comm) as f:
        f["grid"] = np.arange(4.0)
    for step in range(4):
        with penstock.clone(folder / "template.h5", folder / "uncommitted.h5", comm) as f:
            put(f, step)
            f.close_restart(folder / "restart#.h5", 2)
    comm.barrier()
    assert sorted(path.name for path in folder.glob("[ru]*.h5")) == ["restart0.h5", "restart1.h5"]
    for k in range(2):
        with penstock.open(folder / f"restart{k}.h5", comm) as f:
            assert f["grid"][...].tolist() == [0, 1, 2, 3]
            assert (f["fluid/rho"][...] == 3 - k).all()


def nobody_waits_for_a_rank_whose_call_was_refused() -> None:
    bad = r == 1
    pattern = folder / "refused-*.h5"
    no: Any = None
    word: Any = "a"
    fails(lambda: penstock.series(no if bad else pattern, comm), TypeError, "pattern is of type NoneType")
    fails(lambda: penstock.series(pattern, comm, steps=word if bad else 3), TypeError, "steps is of type str")
    fails(lambda: penstock.series(pattern, comm, steps=2 if bad else 3), penstock.Mismatch, "must ask for the same")
    fails(
        lambda: penstock.open_series(no if bad else folder / "out-*.h5", comm), TypeError, "pattern is of type NoneType"
    )
    fails(
        lambda: penstock.clone(no if bad else folder / "template.h5", folder / "refused.h5", comm),
        TypeError,
        "template",
    )
    with penstock.series(pattern, comm) as series:
        fails(lambda: series.step(no if bad else 1, 0.0), TypeError, "iteration is of type NoneType")
        fails(lambda: series.step(1, "now" if bad else 0.0), TypeError, "time is of type str")  # type: ignore[arg-type]

        def leave() -> None:
            with series.step(1, 0.0) as f:
                put(f, 1)
                if bad:
                    raise RuntimeError("of the program")

        fails(leave, RuntimeError, "of the program")
        assert len(series) == 0
    with penstock.series(pattern, comm, seconds=0.000001) as series:
        if bad:
            fails(lambda: series.due(no, 0.0), TypeError, "iteration is of type NoneType")
        else:
            assert series.due(1, 0.0)
    with penstock.open_series(folder / "out-*.h5", comm) as series:
        fails(lambda: series[0].open(3 if bad else None), TypeError, "plan is of type int")  # type: ignore[arg-type]

    def leave_before_restart() -> None:
        with penstock.create(folder / "refused.h5", comm) as f:
            put(f, 1)
            if bad:
                raise RuntimeError("of the program")
            f.close_restart(folder / "refused#.h5", 2)

    fails(leave_before_restart, RuntimeError, "of the program")

    def restart(pattern: Any, retain: Any) -> None:
        with penstock.create(folder / "refused.h5", comm) as f:
            put(f, 1)
            f.close_restart(pattern, retain)

    fails(lambda: restart(no if bad else folder / "refused#.h5", 2), TypeError, "pattern is of type NoneType")
    fails(lambda: restart(folder / "refused#.h5", "2" if bad else 2), TypeError, "retain is of type str")

    def provenance() -> None:
        with penstock.create(folder / "refused.h5", comm) as f:
            put(f, 1)
            f.provenance("key", no if bad else "text")

    fails(provenance, TypeError, "NoneType")
    comm.barrier()
    assert not list(folder.glob("refused*"))


a_run_and_a_restart()
the_clock_is_rank_0s()
restart_files()
if n > 1:
    nobody_waits_for_a_rank_whose_call_was_refused()
