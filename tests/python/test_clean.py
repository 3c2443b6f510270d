"""test_clean.py: `penstock clean` removes what the dead left, and nothing else."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import h5py
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import run_penstock
from penstock.base import mounts
from penstock.files.container import MAGIC
from penstock.operate.leftovers import jobs, names
from penstock.operate.leftovers.names import Life, Owner
from penstock.operate.leftovers.survey import LeftOver, Rules, survey

HERE = "import sys; from pathlib import Path; from penstock.operate.leftovers import names; "
MAKE = HERE + "p = names.partial_path(Path(sys.argv[1])); p.write_bytes(bytes(1000)); print(p, flush=True); "
OWN, OTHER, THIRD = "00000000000000aa", "00000000000000bb", "00000000000000cc"

Clean = Callable[..., Any]


def left_by_the_dead(target: Path) -> Path:
    """A partial file of TARGET by a process that has ended."""
    made = subprocess.run([sys.executable, "-c", MAKE, str(target)], capture_output=True, text=True, check=True)
    return Path(made.stdout.rstrip("\n"))


@pytest.fixture
def alive() -> Iterator[Callable[[Path], Path]]:
    """Makes partial files by processes that live as long as the test."""
    started: list[subprocess.Popen[str]] = []

    def make(target: Path) -> Path:
        command = [sys.executable, "-c", MAKE + "sys.stdin.read()", str(target)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout is not None
        return Path(process.stdout.readline().rstrip("\n"))

    yield make
    for process in started:
        process.communicate()


@pytest.fixture
def clean(tmp_path: Path) -> Clean:
    """Runs `penstock clean --json` and returns what it said."""

    def run(*words: str | Path) -> Any:
        done = run_penstock("clean", "--json", *map(str, words), cwd=tmp_path, bin_folder=tmp_path)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


def elsewhere(target: Path, job: str = "none", host: str = "node17", token: str = OWN) -> Path:
    """A partial file of TARGET by a process of another machine."""
    path = target.with_name(f".{target.name}.{token}.fedcba987654-17-4711.{job}.{host}.partial")
    path.write_bytes(bytes(10))
    return path


def age(path: Path, seconds: float) -> Path:
    then = path.lstat().st_mtime - seconds
    os.utime(path, (then, then), follow_symlinks=False)
    return path


def found(folder: Path, rules: Rules | None = None, target: str | None = None) -> dict[str, LeftOver]:
    return {left.files()[-1]: left for left in survey(folder, target, rules or Rules())}


def index(folder: Path, name: str, generation: str, replaced: str = OTHER) -> Path:
    path = folder / name
    head = '{"schema": "penstock.index/1", "format": "raw",'
    path.write_text(f'{head}\n "generation": "{generation}", "replaced": "{replaced}"}}')
    return path


def part(folder: Path, stem: str, generation: str, rest: str = "000000.raw") -> Path:
    path = folder / f"{stem}.g{generation}.{rest}"
    path.write_bytes(bytes(50))
    return path


def test_what_the_dead_left_goes_and_what_the_living_make_stays(
    tmp_path: Path, clean: Clean, alive: Callable[[Path], Path]
) -> None:
    target = tmp_path / "heat.h5"
    target.write_text("old")
    dead, living, other = left_by_the_dead(target), alive(target), left_by_the_dead(tmp_path / "other.h5")
    said = clean("--dry-run", target)
    assert {(one["name"], one["action"]) for one in said["left_overs"]} == {
        (dead.name, "would be removed"),
        (living.name, "kept"),
    }
    assert dead.exists()
    said = clean(target)
    assert {(one["name"], one["action"]) for one in said["left_overs"]} == {
        (dead.name, "removed"),
        (living.name, "kept"),
    }
    assert said["removed_bytes"] == 1000
    assert sorted(tmp_path.iterdir()) == sorted([target, living, other])
    assert [one["action"] for one in clean(tmp_path, target)["left_overs"]].count("removed") == 1
    assert sorted(tmp_path.iterdir()) == sorted([target, living])
    assert target.read_text() == "old"


def test_parts_of_restart_files_stay_though_their_index_has_moved_up(tmp_path: Path) -> None:
    for k, generation in enumerate((OWN, OTHER)):
        index(tmp_path, f"restart{k}.raw.json", generation, "")
        part(tmp_path, "uncommitted.raw", generation)
    dropped = part(tmp_path, "uncommitted.raw", THIRD)
    left = found(tmp_path, Rules(older_than=0))
    assert set(left) == {dropped.name}
    assert left[dropped.name].removable


def test_parts_are_as_old_as_the_newest_of_them(tmp_path: Path) -> None:
    new, old = part(tmp_path, "heat.raw", OWN, "000000.raw"), part(tmp_path, "heat.raw", OWN, "000001.raw")
    day = 86400
    os.utime(old, (new.stat().st_atime - 10 * day, new.stat().st_mtime - 10 * day))
    assert not found(tmp_path, Rules(older_than=5 * day))[old.name].removable
    os.utime(new, (new.stat().st_atime - 6 * day, new.stat().st_mtime - 6 * day))
    assert found(tmp_path, Rules(older_than=5 * day))[old.name].removable


def test_a_person_reads_what_was_done_and_why(tmp_path: Path) -> None:
    left_by_the_dead(tmp_path / "heat.h5")
    elsewhere(tmp_path / "heat.h5")
    done = run_penstock("clean", ".", cwd=tmp_path, bin_folder=tmp_path)
    assert done.returncode == 0
    lines = sorted(done.stdout.splitlines(), key=lambda line: line.split()[0])
    assert lines[0] == "1 removed (1000 B), 1 kept (10 B)"
    assert "--host-is-dead node17" in lines[1]
    assert lines[2].startswith("removed  ")
    assert lines[2].endswith("has ended")
    assert run_penstock("clean", "heat.h5", cwd=tmp_path, bin_folder=tmp_path).stdout.startswith("kept")
    nothing = run_penstock("clean", "", cwd=tmp_path, bin_folder=tmp_path)
    assert nothing.returncode == 2
    assert "the path is empty" in nothing.stderr
    assert run_penstock("clean", "no/where", cwd=tmp_path, bin_folder=tmp_path).returncode == 2
    assert run_penstock("clean", ".", "--older-than", "soon", cwd=tmp_path, bin_folder=tmp_path).returncode == 2


def test_a_later_process_with_its_number_is_not_the_owner(tmp_path: Path) -> None:
    mine = names.partial_path(tmp_path / "f")
    owner = names.parse(mine.name)
    assert owner is not None
    assert owner.owner is not None
    assert owner.owner.life() is Life.alive
    earlier = Owner(names.this_machine(), os.getpid(), owner.owner.start - 1, "none", "here")
    assert earlier.life() is Life.dead
    assert Owner("fedcba987654", os.getpid(), owner.owner.start, "none", "here").life() is Life.unknown
    assert Owner(names.this_machine(), os.getpid(), 0, "none", "here").life() is Life.unknown


@pytest.fixture
def squeue(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A scheduler that has job 100, has had 200, does not know 300 any more, and for 400 is down."""
    folder = tmp_path_factory.mktemp("bin")
    program = folder / "squeue"
    program.write_text(
        "#!/bin/sh\n"
        'case "$*" in\n'
        "  *'-M blue -j 100') echo 'CLUSTER: blue'; echo RUNNING;;\n"
        "  *'-j 100') echo PENDING;;\n"
        "  *'-j 200') ;;\n"
        "  *'-j 300') echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1;;\n"
        "  *) echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1;;\n"
        "esac\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    jobs.state.cache_clear()
    yield
    jobs.state.cache_clear()


@pytest.mark.usefixtures("squeue")
def test_a_job_that_is_gone_makes_its_files_removable(tmp_path: Path) -> None:
    everything = Rules(0.0, frozenset(["node17"]))
    for job, removable in (
        ("slurm-100-blue", False),
        ("slurm-100", False),
        ("slurm-200", True),
        ("slurm-300-blue", True),
    ):
        path = elsewhere(tmp_path / "f", job)
        assert found(tmp_path)[path.name].removable is removable, job
        assert found(tmp_path, everything)[path.name].removable is removable, job
    for job in ("slurm-400", "pbs-200", "none"):
        path = elsewhere(tmp_path / "f", job)
        assert not found(tmp_path)[path.name].removable, job
        assert found(tmp_path, everything)[path.name].removable, job


def test_what_cannot_be_asked_goes_when_the_user_says_so(tmp_path: Path, alive: Callable[[Path], Path]) -> None:
    target = tmp_path / "f"
    here, there = elsewhere(target, host="node17"), elsewhere(target, host="node18")
    earlier = tmp_path / ".f.00000000000000dd.partial"
    earlier.write_text("an earlier version's")
    living = alive(target)
    for rules, removable in (
        (Rules(), set[Path]()),
        (Rules(dead_hosts=frozenset([names.host_name("node17.cluster.site")])), {here}),
        (Rules(older_than=3600.0), set[Path]()),
        (Rules(older_than=0.0), {here, there, earlier}),
    ):
        assert {name for name, left in found(tmp_path, rules).items() if left.removable} == {p.name for p in removable}
    age(there, 7200)
    age(living, 7200)
    assert [n for n, left in found(tmp_path, Rules(older_than=3600.0)).items() if left.removable] == [there.name]


def test_parts_of_the_dead_go_with_their_partial_file(tmp_path: Path, clean: Clean) -> None:
    dead = left_by_the_dead(tmp_path / "heat.raw.json")
    partial = names.parse(dead.name)
    assert partial is not None
    parts = [part(tmp_path, "heat.raw", partial.token, f"{i:06d}.raw") for i in range(3)]
    beside = tmp_path / f".heat.raw.g{partial.token}.blocks.raw.shfp.17"  # as ROMIO makes it
    beside.write_text("")
    kept = [index(tmp_path, "heat.raw.json", OWN), part(tmp_path, "heat.raw", OWN), part(tmp_path, "heat.raw", OTHER)]
    (said,) = clean(tmp_path / "heat.raw")["left_overs"]
    assert set(said["parts"]) == {path.name for path in [*parts, beside]}
    assert sorted(tmp_path.iterdir()) == sorted(kept)


def test_a_program_killed_while_publishing_loses_no_part(tmp_path: Path, clean: Clean) -> None:
    dead = left_by_the_dead(tmp_path / "heat.raw.json")
    partial = names.parse(dead.name)
    assert partial is not None
    kept = [index(tmp_path, "heat.raw.json", partial.token), part(tmp_path, "heat.raw", partial.token)]
    clean(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted(kept)


def test_parts_that_no_index_names_are_litter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not mounts.is_local(Path("/proc"))
    monkeypatch.setattr(mounts, "is_local", lambda _: True)
    litter = part(tmp_path, "heat.raw", THIRD)
    part(tmp_path, "heat.raw", OWN)
    part(tmp_path, "heat.raw", OTHER)
    assert not found(tmp_path)[litter.name].removable  # no index at all: it may have been moved
    assert found(tmp_path, Rules(older_than=0.0))[litter.name].removable
    index(tmp_path, "renamed.json", THIRD)
    index(tmp_path, "heat.raw.json", OWN)
    assert found(tmp_path) == {}
    (tmp_path / "renamed.json").unlink()
    assert found(tmp_path)[litter.name].removable
    assert list(found(tmp_path, target="heat.raw")) == [litter.name]
    assert list(found(tmp_path, target="heat.raw.json")) == [litter.name]
    assert found(tmp_path, target="other") == {}
    monkeypatch.setattr(mounts, "is_local", lambda _: False)
    assert not found(tmp_path)[litter.name].removable
    age(litter, 3600)
    assert found(tmp_path)[litter.name].removable
    elsewhere(tmp_path / "heat.raw.json", token=THIRD)  # somebody may be making it
    assert all(litter.name not in left.files() for left in found(tmp_path).values())


def test_a_parity_file_is_named_by_its_whole_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clean: Clean
) -> None:
    monkeypatch.setattr(mounts, "is_local", lambda _: True)
    master = index(tmp_path, "heat.raw.json", OWN)
    named = part(tmp_path, "heat.raw", OWN, f"{THIRD}.parity")
    text = master.read_text()
    master.write_text(text.replace('"replaced"', f'"parity": {{"file": "{named.name}"}}, "replaced"'))
    kept = [master, named, part(tmp_path, "heat.raw", OWN), part(tmp_path, "heat.raw", OTHER, "parity")]
    before = part(tmp_path, "heat.raw", OWN, "parity")  # a killed seal published the new one, and left the old one
    assert {name for name, left in found(tmp_path).items() if left.removable} == {before.name}
    before.unlink()
    dead = left_by_the_dead(tmp_path / "heat.raw.json")  # or did not publish it
    partial = names.parse(dead.name)
    assert partial is not None
    made = part(tmp_path, "heat.raw", OWN, f"{partial.token}.parity")
    (said,) = clean(tmp_path)["left_overs"]
    assert said["parts"] == [made.name]
    assert sorted(tmp_path.iterdir()) == sorted(kept)
    elsewhere(tmp_path / "heat.raw.json", token=partial.token)  # or is at work
    made = part(tmp_path, "heat.raw", OWN, f"{partial.token}.parity")
    assert all(made.name not in left.files() for left in found(tmp_path).values())


def test_parts_of_hdf5_sets_and_of_containers_are_known_by_their_masters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mounts, "is_local", lambda _: True)
    for generation in (OWN, OTHER, THIRD):
        part(tmp_path, "heat.h5", generation, "000000.h5")
        part(tmp_path, "log", generation, "000001.pstream")
    with h5py.File(tmp_path / "heat.h5", "w") as file:
        text = f'{{"generation": "{OWN}", "replaced": "{OTHER}"}}'.encode()
        file.create_dataset("_penstock/index", data=list(text), dtype="u1")
    (tmp_path / "log").write_bytes(MAGIC + b"".join(int(g, 16).to_bytes(8, "little") for g in ("1", OWN, OTHER)))
    # Generations are random: no two sets share one, but here, where one name in use keeps both.
    litter = [path.name for path in sorted(tmp_path.iterdir()) if THIRD in path.name]
    (left,) = found(tmp_path).values()
    assert sorted(left.files()) == litter
    assert left.removable
    monkeypatch.setitem(sys.modules, "h5py", None)
    assert all(not one.removable or not any(n.endswith(".h5") for n in one.files()) for one in found(tmp_path).values())
    monkeypatch.undo()
    monkeypatch.setattr(mounts, "is_local", lambda _: True)
    (tmp_path / "damaged.h5").write_bytes((tmp_path / "heat.h5").read_bytes()[:200])
    (left,) = found(tmp_path).values()
    assert not left.removable
    assert "damaged.h5" in left.why


