"""test_relay.py: commands pass on whom their programs wait for, and take no wait for the reason of a failure."""

import os
import subprocess
import sys
from pathlib import Path

import h5py
import pytest

WAIT = "waiting for rank 3 (of 4) in commit of 'out.h5' for 10 s: it has not come"
WHY = "no space left on 'out.h5'"
PROGRAM = f"""#!{sys.executable}
import os, sys, time
def write(text):
    print(f"{{os.path.basename(sys.argv[0])}}: {{text}}", file=sys.stderr, flush=True)
write({f"note: {WAIT}"!r})
deadline = time.monotonic() + 60
while not os.path.exists("told") and time.monotonic() < deadline:
    time.sleep(0.05)
write({WHY!r})
write({f"note: {WAIT}"!r})
print("the launcher noticed that a process ended", file=sys.stderr)
sys.exit(3)
"""


@pytest.mark.parametrize(
    ("program", "command"),
    [
        ("penstock-convert", "convert in.h5 out.h5"),
        ("penstock-verify", "verify in.h5"),
        ("penstock-diff", "diff in.h5 in.h5"),
        ("penstock-bench", "bench block2d --np 1 --dir ."),
    ],
)
def test_a_wait_is_passed_on_and_is_no_reason(tmp_path: Path, program: str, command: str) -> None:
    folder = tmp_path / "serial" / "bin"
    folder.mkdir(parents=True)
    (folder / program).write_text(PROGRAM)
    (folder / program).chmod(0o755)
    h5py.File(tmp_path / "in.h5", "w").close()
    words = [sys.executable, "-m", "penstock", *command.split(), "--mpi", "serial"]
    environment = os.environ | {"PENSTOCK_BIN": str(tmp_path / "bin")}
    (tmp_path / "bin").mkdir()
    with subprocess.Popen(words, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == f"penstock: {WAIT}\n"
        (tmp_path / "told").touch()
        assert process.stderr.read().splitlines() == [f"penstock: {WAIT}", f"penstock: {WHY}"]
    assert process.returncode in (1, 2)
