"""test_doctor_page.py: the doctor's page: whole by itself, its pictures have words, and no name can write it."""

import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from conftest import Penstock
from jobs import GIB, LOGS, job, logs, record
from penstock.diagnose.diagnosis import diagnose


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.pictures: list[str] = []
        self.outside: list[str] = []
        self.titles: list[str] = []
        self._in_title = False
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        said = dict(attributes)
        if said.get("role") == "img":
            self.pictures.append(said.get("aria-label") or "")
        self._in_title = self._in_title or tag in ("h3", "figcaption")
        for name in ("src", "href"):
            target = said.get(name) or ""
            if target and not target.startswith(("#", "data:")):
                self.outside.append(target)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("h3", "figcaption"):
            self._in_title = False

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.titles.append(data)


@logs
@pytest.mark.parametrize(
    ("name", "pictures"), [("imbalanced-io", 2), ("mpi_io_test_with_dxt", 4), ("partial_data_dxt", 4)]
)
def test_a_page_stands_alone_and_its_pictures_have_words(
    penstock: Penstock, tmp_path: Path, name: str, pictures: int
) -> None:
    done = penstock("doctor", str(LOGS / f"{name}.darshan"), "--html", "page.html")
    assert done.returncode == 0, done.stderr
    page = Page((tmp_path / "page.html").read_text())
    assert len(page.pictures) == pictures
    assert all(len(text) > 40 for text in page.pictures)
    assert page.outside == []
    assert "At more ranks" not in (tmp_path / "page.html").read_text()
    assert "How operations grow" not in done.stdout
    assert "rows do not add up" in " ".join(done.stdout.split())


@logs
def test_one_log_grows_where_its_steps_are_told(penstock: Penstock, tmp_path: Path) -> None:
    done = penstock("doctor", str(LOGS / "imbalanced-io.darshan"), "--steps", "2", "--html", "page.html")
    assert done.returncode == 0, done.stderr
    assert "How operations grow" in done.stdout
    page = (tmp_path / "page.html").read_text()
    assert "At more ranks" in page
    assert len(Page(page).pictures) == 4


@logs
@pytest.mark.skipif(shutil.which("chromium") is None, reason="no chromium")
def test_a_browser_has_nothing_to_complain_of(penstock: Penstock, tmp_path: Path) -> None:
    done = penstock("doctor", str(LOGS / "mpi_io_test_with_dxt.darshan"), "--html", "page.html")
    assert done.returncode == 0, done.stderr
    words = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--window-size=1200,2000"]
    shot = tmp_path / "page.png"
    seen = subprocess.run(
        [str(shutil.which("chromium")), *words, f"--screenshot={shot}", f"file://{tmp_path}/page.html"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert "CONSOLE" not in seen.stderr, seen.stderr
    assert shot.stat().st_size > 100_000


def test_names_of_files_cannot_write_the_page() -> None:
    from penstock.diagnose.model import fit
    from penstock.diagnose.page.build import page

    evil = '/scratch/<script>alert("x")</script>'
    made = job(record("POSIX", evil, rank=0, WRITES=8192, BYTES_WRITTEN=8 * GIB, F_WRITE_TIME=40), program="<b>")
    text = page(diagnose(made), fit([made]))
    assert "<script>alert" not in text
    assert "<b>" not in text


def test_why_a_remedy_was_not_replayed_is_a_sentence_of_its_own() -> None:
    from penstock.diagnose.model import fit
    from penstock.diagnose.page.build import page

    made = job(record("POSIX", "/scratch/a", rank=0, WRITES=8192, BYTES_WRITTEN=8 * GIB, F_WRITE_TIME=40))
    found = diagnose(made)
    findings = tuple(replace(one, not_replayed="no room") for one in found.findings)
    text = page(replace(found, findings=findings), fit([made]))
    assert ". Not replayed: no room.</p>" in text