def test_links_are_not_followed(tmp_path: Path, clean: Clean) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "file").write_text("whole")
    dead = left_by_the_dead(tmp_path / "f.bp")
    dead.unlink()
    dead.mkdir()
    (dead / "data.0").write_bytes(bytes(30))
    (dead / "link").symlink_to(victim)
    link = left_by_the_dead(tmp_path / "f.h5")
    link.unlink()
    link.symlink_to(victim / "file")
    assert clean(tmp_path)["removed_bytes"] == 30
    assert list(tmp_path.iterdir()) == [victim]
    assert (victim / "file").read_text() == "whole"


def test_memory_of_an_earlier_version_goes_when_the_user_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, other = tmp_path / "penstock-0123456789abcdef", tmp_path / "penstock-notes"
    memory.write_bytes(bytes(1000))
    other.write_bytes(b"")
    assert found(tmp_path) == {}
    monkeypatch.setattr("penstock.operate.leftovers.survey.SHARED_MEMORY", tmp_path)
    (left,) = found(tmp_path).values()
    assert (left.name, left.bytes, left.removable) == (memory.name, 1000, False)
    age(memory, 7200)
    assert [one.removable for one in found(tmp_path, Rules(older_than=3600)).values()] == [True]


def test_a_folder_whose_replacement_was_interrupted_stays(tmp_path: Path) -> None:
    new = left_by_the_dead(tmp_path / "f.bp")
    new.unlink()
    new.mkdir()
    aside = new.with_name(new.name + ".old")
    aside.mkdir()
    assert {name: left.removable for name, left in found(tmp_path).items()} == {new.name: False, aside.name: False}
    (tmp_path / "f.bp").mkdir()
    assert all(left.removable for left in found(tmp_path).values())
    (tmp_path / "f.bp" / "md.idx").write_text("")
    assert set(found(tmp_path, target="f.bp")) == {new.name, aside.name}


