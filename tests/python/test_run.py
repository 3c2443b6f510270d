"""test_run.py: `penstock run` with stand-ins for the library, whose reports are made up."""

import copy
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import INTERRUPTIBLE, ROOT, run_penstock
from penstock.base import preload
from penstock.base.errors import UserError
from penstock.measure.studies import stats
from penstock.measure.unmodified import compare, page, text
from penstock.measure.unmodified.report import Report, read_report, read_reports, report_of
from penstock.measure.unmodified.request import DRIVER_LIBRARY, NAME, Defer, hdf5_driver, request, rules, without

FILE: dict[str, Any] = {
    "path": "/scratch/out.h5", "ranks": 16, "opened": 1, "plan": "two_phase", "reason": "default",
    "calls": {
        "MPI_File_write_at_all": {"count": 6400, "bytes": 52428800, "seconds": 1.1},
        "MPI_File_write_at": {"count": 30, "bytes": 24000, "seconds": 0.01},
        "MPI_File_sync": {"count": 16, "bytes": 0, "seconds": 0.2},
    },
    "written": 52452800, "read": 0,
    "storage": {"writes": 16, "write_bytes": 52428800, "reads": 0, "read_bytes": 0, "metadata": 12},
    "kept": {"calls": 6400, "bytes": 52428800, "bytes_max": 3276800, "seconds_max": 0.4},
    "moves": {"count": 3, "why": {"MPI_File_close": 1, "MPI_Barrier": 1, "memory": 1}, "seconds": 0.2},
    "passed": {"MPI_File_write_shared": {"count": 3, "why": "shared file pointer"}},
    "hints": {"cb_nodes": "used: writers=4"}, "seconds": {"mean": 0.2, "max": 0.22}, "errors": [],
}  # fmt: skip
REPORT: dict[str, Any] = {
    "penstock": "0.1.0", "mpi": "Open MPI v4.1.4", "ranks": 16, "program": "./code", "started": 1764350000.0,
    "seconds": 3.2, "io_seconds": {"mean": 0.21, "max": 0.22}, "defer": "collective", "plan": "auto",
    "memory_bytes": 67108864, "files": [FILE], "passed": {}, "warnings": [],
}  # fmt: skip
# A program that leaves a report, as rank 0 of one that the library was preloaded into, and says how it was started.
PROGRAM = """
import json, os, pathlib, sys
print("its own words")
seen = {name: value for name, value in os.environ.items() if name.startswith(("PENSTOCK_RUN_", "LD_PRELOAD"))}
with open("seen", "a") as file:
    print(json.dumps(seen), file=file)
if "PENSTOCK_RUN_REPORT" in seen:
    pathlib.Path(seen["PENSTOCK_RUN_REPORT"], f"host-{os.getpid()}.json").write_text(REPORT)
sys.exit(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
"""


def raising_user_error(name: str, _mpi: object) -> Path:
    raise UserError(name)


def changed(**changes: Any) -> Report:
    return report_of(copy.deepcopy(REPORT) | changes)


def with_file(**changes: Any) -> Report:
    return changed(files=[copy.deepcopy(FILE) | changes])


