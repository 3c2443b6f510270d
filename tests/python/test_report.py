"""test_report.py: pages, tables and IOR's JSON made of records, as a browser, pandas and IOR's readers see them."""

import csv
import json
import re
import shutil
import statistics
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from conftest import Penstock
from penstock.measure.studies import stats, unpaired
from reports import H5BENCH, IOR, made

METHODS = "hdf5/two_phase,raw/per_process,raw/mpiio:hint.cb_nodes=1"


@pytest.fixture(scope="module")
def measured(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign on 2 and 3 ranks, half of it beside a competing job; a study; and a record of one run."""
    from conftest import run_penstock

    folder = tmp_path_factory.mktemp("measured")
    few = ("--repetitions", "6", "--total", "64KiB", "--methods", METHODS)
    for words in (
        ("block2d", *few, "--np", "2,3", "--interfere", "--json", "campaign.json"),
        ("block2d", *few, "--np", "2,3", "--interfere", "--seed", "5", "--json", "again.json"),
        ("many", "--datasets", "4", "--dataset-bytes", "4KiB", "--np", "2", "--repetitions", "2", "--json", "one.json"),
        ("--preset", "esio-weak", "--scale", "0.01", "--np", "2,3", "--repetitions", "2", "--json", "study.json"),
        (
            "--preset",
            "ratios",
            "--only",
            "1a,10a",
            "--total",
            "1MiB",
            "--np",
            "2",
            "--repetitions",
            "2",
            "--json",
            "ratios.json",
        ),
    ):
        done = run_penstock("bench", *words, cwd=folder, bin_folder=build / "bin")
        assert done.returncode == 0, done.stderr
    return folder


class Page(HTMLParser):
    """What of a page the tests look at."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.pictures: list[str] = []
        self.ids: list[str] = []
        self.references: list[str] = []
        self.svgs = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        self.svgs += tag == "svg"
        if said.get("role") == "img":
            self.pictures.append(said.get("aria-label") or "")
        if said.get("id"):
            self.ids.append(str(said["id"]))
        for name in ("src", "href", "data", "action"):
            value = said.get(name)
            if value is None:
                continue
            if value.startswith("#"):
                self.references.append(value[1:])
            else:
                self.addresses.append(value)


@pytest.mark.parametrize(
    "names", [["campaign.json"], ["study.json"], ["one.json"], ["ratios.json"], ["campaign.json", "again.json"]]
)
def test_a_page_needs_nothing_else_and_every_figure_has_words(
    penstock: Penstock, measured: Path, tmp_path: Path, names: list[str]
) -> None:
    text = made(penstock, measured, *names, target=tmp_path / "r.html")
    page = Page(text)
    assert all(address.startswith("data:") for address in page.addresses), page.addresses
    assert "http" not in re.sub(r"<text.*?</text>", "", text, flags=re.DOTALL).lower().replace("http-equiv", "")
    assert "@import" not in text
    assert "url(http" not in text
    assert page.svgs == len(page.pictures) > 0
    assert all(len(words) > 30 for words in page.pictures)
    assert len(set(page.ids)) == len(page.ids)
    assert set(page.references) <= set(page.ids)
    assert not re.search(r"#0[1-5]0[1-5]0[1-5]|#0a0a0", text)  # each colour is the page's own


def test_every_kind_of_plot_is_there(penstock: Penstock, measured: Path, tmp_path: Path) -> None:
    page = Page(made(penstock, measured, "campaign.json", target=tmp_path / "r.html"))
    for stem in ("s0-c0", "s0-c1"):  # quiet, and beside a competing job
        wanted = {f"{stem}-scaling"} | {
            f"{stem}-{np}-{plot}" for np in (2, 3) for plot in ("repetitions", "phases", "ranks-write", "ceiling")
        }
        assert wanted <= set(page.ids)
    study = Page(made(penstock, measured, "study.json", target=tmp_path / "s.html"))
    assert {"s0-study0", "s0-study1"} <= set(study.ids)


def test_the_verdict_comes_first_and_its_figures_are_those_of_the_record(
    penstock: Penstock, measured: Path, tmp_path: Path
) -> None:
    text = made(penstock, measured, "one.json", target=tmp_path / "r.html")
    record = json.loads((measured / "one.json").read_text())
    assert text.index('class="verdict"') < text.index("<nav") < text.index("<figure")
    lines = [line for line in record["results"] if line["operation"] == "write" and line["method"].startswith("hdf5")]
    best = min(lines, key=lambda line: float(line["median"]))
    verdict = re.search(r'class="verdict">\s*<p>(.*?)</p>', text, re.DOTALL)
    assert verdict is not None
    ratio = stats.ratio(
        best["seconds"], next(r["seconds"] for r in record["results"] if r["method"] == "raw/per_process")
    )
    assert ratio is not None
    assert f"use {best['method']}: " in verdict[1]
    assert "too few repetitions to be sure" in verdict[1]


def test_every_number_of_the_page_is_that_of_the_raw_seconds(
    penstock: Penstock, measured: Path, tmp_path: Path
) -> None:
    text = made(penstock, measured, "campaign.json", target=tmp_path / "r.html")
    cells = [re.findall(r"<td>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", text, re.DOTALL)]
    content = json.loads((measured / "campaign.json").read_text())
    from penstock.base import words

    count = 0
    for job in content["jobs"]:
        for case in job["record"]["cases"]:
            for line in case["results"]:
                found = stats.interval(line["seconds"])
                spread = words.seconds_interval(found.median, found.low, found.high)
                wanted = [line["operation"], line["method"], words.seconds(found.median), spread]
                assert any([re.sub("<.*?>", "", cell) for cell in row[:4]] == wanted for row in cells), wanted
                count += 1
    assert count == 2 * 2 * 2 * 4  # ranks, cases, operations, and methods with the control


def test_efficiency_is_the_rate_of_each_rank_over_that_on_the_fewest(measured: Path) -> None:
    from penstock.measure.report.page import across
    from penstock.measure.report.page.imported import read_source

    source = read_source(measured / "campaign.json")
    cases = [case for case in source.cases if case.name == source.names()[0]]
    plot = across.scaling(cases, "x")
    assert plot is not None
    assert "strong" in plot.title
    line = {case.np: case.line("raw/per_process", "write") for case in cases}
    assert line[2] is not None
    assert line[3] is not None
    rate = {np: statistics.median(one.rates) / np for np, one in line.items() if one is not None}
    row = next(row for row in plot.rows if row[:3] == ("write", "raw/per_process", "3"))
    assert row[5] == f"{rate[3] / rate[2]:.2f}"


def test_the_best_is_compared_with_the_next_best_where_it_is_the_baseline(measured: Path) -> None:
    from penstock.measure.report.page import verdict
    from penstock.measure.report.page.imported import read_source

    source = read_source(measured / "one.json")
    for case in source.cases:
        case.baseline = min(case.usable("write"), key=lambda line: line.median).method
        case.lines = [line for line in case.lines if line.method.startswith("raw/")]
    (row,) = (row for row in verdict.rows(source) if row.operation == "write")
    other = min(
        (line for line in source.cases[0].usable("write") if line is not row.best), key=lambda line: line.median
    )
    assert (row.to, row.ratio) == (other.method, stats.ratio(row.best.seconds, other.seconds))


def test_methods_that_are_no_plans_are_advised_for_speed(measured: Path) -> None:
    """The workload readers compares `netcdf` with `penstock`: what both read is the same."""
    from penstock.measure.report.page import verdict
    from penstock.measure.report.page.imported import read_source

    source = read_source(measured / "one.json")
    (case,) = source.cases
    case.workload["name"] = "readers"
    assert all(row.best is row.fastest for row in verdict.rows(source))
    assert all("for speed use" in sentence for sentence in verdict.headline(source))


def test_load_hints_and_what_was_cut_are_said(penstock: Penstock, measured: Path, tmp_path: Path) -> None:
    text = made(penstock, measured, "campaign.json", target=tmp_path / "r.html")
    assert "Where it holds:" in text
    assert "beside a competing job" in text
    assert "cb_nodes=1" in text
    assert re.search(r"which wrote \d+ MiB/s meanwhile", text)
    study = made(penstock, measured, "study.json", target=tmp_path / "s.html")
    assert "Left out here" in study
    assert "not testable" in study
    assert "PECOS (ESIO), August 2010" in study


def test_a_hint_without_effect_is_a_warning(penstock: Penstock, measured: Path, tmp_path: Path) -> None:
    content = json.loads((measured / "one.json").read_text())
    line = content["results"][0]
    line["requested_plan"] = "raw/mpiio:hint.cb_nodes=1,hint.striping_unit=7,hint.cb_buffer_size=8"
    line["effective_hints"] = {"cb_nodes": "1", "striping_unit": "7", "cb_buffer_size": "16"}
    line["warnings"] = ["hint striping_unit=7 is none that OMPIO honours, though it reports it back"]
    (tmp_path / "x.json").write_text(json.dumps(content))
    text = made(penstock, tmp_path, "x.json", target=tmp_path / "r.html")
    assert "cb_buffer_size=8 was asked for, 16 is in effect" in text
    assert "striping_unit=7 is only echoed: it has no effect" in text
    assert "cb_nodes=1 was asked for" not in text


def test_two_campaigns_are_compared(penstock: Penstock, measured: Path, tmp_path: Path) -> None:
    text = made(penstock, measured, "campaign.json", "again.json", target=tmp_path / "r.html")
    assert "again.json beside campaign.json" in text
    first, second = (json.loads((measured / name).read_text()) for name in ("campaign.json", "again.json"))

    def seconds(content: dict[str, Any]) -> list[float]:
        job = next(job for job in content["jobs"] if job["np"] == 2)
        line = next(one for one in job["record"]["cases"][0]["results"] if one["method"] == "raw/per_process")
        found: list[float] = line["seconds"]
        return found

    found = unpaired.ratio(seconds(second), seconds(first))
    assert found.low is not None
    assert found.high is not None
    assert f"{stats_words(found.median)} ({stats_words(found.low)} to {stats_words(found.high)})" in text


def test_what_is_not_the_same_thing_is_not_compared(penstock: Penstock, measured: Path, tmp_path: Path) -> None:
    content = json.loads((measured / "one.json").read_text())
    shutil.copy(measured / "one.json", tmp_path / "first.json")
    (tmp_path / "second.json").write_text(json.dumps(content | {"regime": "cached"}))
    text = made(penstock, tmp_path, "first.json", "second.json", target=tmp_path / "r.html")
    assert "Not compared: many, 2 ranks: durable in the first, cached in the second." in text
    assert "They have no case, method and number of ranks in common" in text


def stats_words(value: float) -> str:
    from penstock.base import words

    return words.digits(value)


def test_a_row_for_each_repetition(penstock: Penstock, measured: Path, tmp_path: Path) -> None:
    made(penstock, measured, "campaign.json", target=tmp_path / "r.csv")
    with (tmp_path / "r.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    content = json.loads((measured / "campaign.json").read_text())
    raw = sorted(
        seconds
        for job in content["jobs"]
        for case in job["record"]["cases"]
        for line in case["results"]
        for seconds in line["seconds"]
    )
    assert sorted(float(row["seconds"]) for row in rows) == raw
    assert {row["verified"] for row in rows} == {"True"}
    assert {row["competitors"] for row in rows} == {"0", "1"}
    one = next(row for row in rows if row["operation"] == "write")
    assert float(one["bwMiB"]) == pytest.approx(int(one["bytes"]) / 2**20 / float(one["seconds"]))


def test_parquet_has_the_same_rows(penstock: Penstock, measured: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    done = penstock("report", str(measured / "one.json"), "-o", str(tmp_path / "r.parquet"))
    assert done.returncode == 0, done.stderr
    made(penstock, measured, "one.json", target=tmp_path / "r.csv")
    rows = list(csv.DictReader((tmp_path / "r.csv").open(newline="")))
    columns = parquet.read_table(tmp_path / "r.parquet").to_pydict()
    assert columns["method"] == [row["method"] for row in rows]
    assert columns["seconds"] == [float(row["seconds"]) for row in rows]


def test_iors_names_go_out_and_come_back(penstock: Penstock, measured: Path, tmp_path: Path) -> None:
    made(penstock, measured, "one.json", target=tmp_path / "ior.json")
    summary = json.loads((tmp_path / "ior.json").read_text())
    record = json.loads((measured / "one.json").read_text())
    assert len(summary["tests"]) == len({line["method"] for line in record["results"]})
    wanted = {
        "access",
        "bwMiB",
        "blockKiB",
        "xferKiB",
        "iops",
        "latency",
        "openTime",
        "wrRdTime",
        "closeTime",
        "totalTime",
    }
    assert all(set(result) == wanted for test in summary["tests"] for result in test["Results"])
    line = record["results"][0]
    test = next(test for test in summary["tests"] if test["Parameters"]["api"] == line["method"])
    times = [result["totalTime"] for result in test["Results"] if result["access"] == line["operation"]]
    assert times == line["seconds"]
    total = next(one for one in summary["summary"] if (one["API"], one["operation"]) == (line["method"], "write"))
    assert total["bwMaxMIB"] == pytest.approx(line["bytes"] / 2**20 / min(line["seconds"]))
    assert total["MeanTime"] == pytest.approx(sum(line["seconds"]) / len(line["seconds"]))
    text = made(penstock, measured, "one.json", str(tmp_path / "ior.json"), target=tmp_path / "r.html")
    assert "Beside other programs" in text
    assert "not verified by penstock" in text


def test_peers_stand_beside_ours(penstock: Penstock, measured: Path, tmp_path: Path) -> None:
    (tmp_path / "ior.json").write_text(json.dumps(IOR))
    (tmp_path / "h5bench.csv").write_text(H5BENCH)
    text = made(
        penstock,
        measured,
        "one.json",
        str(tmp_path / "ior.json"),
        str(tmp_path / "h5bench.csv"),
        target=tmp_path / "r.html",
    )
    assert re.search(r"<td>ior -a POSIX -F -e, 2 ranks</td><td>600</td>", text)
    assert re.search(r"<td>h5bench collective, 2 ranks</td><td>512</td>", text)
    assert "measured by IOR 4.1.0+dev" in text


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("results", 0, "seconds", 0), -1.0),
        (("results", 0, "seconds", 0), float("nan")),
        (("results", 0, "phases"), {"write": "slow"}),
        (("workload", "total_bytes"), {"of": 1}),
        (("provenance",), "none"),
        (("ceiling",), [1]),
    ],
)
def test_what_is_damaged_is_refused_in_one_line(
    penstock: Penstock, measured: Path, tmp_path: Path, where: tuple[Any, ...], value: object
) -> None:
    content = json.loads((measured / "one.json").read_text())
    inner = content
    for key in where[:-1]:
        inner = inner[key]
    inner[where[-1]] = value
    (tmp_path / "x.json").write_text(json.dumps(content))
    done = penstock("report", "x.json")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "x.json: not a whole" in done.stderr


