"""test_typing.py: what mypy --strict says of a user's program, right or wrong, and of the extension's own types."""

import os
import subprocess
import sys
from pathlib import Path

from conftest import BUILD, ROOT, extension

RIGHT = """
import numpy as np
import penstock
from mpi4py import MPI

comm = MPI.COMM_WORLD
with penstock.series("run/out-*.h5", comm, steps=100, io_budget="10%", at=[0, 0.5]) as series:
    if series.due(100, 0.5):
        with series.step(np.int64(100), np.float32(0.5)) as f:
            f["rho"] = penstock.block(np.zeros((2, 3)), shape=(2, 3), start=(0, 0), units="K")
            f.collect_provenance()
for step in penstock.open_series("run/out-*.h5"):
    with step.open() as f:
        shape: tuple[int, ...] = f["rho"].shape
times: list[float] = [step.time for step in penstock.open_series("run/out-*.h5", comm)[-2:]]
with penstock.clone("template.h5", "new.h5", comm, plan="hdf5/two_phase") as f:
    f.close_restart("restart#.h5", retain=3)
with penstock.create_stream("s", comm) as stream:
    written: int = stream.write(b"bytes")
try:
    penstock.verify("new.h5")
except penstock.Damaged as error:
    print(error.strerror)
"""

WRONG = {
    'penstock.series("out-*.h5", steps="100")': '"series" has incompatible type "str"; expected "SupportsIndex | None"',
    'penstock.open_series("out-*.h5").due(1)': 'Missing positional argument "time"',
    'penstock.open_series("out-*.h5")[0].iterations': '"Step" has no attribute "iterations"',
    'penstock.create("a.h5", comm=3)': '"create" has incompatible type "int"',
    'penstock.open_serie("out-*.h5")': 'Module has no attribute "open_serie"; maybe "open_series"?',
    'penstock.create("a.h5").close_restart("a#.h5")': 'Missing positional argument "retain"',
}


def mypy(folder: Path, program: str, name: str = "user.py") -> str:
    (folder / name).write_text(program)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(BUILD / ".mypy_cache.user"), name]
    paths = {"MYPYPATH": os.pathsep.join(map(str, (ROOT / "tools", BUILD / "lib/python")))}
    ran = subprocess.run(command, cwd=folder, env=os.environ | paths, capture_output=True, text=True, check=False)
    return ran.stdout + ran.stderr


def test_a_program_is_right(tmp_path: Path) -> None:
    assert mypy(tmp_path, RIGHT).startswith("Success")


def test_wrong_calls_are_found(tmp_path: Path) -> None:
    said = mypy(tmp_path, "\n".join(["import penstock", *WRONG])).splitlines()
    for line, words in enumerate(WRONG.values(), 2):
        assert any(one.startswith(f"user.py:{line}: error: ") and words in one for one in said), said


def test_the_extension_has_types(tmp_path: Path) -> None:
    module = extension("lib/python", "_mpi")
    assert (module.parent / "py.typed").is_file()
    program = "from penstock_native import _mpi\n_mpi.open_series(_mpi.alone(), 3)\nreveal_type(_mpi.Series.steps)\n"
    said = mypy(tmp_path, program)
    assert 'Argument 2 to "open_series" has incompatible type "int"; expected "str"' in said
    assert "list[tuple[int, float, str]]" in said
    stub = mypy(tmp_path, (module.parent / "_mpi.pyi").read_text(), "user.pyi")
    assert "Success" in stub, stub
