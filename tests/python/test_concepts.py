"""test_concepts.py: what docs/concepts.md counts is what is there."""

import re

from conftest import ROOT


def test_the_lines_of_the_twins() -> None:
    text = (ROOT / "docs" / "concepts.md").read_text()
    counted = dict(re.findall(r"^\| `(checkpoint\w*\.c)` \| (\d+) \|$", text, re.MULTILINE))
    assert counted == {
        name: str(len((ROOT / "examples" / "jacobi" / name).read_text().splitlines()))
        for name in ("checkpoint.c", "checkpoint_mpiio.c", "checkpoint_hdf5.c")
    }