def test_a_record_is_not_overwritten_nor_an_ending_guessed(penstock: Penstock, measured: Path, tmp_path: Path) -> None:
    shutil.copy(measured / "one.json", tmp_path / "one.json")
    assert "one.json is one of the records" in penstock("report", "one.json", "-o", "one.json").stderr
    assert "its ending says what to make" in penstock("report", "one.json", "-o", "one.pdf").stderr


@pytest.mark.parametrize("dark", [False, True])
def test_a_browser_shows_it_without_complaint(penstock: Penstock, measured: Path, tmp_path: Path, dark: bool) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no chromium: apt-get install chromium")
    target = tmp_path / "r.html"
    made(penstock, measured, "campaign.json", "again.json", target=target)
    script = "<script>onerror=function(m){console.error('FAULT '+m)};document.getElementById('look').click();"
    script += "const shown=[...document.querySelectorAll('figure svg')].filter(s=>s.getBoundingClientRect().height>80);"
    script += "console.log('COUNT '+shown.length);"
    script += "console.log('COLOUR '+getComputedStyle(document.body).backgroundColor);</script>"
    target.write_text(target.read_text().replace("</body>", script + "</body>"))
    words = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0"]
    words += ["--force-dark-mode"] if dark else []
    words += [f"--user-data-dir={tmp_path / 'profile'}", f"--screenshot={tmp_path / 'r.png'}", target.as_uri()]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert not [line for line in said if "ERROR" in line or "FAULT" in line or "Refused" in line], said
    count = next(line for line in said if "COUNT " in line)
    figures = Page(target.read_text()).svgs
    assert f"COUNT {figures}" in count
    assert (tmp_path / "r.png").stat().st_size > 10000
    colour = next(line for line in said if "COLOUR" in line)
    assert re.search(r"rgb\((\d+)", colour)
    assert (int(re.search(r"rgb\((\d+)", colour)[1]) < 100) != dark  # type: ignore[index]


def test_a_page_is_not_wider_than_its_window_with_long_methods(
    penstock: Penstock, measured: Path, tmp_path: Path
) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no chromium: apt-get install chromium")
    hints = ",".join(f"hint.romio_{what}_{way}=automatic" for what in ("cb", "ds") for way in ("read", "write"))
    long = f"raw/mpiio:coordination=collective,read_back=none,{hints}"
    content = (measured / "campaign.json").read_text()
    assert '"raw/per_process"' in content
    (tmp_path / "long.json").write_text(content.replace('"raw/per_process"', f'"{long}"'))
    target = tmp_path / "r.html"
    done = penstock("report", "long.json", "-o", "r.html")
    assert done.returncode == 0, done.stderr
    assert hints.split(",")[0] in target.read_text()
    script = "<script>console.log('WIDTH '+document.documentElement.scrollWidth+' OF '+innerWidth)</script>"
    target.write_text(target.read_text().replace("</body>", script + "</body>"))
    words = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0"]
    words += ["--window-size=1100,900", f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", target.as_uri()]
    said = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False).stderr
    found = re.search(r"WIDTH (\d+) OF (\d+)", said)
    assert found is not None, said
    assert int(found[1]) <= int(found[2]), found[0]