@given(st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=80))
def test_names_come_back_whatever_the_target_is_called(target: str) -> None:
    if len(os.fsencode(target)) > 255 or target in {".", ".."}:
        return
    name = names.partial_path(Path("/folder") / target).name
    assert len(os.fsencode(name)) <= names.NAME_MOST
    partial = names.parse(name)
    assert partial is not None
    assert partial.is_of(target)
    assert not partial.is_of(target + "x")


@given(st.text(st.sampled_from("..-0a~fpartil"), max_size=120))
def test_names_of_others_are_no_partial_files(name: str) -> None:
    partial = names.parse(name)
    assert partial is None or name.endswith(".partial") or ".partial" in name


@pytest.mark.parametrize(
    ("plan", "file"),
    [
        ("hdf5/two_phase", "f.h5"),
        ("hdf5/independent:placement=per_rank", "f.h5"),
        ("raw/two_phase", "f.raw"),
        ("raw/independent:placement=per_rank", "f.raw"),
        ("netcdf/independent:placement=per_rank", "f.nc"),
        ("hdf5/independent:placement=parts,parts=3", "x" * 240),
    ],
)
def test_what_a_killed_program_leaves_is_removed(
    build: Path, tmp_path: Path, clean: Clean, plan: str, file: str
) -> None:
    program, target = build / "bin" / "two_jobs", tmp_path / file
    if len(file) > 200:
        plan = "hdf5/two_phase"  # names of parts have no room there
    else:
        subprocess.run([program, "--other", target, plan], check=True)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for _ in range(2):
        assert subprocess.run([program, "--leave", target, plan], check=False).returncode == -9
    left = clean(target)["left_overs"]
    assert [one["action"] for one in left] == ["removed", "removed"]
    assert all(one["name"].startswith(".") and one["bytes"] > 0 for one in left)
    assert all(bool(one["parts"]) is ("placement" in plan or "raw" in plan) for one in left)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
