"""test_methods.py: `penstock methods` shows every way that the build has, and the cells of the MPI standard's table."""

import json

from conftest import Penstock


def test_the_tables_name_everything(penstock: Penstock) -> None:
    shown = penstock("methods")
    assert shown.returncode == 0, shown.stderr
    for word in (
        "hdf5",
        "netcdf",
        "raw",
        "two_phase",
        "mpiio",
        "servers",
        "rank_order",
        "phdf5",
        "subfiles",
        "hint.NAME",
    ):
        assert word in shown.stdout, word
    assert "no split independent access" in shown.stdout
    assert "no non-blocking ordered access" in shown.stdout


def test_the_cells_are_those_of_the_standard(penstock: Penstock) -> None:
    methods = json.loads(penstock("methods", "--json").stdout)
    assert methods["schema"] == "penstock.methods/1"
    plans = {method["plan"]: method["refused"] for method in methods["methods"]}
    cells = {
        plan: why for plan, why in plans.items() if plan == "raw/mpiio" or plan.startswith("raw/mpiio:positioning=")
    }
    assert len(cells) == 18  # 3 x 2 x 3
    assert sum(not why for why in cells.values()) == 14
    assert all("MPI standard" in why for why in cells.values() if why)
    assert all(
        entry["summary"] for what in ("formats", "transports", "placements", "engines") for entry in methods[what]
    )


def test_all_of_them_run_in_one_campaign_and_verify(penstock: Penstock) -> None:
    bench = penstock("bench", "block2d", "--methods", "all", "--np", "2", "--total", "1MiB", "--repetitions", "1")
    assert bench.returncode == 0, bench.stderr
    assert "NO" not in bench.stdout.split("verified")[1]