@pytest.fixture
def stand_in(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs `penstock run WORDS... -- python program.py ARGUMENTS...`, with a library that does nothing."""
    library = tmp_path / "stand-in" / "lib" / NAME
    library.parent.mkdir(parents=True)
    if (gcc := shutil.which("gcc")) is None:
        pytest.skip("no gcc")
    subprocess.run([gcc, "-shared", "-o", str(library), "-xc", "/dev/null"], check=True)
    (tmp_path / "program.py").write_text(f"REPORT = {json.dumps(REPORT)!r}\n{PROGRAM}")

    def ran(*words: str, arguments: tuple[str, ...] = (), **given: str) -> subprocess.CompletedProcess[str]:
        command = ["run", *words, "--", sys.executable, "program.py", *arguments]
        environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"} | given
        return run_penstock(*command, cwd=tmp_path, bin_folder=library.parents[1] / "bin", environment=environment)

    return ran


def seen(folder: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in (folder / "seen").read_text().splitlines()]


# --- plans ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ([], None),
        (["auto"], "auto"),
        (["two_phase:writers=4,buffer_bytes=8MiB"], "two_phase:writers=4,buffer_bytes=8MiB"),
        (["*.h5=two_phase:writers=4"], "*.h5=two_phase:writers=4"),
        (["*.h5=servers", "servers:buffer_bytes=1GiB"], "*.h5=servers;servers:buffer_bytes=1GiB"),
        (["none", "out/*=independent", "*.nc=auto"], "out/*=independent;*.nc=auto;none"),
    ],
)
def test_plans_become_rules_the_rest_last(given: list[str], made: str | None) -> None:
    assert rules(given) == made


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            ["tow_phase"],
            "'tow_phase' is no plan of unchanged programs; there are auto, none, two_phase, independent, servers",
        ),
        (["servers:kind=ranks"], "the one parameter of servers for unchanged programs is buffer_bytes"),
        (["servers:buffer_bytes=1GiB,io=direct"], "the one parameter of servers"),
        (["hdf5/two_phase"], "'hdf5/two_phase' is no plan"),
        (["a:b=auto"], "of PATTERN=PLAN, PATTERN is the name of files"),
        (["*.h5="], "'' is no plan"),
        (["=auto"], "'' is no pattern of file names"),
        (["a;b=auto"], "'a;b' is no pattern"),
        (["two_phase:writers"], "parameters are name=value"),
        (["two_phase:"], "parameters are name=value"),
        (["none:writers=4"], "parameters are name=value"),
        (["two_phase:writers=4;auto"], "parameters are name=value"),
        (["auto", "none"], "--plan none: auto is for all files already"),
    ],
)
def test_plans_of_another_form_are_said(given: list[str], said: str) -> None:
    with pytest.raises(UserError) as error:
        rules(given)
    assert said in str(error.value)


def test_the_request_becomes_variables() -> None:
    asked = request(["*.h5=auto"], Defer.none, "8MiB").variables()
    assert asked == {
        "PENSTOCK_RUN_PLAN": "*.h5=auto", "PENSTOCK_RUN_DEFER": "none", "PENSTOCK_RUN_MEMORY": "8388608",
    }  # fmt: skip
    assert request([], None, None).variables() == {}


def test_without_us_nothing_of_ours_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_PRELOAD", f"/q/darshan.so:/p/{NAME}")
    monkeypatch.setenv("PENSTOCK_RUN_DEFER", "none")
    found = without()
    assert found["LD_PRELOAD"] == "/q/darshan.so"
    assert {name: value for name, value in found.items() if name.startswith("PENSTOCK_RUN")} == {"PENSTOCK_RUN": "0"}


# --- the report -------------------------------------------------------------------------------------------------------


def test_hdf5s_driver_is_given_where_it_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HDF5_DRIVER", "HDF5_DRIVER_CONFIG", "HDF5_PLUGIN_PATH"):
        monkeypatch.delenv(name, raising=False)
    assert hdf5_driver(None, "/p/ours.so") == {}
    monkeypatch.setenv("HDF5_DRIVER", "penstock")
    monkeypatch.setattr(preload, "library", raising_user_error)
    with pytest.raises(UserError, match="this build has no file driver"):
        hdf5_driver(None, "/p/ours.so")
    monkeypatch.setattr(preload, "library", lambda name, _mpi: tmp_path / name)
    monkeypatch.setenv("HDF5_PLUGIN_PATH", "/filters")
    driver = tmp_path / DRIVER_LIBRARY
    assert hdf5_driver(None, "/p/ours.so") == {
        "HDF5_DRIVER": "penstock",
        "HDF5_PLUGIN_PATH": f"{driver.parent}:/filters",
        "LD_PRELOAD": f"{driver}:/p/ours.so",
    }
    assert "HDF5_DRIVER" not in without()
    monkeypatch.setenv("HDF5_DRIVER", "core")
    assert hdf5_driver(None, "/p/ours.so") == {}
    assert without()["HDF5_DRIVER"] == "core"


def test_the_first_sentence_is_the_one_that_matters() -> None:
    assert text.headline(changed()) == (
        "1 file: 400 collective writes of 8 KiB a rank and 30 independent writes of 800 B became 3 movements and 16 "
        "writes of 3.12 MiB; 3 calls were passed through to the MPI library; 210 ms in I/O of 3.20 s"
    )
    late = changed(io_seconds={"mean": 0.2, "max": 0.4}, files=[])
    assert text.headline(late) == "MPI-IO was not used; 200 ms in I/O of 3.20 s (mean rank; 400 ms in the slowest)"


@pytest.mark.parametrize(
    ("changes", "became"),
    [
        ({"calls": {}, "passed": {}}, "nothing was read or written"),
        ({"calls": {}, "passed": {"f": {"count": 1, "why": "w"}}}, "1 call was passed through to the MPI library"),
        ({"calls": {}, "passed": {text.OPEN: {"count": 4, "why": "w"}}}, "1 file was left to the MPI library"),
        (
            # Of calls that were passed through nothing else became anything.
            {
                "calls": {"MPI_File_write_all": {"count": 32, "bytes": 3200}},
                "passed": {"MPI_File_write_all": {"count": 16, "why": "atomic mode"}},
                "storage": {"writes": 1, "write_bytes": 1600},
                "moves": {},
            },
            "1 collective write of 100 B a rank became 1 write of 1600 B; 16 calls were passed through to the MPI "
            "library",
        ),
        (
            {"calls": {"MPI_File_read_at": {"count": 5, "bytes": 50}}, "passed": {}, "storage": {}, "moves": {}},
            "5 independent reads of 10 B became no call of the file system",
        ),
    ],
)
def test_what_became_of_calls(changes: dict[str, Any], became: str) -> None:
    assert text.became(with_file(**changes).files) == became.replace("1600 B", "1.56 KiB")


def test_each_file_has_a_block() -> None:
    lines = text.lines(changed(warnings=["beware"], passed={"MPI_File_delete": {"count": 2, "why": "it has no data"}}))
    assert lines[1:] == [
        "  ./code, 16 ranks, Open MPI v4.1.4; plan auto; collective writes are kept back, at most 64 MiB of each rank",
        "  /scratch/out.h5: two_phase (default); opened once by 16 ranks; 200 ms of the mean rank",
        "    called: 6,400 MPI_File_write_at_all of 8 KiB, 1.10 s of all ranks; 30 MPI_File_write_at of 800 B, 10.0 ms "
        "of all ranks",
        "    made: 3 movements, 16 writes of 3.12 MiB and 12 other calls",
        "    moved: 3 times (1 x MPI_File_close, 1 x MPI_Barrier, 1 x memory); 200 ms",
        "    kept back: 6,400 calls of 50 MiB in all, for at most 400 ms; at most 3.12 MiB in one rank",
        "    passed through: 3 MPI_File_write_shared (shared file pointer)",
        "    hints: cb_nodes: used: writers=4",
        "  passed through: 2 MPI_File_delete (it has no data)",
        "  warning: beware",
    ]


def test_errors_come_first() -> None:
    good, bad = ({**copy.deepcopy(FILE), "path": path} for path in ("/good", "/bad"))
    bad |= {"seconds": {"mean": 0.0, "max": 0.0}, "errors": ["MPI_File_sync: /bad: No space left on device"]}
    lines = text.lines(changed(files=[good] * 20 + [bad]))
    assert lines[0].startswith("1 error, see below; 21 files: ")
    assert lines[2].startswith("  /bad: ")
    assert "    error: MPI_File_sync: /bad: No space left on device" in lines
    assert "  and 15 files more (--report json has all)" in lines


def test_names_give_the_terminal_no_orders() -> None:
    for line in text.lines(with_file(path="/a\x1b]0;gone\x07\n.h5")):
        assert line.isprintable()


def test_whatever_is_in_a_report_there_is_an_answer(tmp_path: Path) -> None:
    numbers = (-1, 0, 1e300, float("inf"), 10**30)
    everything: tuple[Any, ...] = (*numbers, None, "x", "x" * 5000, [], {}, [[]], {"a": 1}, "\ud800")
    path = tmp_path / "host-1.json"
    for key, whole in [*((key, REPORT) for key in REPORT), *((key, FILE) for key in FILE)]:
        for odd in everything:
            made = copy.deepcopy(whole) | {key: odd}
            path.write_text(json.dumps(made if whole is REPORT else copy.deepcopy(REPORT) | {"files": [made]}))
            found, troubles = read_reports(tmp_path)
            assert len(found) + len(troubles) == 1
            for one in found:
                assert text.lines(one)
    for number in range(2):
        (tmp_path / f"other-{number}.json").write_text('{"warnings": ["of another MPI"]}')
    path.unlink()
    assert read_reports(tmp_path) == ([], ["of another MPI"])
    path.write_text("{")
    with pytest.raises(UserError, match="the report is damaged; it begins as JSON"):
        read_report(path)


def test_the_page_has_the_numbers_and_no_markup_of_names() -> None:
    made = page.page([with_file(path="/a<b>.h5"), changed()], [], None)
    assert made.count("<svg") == 2
    assert "<b>.h5" not in made
    assert "400 collective writes of 8 KiB a rank" in made
    assert "6,430" in made
    assert "--compare" in made
    assert "<svg" not in page.page([], ["there is no report"], None)


# --- the comparison ---------------------------------------------------------------------------------------------------


def test_turns_alternate_without_chance() -> None:
    assert [with_us for _, with_us in compare.turns(3)] == [False, True, True, False, False, True]


def test_the_ratio_is_that_of_pairs_with_the_interval_of_all_ratios() -> None:
    found = compare.Comparison(6)
    for number, (pair, with_us) in enumerate(compare.turns(6)):
        found.runs.append(compare.Run(pair, with_us, 1 + number / 100 if with_us else 2 + number / 50, 0))
    assert found.ratio == stats.ratio(found.seconds(True), found.seconds(False))
    (first, second) = compare.verdict(found)
    assert first.startswith("with penstock the command takes 0.50")
    assert "95 % interval" in first
    assert first.endswith("6 pairs of runs): faster")
    assert second.startswith("  wall time with penstock 1.")
    found.io_seconds = 0.25
    assert found.io_seconds_without == pytest.approx(1.305)  # 0.25 s, and 2.11 s - 1.055 s
    assert "time in I/O with penstock 250 ms, without about 1.3" in compare.verdict(found)[2]
    few = compare.Comparison(2, found.runs[:4], 0.25)
    assert few.io_seconds_without is None  # perhaps by chance
    assert "6 pairs give a 95 % interval" in compare.verdict(few)[0]
    assert compare.verdict(few)[0].endswith("too few to be sure")
    assert compare.verdict(compare.Comparison(2, found.runs[:1])) == ["no pair of runs was complete: there is no ratio"]
    assert "<svg" in page.page([], [], found)


def test_io_is_estimated_only_where_the_wall_times_differ() -> None:
    same = compare.Comparison(
        6, [compare.Run(*turn, 1 + i % 3 / 10, 0) for i, turn in enumerate(compare.turns(6))], 0.5
    )
    assert same.io_seconds_without is None
    assert len(compare.verdict(same)) == 2
    slower = compare.Comparison(6, [compare.Run(*turn, 1 + turn[1], 0) for turn in compare.turns(6)], 0.5)
    assert slower.io_seconds_without is None


def test_a_run_that_fails_is_the_last() -> None:
    statuses = iter([0, 0, 7])
    found = compare.compare(5, lambda _: next(statuses), lambda _: None)
    assert (found.status, len(found.runs), len(found.seconds(True))) == (7, 3, 1)


# --- the command ------------------------------------------------------------------------------------------------------


def test_the_program_is_untouched_and_the_report_follows(stand_in: Any, tmp_path: Path) -> None:
    done = stand_in("--plan", "*.h5=two_phase:writers=2", "--defer", "none", LD_PRELOAD="/lib/other.so")
    assert (done.returncode, done.stdout) == (0, "its own words\n")
    assert "penstock: 1 file: 400 collective writes of 8 KiB a rank" in done.stderr
    assert "penstock run --compare 6 -- COMMAND" in done.stderr
    (given,) = seen(tmp_path)
    assert given["LD_PRELOAD"] == f"/lib/other.so:{tmp_path}/stand-in/lib/{NAME}", "ours is the last"
    assert given["PENSTOCK_RUN_PLAN"] == "*.h5=two_phase:writers=2"
    assert given["PENSTOCK_RUN_DEFER"] == "none"
    assert Path(given["PENSTOCK_RUN_REPORT"]).parent == tmp_path, "which all nodes see"
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".penstock")]


def test_the_status_is_the_programs(stand_in: Any) -> None:
    done = stand_in(arguments=("7",))
    assert (done.returncode, done.stdout) == (7, "its own words\n")


@pytest.mark.parametrize("form", ["text", "json", "html"])
def test_a_report_goes_to_a_file(stand_in: Any, tmp_path: Path, form: str) -> None:
    done = stand_in("--report", form, "-o", "out.report")
    assert done.returncode == 0
    assert done.stderr.splitlines()[-2].startswith("penstock: 1 file: ")
    assert done.stderr.splitlines()[-1] == "penstock: the report is out.report"
    told = (tmp_path / "out.report").read_text()
    if form == "json":
        content = json.loads(told)
        assert (content["schema"], content["status"], content["reports"]) == ("penstock.run/1", 0, [REPORT])
        assert content["command"][1] == "program.py"
    else:
        assert "400 collective writes" in told
        assert ("<svg" in told) == (form == "html")


def test_a_comparison_runs_both_in_turn(stand_in: Any, tmp_path: Path) -> None:
    done = stand_in("--compare", "2", "--report", "json", "-o", "c.json", PENSTOCK_RUN_MEMORY="1MiB")
    assert (done.returncode, done.stdout) == (0, "its own words\n" * 4)
    lines = done.stderr.splitlines()
    assert lines[0].startswith(
        "penstock: the command runs 4 times, in turn without and with the library; what it writes"
    )
    assert [line.split(": ")[1] for line in lines[1:5]] == [
        "pair 1, without penstock", "pair 1, with penstock", "pair 2, with penstock", "pair 2, without penstock",
    ]  # fmt: skip
    assert "times as long (from " in done.stderr
    assert ["PENSTOCK_RUN_REPORT" in one for one in seen(tmp_path)] == [False, True, True, False]
    assert [one.get("PENSTOCK_RUN_MEMORY") for one in seen(tmp_path)] == [None, "1MiB", "1MiB", None]
    compared = json.loads((tmp_path / "c.json").read_text())["compare"]
    assert [one["with_us"] for one in compared["runs"]] == [False, True, True, False]
    assert compared["ratio"]["median"] > 0
    done = stand_in("--compare", "3", arguments=("5",))
    assert (done.returncode, done.stdout) == (5, "its own words\n")
    assert "and ended with status 5: no more runs" in done.stderr
    assert "there is no ratio" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--plan", "x", "--", "true"], "'x' is no plan"),
        (["--memory", "much", "--", "true"], "much: a size"),
        (["--memory", "0", "--", "true"], "--memory 0: to keep nothing back is --defer none"),
        (["--defer", "all", "--", "true"], "'all' is not one of"),
        (["--report", "html", "--", "true"], "--report html is a page: name its file with -o"),
        (["-o", "nowhere/x", "--", "true"], "nowhere/x: No such file or directory"),
        (["--", ""], "the command is empty"),
        (["--"], "Missing argument '-- COMMAND"),
        (["--compare", "0", "--", "true"], "0 must be at least 1"),
        (["--nothing", "--", "true"], "No such option: --nothing"),
        (["--", "./nothing"], "./nothing: No such file or directory"),
    ],
)
def test_mistakes_are_said(stand_in: Any, tmp_path: Path, words: list[str], said: str) -> None:
    done = run_penstock("run", *words, cwd=tmp_path, bin_folder=tmp_path / "stand-in" / "bin")
    assert done.returncode == (127 if "./nothing" in words else 2)
    assert said in done.stderr


def test_a_library_that_is_not_there_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    done = run_penstock("run", "--", "true", cwd=tmp_path, bin_folder=tmp_path / "bin")
    assert done.returncode == 2
    assert done.stderr.startswith(f"penstock: {NAME} is neither in the build nor in an installation of penstock")
    (tmp_path / "a b" / "lib").mkdir(parents=True)
    (tmp_path / "a b" / "lib" / NAME).touch()
    done = run_penstock("run", "--", "true", cwd=tmp_path, bin_folder=tmp_path / "a b" / "bin")
    assert (done.returncode, "no path with a space or a colon" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("command", "status", "said"),
    [
        ("true", 0, "no MPI-IO call was taken over: the program uses no MPI, is linked statically, or its"),
        ("kill -9 $$", 137, "ended before MPI_Finalize; writes that were kept back are lost (--defer none keeps none)"),
        ("exit 3", 3, "there is no report: the program ended before MPI_Finalize"),
        ("rm -r $PENSTOCK_RUN_REPORT", 0, "the report could not be written: "),
        ("echo { > $PENSTOCK_RUN_REPORT/h-1.json", 0, "h-1.json: the report is damaged"),
        ('echo \'{"warnings": ["other MPI"]}\' > $PENSTOCK_RUN_REPORT/h-1.json', 0, "penstock: other MPI"),
    ],
)
def test_without_a_report_it_is_said_why(stand_in: Any, tmp_path: Path, command: str, status: int, said: str) -> None:
    words = ["run", "--", "sh", "-c", command]
    done = run_penstock(*words, cwd=tmp_path, bin_folder=tmp_path / "stand-in" / "bin")
    assert done.returncode == status
    assert said in done.stderr


def test_signals_reach_the_program(stand_in: Any, tmp_path: Path) -> None:
    tell = "trap 'echo told; exit 9' TERM; echo ready; while :; do sleep 0.1; done"
    environment = os.environ | {"PENSTOCK_BIN": str(tmp_path / "stand-in" / "bin"), "PYTHONPATH": str(ROOT / "tools")}
    command = [*INTERRUPTIBLE, sys.executable, "-m", "penstock", "run", "--", "sh", "-c", tell]
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        assert process.stdout.read() == "told\n"
    assert process.returncode == 9
