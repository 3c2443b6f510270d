"""test_python_arrows.py: the check of the tools' imports names what the table of rooms forbids, and every circle."""

from pathlib import Path

import pytest

from checks.python_arrows import read_law, violations
from conftest import ROOT

TABLE = """\
| room in `tools/penstock/` | contents | sees |
|---|---|---|
| `base` | words | nothing |
| `api` | files, series | base |
| `jobs` | a `Job` | base |
| `diagnose` | the doctor | jobs |
| `cli` | commands | api, diagnose |
"""
MODULES = ("__init__", "crc64", "base/words", "api/file", "api/put", "jobs/job", "jobs/trace/reader", "diagnose/facts")


def check(root: Path, sources: dict[str, str], table: str = TABLE) -> list[str]:
    """What is found where MODULES are there, empty but for SOURCES."""
    for name, text in (dict.fromkeys(MODULES, "") | sources).items():
        path = root / "tools" / "penstock" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return list(violations(root, read_law(table)))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("base/words", "from penstock.api.file import File"),
        ("base/words", "from penstock.api import file"),
        ("base/words", "import penstock.api.file"),
        ("base/words", "from ..api import file"),
        ("base/words", "def f():\n    from penstock.api import file"),
        ("base/words", "if TYPE_CHECKING:\n    from penstock.api import file"),
        ("base/words", "import penstock"),  # which belongs to api
        ("crc64", "from penstock.api import file"),  # which belongs to base
        ("jobs/trace/reader", "from penstock.diagnose import facts"),
        ("jobs/job", "from penstock.api.put import Part"),  # no arrow either way
        ("attic/old", "from penstock.base import words"),
        ("old", "from penstock.base import words"),
    ],
)
def test_an_import_against_an_arrow_is_named(tmp_path: Path, name: str, text: str) -> None:
    found = check(tmp_path, {name: text})
    assert len(found) == 1
    assert found[0].startswith(f"tools/penstock/{name}.py:{len(text.splitlines())}: ")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("base/words", "from penstock.crc64 import crc64"),
        ("api/file", "from penstock.api import put"),
        ("diagnose/facts", "from penstock.jobs.trace.reader import read"),
        ("diagnose/facts", "from penstock.base import words"),  # through jobs
        ("__init__", "from penstock.api.file import File"),
        ("cli/view", "import penstock, numpy"),
        ("jobs/trace/reader", "from penstock.jobs.job import Job"),
    ],
)
def test_an_import_along_an_arrow_passes(tmp_path: Path, name: str, text: str) -> None:
    assert check(tmp_path, {name: text}) == []


def test_circles_are_named(tmp_path: Path) -> None:
    modules = {"api/file": "from penstock.api import put", "api/put": "def f():\n    from penstock.api import file"}
    assert check(tmp_path / "modules", modules) == ["tools/penstock/api: file <- put <- file"]
    folders = {
        "jobs/trace/reader": "from penstock.jobs.profile import reader",
        "jobs/profile/reader": "from penstock.jobs.trace import steps",  # no circle of modules
        "jobs/trace/steps": "",
    }
    assert check(tmp_path / "folders", folders) == ["tools/penstock/jobs: profile <- trace <- profile"]
    assert check(tmp_path / "table", {}, TABLE.replace("nothing", "diagnose")) == [
        "ARCHITECTURE.md: base <- jobs <- diagnose <- base"
    ]


def test_this_repository_obeys() -> None:
    law = read_law((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))
    assert len(law.direct) > 5
    assert list(violations(ROOT, law)) == []
