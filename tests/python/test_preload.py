"""test_preload.py: a library of ours in an unchanged command: where it is found, and how all ranks get it."""

import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from penstock.base import launch, preload
from penstock.base.errors import UserError

CHANGES = {"LD_PRELOAD": "/a.so", "OTHER": "1"}


@pytest.fixture(autouse=True)
def unnamed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (preload.NAMED, "LD_PRELOAD"):
        monkeypatch.delenv(name, raising=False)


def launcher(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """mpiexec in PATH, a link to NAME."""
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(0o755)
    (folder / "mpiexec").symlink_to(name)
    monkeypatch.setenv("PATH", str(folder))
    return "mpiexec"


def test_open_mpi_is_told_the_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = [launcher(tmp_path, "orterun", monkeypatch), "-n", "2", "code"]
    assert preload.with_ranks(command, CHANGES) == (command, CHANGES | {preload.NAMED: "LD_PRELOAD;OTHER"})
    monkeypatch.setenv(preload.NAMED, "MINE")
    assert preload.with_ranks(command, CHANGES)[1][preload.NAMED] == "MINE;LD_PRELOAD;OTHER"
    assert preload.mpi_of(command) is launch.Mpi.openmpi


def test_where_the_command_has_x_it_gets_more_for_each_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = [launcher(tmp_path, "orterun", monkeypatch), "-x", "MINE", "-n", "1", "a", ":", "-n", "1", "b"]
    words, changes = preload.with_ranks(command, CHANGES)
    own = ["-x", "LD_PRELOAD", "-x", "OTHER"]
    assert words == ["mpiexec", *own, "-x", "MINE", "-n", "1", "a", ":", *own, "-n", "1", "b"]
    assert changes == CHANGES


@pytest.mark.parametrize("words", [["srun", "-x", "node7", "code"], ["mpiexec", "-n", "2", "code", "-x", "y"]])
def test_an_x_of_others_stays_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    launcher(tmp_path, "mpiexec.hydra", monkeypatch)
    assert preload.with_ranks(words, CHANGES)[0] == words


def test_without_a_launcher_nothing_is_added() -> None:
    assert preload.with_ranks(["./code", "-x", "y"], CHANGES) == (["./code", "-x", "y"], CHANGES)
    assert preload.mpi_of(["./code"]) is None


@pytest.mark.parametrize(("more", "given"), [([], {}), (["-x", "MINE=2"], {}), ([], {preload.NAMED: "MINE"})])
def test_open_mpi_takes_what_we_say(more: list[str], given: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("mpiexec.openmpi") is None:
        pytest.skip("no mpiexec.openmpi")
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    command = ["mpiexec.openmpi", *more, "-n", "1", "sh", "-c", "echo $OTHER"]
    words, changes = preload.with_ranks(command, {"OTHER": "ours"})
    done = subprocess.run(words, env=launch.environment() | changes, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "ours\n"), done.stderr


def test_a_signal_that_comes_while_the_command_starts_reaches_it(monkeypatch: pytest.MonkeyPatch) -> None:
    started = subprocess.Popen

    def popen(command: list[str], **given: Any) -> "subprocess.Popen[bytes]":
        process = started(command, **given)
        os.kill(os.getpid(), signal.SIGTERM)  # the handler runs before the caller has the process
        return process

    monkeypatch.setattr(subprocess, "Popen", popen)
    assert preload.run(["sleep", "30"], os.environ) == 128 + signal.SIGTERM


def test_a_library_comes_first_or_last_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert preload.preloaded(Path("/p/a.so")) == "/p/a.so"
    monkeypatch.setenv("LD_PRELOAD", "/p/a.so /q/darshan.so:")
    assert preload.preloaded(Path("/p/a.so")) == "/p/a.so:/q/darshan.so"
    assert preload.preloaded(Path("/p/a.so"), last=True) == "/q/darshan.so:/p/a.so"


@pytest.mark.parametrize("path", ["/my folder/a.so", "/a:b/a.so"])
def test_paths_that_cannot_be_preloaded_are_said(path: str) -> None:
    with pytest.raises(UserError, match="no path with a space or a colon"):
        preload.preloaded(Path(path))


def test_the_build_for_the_mpi_of_the_command_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_BIN", str(tmp_path / "bin"))
    for folder in (tmp_path / "lib", tmp_path / "mpich" / "lib"):
        folder.mkdir(parents=True)
        (folder / "liba.so").touch()
    assert preload.library("liba.so", launch.Mpi.mpich) == tmp_path / "mpich" / "lib" / "liba.so"
    assert preload.library("liba.so", launch.Mpi.openmpi) == tmp_path / "lib" / "liba.so"
    assert preload.library("liba.so") == tmp_path / "lib" / "liba.so"
    with pytest.raises(UserError, match="'ninja -C build b' makes it"):
        preload.library("libb.so")
