"""test_presets.py: the published studies: their axes, methods and hints, run to a report, judged by the data alone."""

import html
import json
from pathlib import Path
from typing import Any

import pytest

from conftest import Penstock
from penstock.base.errors import UserError
from penstock.measure.studies.conclusions import Claim, conclude
from penstock.measure.studies.pooled import Pooled
from penstock.measure.studies.presets import STUDIES, Asked, find, lrz, ornl
from penstock.measure.studies.presets.study import GIB, MIB

NAMES = {
    "idris-ior", "idris-create", "idris-ramses", "idris-hints", "haefele-weak", "haefele-strong",
    "lrz-hints", "lrz-ior", "lrz-readers", "lrz-pic", "lrz-checkpoint",
    "ornl-fileview", "ornl-collective", "esio-weak",
}  # fmt: skip


def words(case: tuple[str, ...], name: str) -> str:
    return case[case.index(name) + 1]


def test_every_published_experiment_is_there() -> None:
    assert set(STUDIES) == NAMES
    with pytest.raises(UserError, match="no preset 'haefele'; there are ratios, idris-create"):
        find("haefele")


@pytest.mark.parametrize("name", sorted(NAMES))
@pytest.mark.parametrize("scale", [1e-6, 0.1, 1.0])
def test_sizes_fit_and_what_does_not_is_said(name: str, scale: float) -> None:
    asked = Asked(ranks=(3, 8), scale=scale, largest=64 * MIB)
    request = find(name).request(asked)
    assert request.cut
    assert request.source
    assert all(case.methods for case in request.cases)
    for case in request.cases:
        for option in ("--total", "--per-rank"):
            if option in case.words:
                assert 0 < int(words(case.words, option)) <= 64 * MIB
    missing = [str(ranks) for ranks in find(name).axis if ranks not in (3, 8)]
    assert all(count in request.cut[0] for count in missing)


def test_scaled_by_one_a_study_is_what_it_was() -> None:
    (weak,) = find("haefele-weak").request(Asked((1024,), 1.0, largest=8 * GIB)).cases
    assert int(words(weak.words, "--per-rank")) == 4_000_000
    assert weak.words[:5] == ("block2d", "--type", "real32", "--order", "Fortran")
    eight, all_ = find("haefele-strong").request(Asked((1024,), 1.0, largest=300 * GIB)).cases
    assert [int(words(case.words, "--total")) for case in (eight, all_)] == [8 * GIB, 256 * GIB]
    (ior,) = find("idris-ior").request(Asked((1024,), 1.0, largest=300 * GIB)).cases
    assert (int(words(ior.words, "-b")) * 1024, int(words(ior.words, "-t"))) == (256 * GIB, 2 * MIB)
    (pencils,) = find("esio-weak").request(Asked((16,), 1.0, largest=GIB)).cases
    assert int(words(pencils.words, "--per-rank")) == 20_000_000
    ramses = find("idris-ramses").request(Asked((1024,), 1.0, largest=400 * GIB)).cases
    domains = [
        int(words(case.words, "--domain")) for case in ramses if case.name.startswith("hydro") and "by" not in case.name
    ]
    assert domains == [128, 256, 512, 1024, 2048]
    views = find("ornl-fileview").request(Asked((2,), 1.0, largest=GIB)).cases
    assert [(int(words(case.words, "-b")), int(words(case.words, "-t"))) for case in views] == [
        (16 * MIB, 256 * 1024),
        (16 * MIB, 16 * MIB),
    ]


@pytest.mark.parametrize("name", sorted(NAMES))
def test_no_method_reads_back_what_it_wrote(name: str) -> None:
    """The bench does, outside the clock; of MPI-IO alone a part would be read within."""
    for case in find(name).request(Asked((4, 8), 0.1, largest=GIB)).cases:
        called = [method for method in case.methods if method.startswith("raw/mpiio")]
        assert all("read_back=none" in method for method in called), case


@pytest.mark.parametrize("name", ["idris-ior", "lrz-hints", "lrz-ior", "ornl-fileview", "ornl-collective"])
def test_a_call_of_mpi_io_is_a_transfer(name: str) -> None:
    for case in find(name).request(Asked((4, 8), 0.1, largest=GIB)).cases:
        called = [method for method in case.methods if method.startswith("raw/mpiio:")]
        assert called
        assert all("puts=apart" in method for method in called), case


def line(method: str, seconds: list[float], control: bool = False, error: str | None = None) -> dict[str, Any]:
    return {
        "method": method, "operation": "write", "control": control, "bytes": 1 << 20, "seconds": seconds,
        "verified": error is None, "error": error, "phases": {},
    }  # fmt: skip


def pooled(*lines: dict[str, Any], smallest: float = 0.02) -> Pooled:
    case = {"case": "c", "results": list(lines), "aa": {"write": {"smallest_claimable": smallest}}}
    return Pooled({"jobs": [{"np": 4, "record": {"cases": [case]}}]})


SLOW, FAST = [2.0, 2.1, 2.2, 2.3, 2.4, 2.5], [1.0, 1.1, 1.0, 1.2, 1.1, 1.2]


@pytest.mark.parametrize(
    ("data", "claim", "verdict"),
    [
        (pooled(line("a", FAST), line("b", SLOW)), Claim("c", "a", "b", "write"), "reproduced"),
        (pooled(line("a", SLOW), line("b", FAST)), Claim("c", "a", "b", "write"), "contradicted"),
        (pooled(line("a", FAST), line("b", list(reversed(FAST)))), Claim("c", "a", "b", "write"), "not testable"),
        (pooled(line("a", FAST[:5]), line("b", SLOW[:5])), Claim("c", "a", "b", "write"), "not testable"),
        (pooled(line("a", FAST), line("b", SLOW), smallest=2.0), Claim("c", "a", "b", "write"), "not testable"),
        (pooled(line("a", FAST), line("b", SLOW, error="no space")), Claim("c", "a", "b", "write"), "not testable"),
        (pooled(line("a", FAST)), Claim("c", "a", "b", "write"), "not testable"),
        (pooled(line("a", FAST), line("b", SLOW)), Claim("c", "a", "b", "write", 1.5), "reproduced"),
        (pooled(line("a", FAST), line("b", SLOW)), Claim("c", "a", "b", "write", 3.0), "contradicted"),
        (pooled(line("a", FAST), line("b", SLOW)), Claim("c", "a", "b", "read"), "not testable"),
    ],
)
def test_conclusions_follow_from_paired_ratios(data: Pooled, claim: Claim, verdict: str) -> None:
    said = conclude(data, "A is faster than B.", [claim])
    assert said["verdict"] == verdict, said
    assert said["evidence"]


def test_half_of_the_claims_must_hold() -> None:
    data = pooled(line("a", FAST), line("b", SLOW), line("d", list(reversed(FAST))))
    claims = [Claim("c", "a", "b", "write"), Claim("c", "a", "d", "write")]
    assert conclude(data, "A is the fastest.", claims)["verdict"] == "reproduced"
    assert conclude(data, "A is the fastest.", [*claims, claims[1]])["verdict"] == "not testable"


def test_one_failing_claim_contradicts() -> None:
    data = pooled(line("a", FAST), line("b", SLOW), line("d", [0.5] * 6))
    said = conclude(data, "A is the fastest.", [Claim("c", "a", "b", "write"), Claim("c", "a", "d", "write")])
    assert said["verdict"] == "contradicted"
    assert said["evidence"].startswith("write, c, 4 ranks: d takes")


@pytest.mark.parametrize(
    ("collective", "independent", "verdict"),
    [
        ((SLOW, FAST), (SLOW, SLOW), "reproduced"),
        ((SLOW, FAST), (SLOW, FAST), "contradicted"),
        ((FAST, SLOW), (SLOW, SLOW), "contradicted"),
        ((SLOW, SLOW), (SLOW, SLOW), "not testable"),  # no difference is no proof that there is none
        ((SLOW[:2], FAST[:2]), (SLOW[:2], SLOW[:2]), "not testable"),
        ((SLOW, FAST), None, "not testable"),
    ],
)
def test_larger_transfers_are_judged_where_intervals_lie_apart(
    collective: tuple[list[float], list[float]],
    independent: tuple[list[float], list[float]] | None,
    verdict: str,
) -> None:
    found = {ornl.MPIIO: collective} | ({ornl.PLAIN: independent} if independent else {})
    cases = [
        {"case": name, "results": [line(method, both[at]) for method, both in found.items()]}
        for at, name in enumerate((ornl.SMALL, ornl.LARGE))
    ]
    said = STUDIES["ornl-collective"].conclusions(Pooled({"jobs": [{"np": 4, "record": {"cases": cases}}]}))[-1]
    assert said["verdict"] == verdict, said


@pytest.mark.parametrize(
    ("every", "one_of_four", "verdict"),
    [
        (FAST, SLOW, "reproduced"),
        (FAST, FAST, "contradicted"),
        (FAST[:5], SLOW[:5], "not testable"),
        (FAST, [1.0, 1.1, 2.0, 2.1, 2.2, 2.3], "not testable"),
    ],
)
def test_the_number_of_writers_is_judged_by_intervals(
    every: list[float], one_of_four: list[float], verdict: str
) -> None:
    cases = [
        {"case": lrz._pic_case(tasks), "results": [line(lrz.PIC_METHODS[0], seconds)]}
        for tasks, seconds in ((1, every), (4, one_of_four))
    ]
    said = STUDIES["lrz-pic"].conclusions(Pooled({"jobs": [{"np": 4, "record": {"cases": cases}}]}))[0]
    assert said["verdict"] == verdict, said


@pytest.mark.parametrize(
    ("of_ten", "of_a_thousand", "verdict"),
    [
        ([1.0, 1.1, 1.0, 1.2, 1.1, 1.2], [200.0, 210.0, 220.0, 230.0, 200.0, 240.0], "reproduced"),
        ([2.0, 2.1, 2.0, 2.2, 2.1, 2.2], [100.0, 110.0, 120.0, 130.0, 100.0, 140.0], "contradicted"),
        ([1.0, 9.1, 1.0, 1.2, 1.1, 1.2], [200.0, 210.0, 220.0, 230.0, 200.0, 240.0], "not testable"),
        ([1.0, 1.1, 1.0], [200.0, 210.0, 220.0], "not testable"),
    ],
)
def test_creation_is_judged_where_its_intervals_lie_apart(
    of_ten: list[float], of_a_thousand: list[float], verdict: str
) -> None:
    cases = [
        {"case": f"{count} files", "results": [line("one folder", seconds) | {"operation": "create"}]}
        for count, seconds in (("10", of_ten), ("1000", of_a_thousand))
    ]
    said = STUDIES["idris-create"].conclusions(Pooled({"jobs": [{"np": 1, "record": {"cases": cases}}]}))[0]
    assert said["verdict"] == verdict, said


DAILY = ("haefele-weak", "idris-create", "idris-hints")  # of writers, of a program, with an environment of its own


@pytest.mark.parametrize(
    "name", [name if name in DAILY else pytest.param(name, marks=pytest.mark.nightly) for name in sorted(NAMES)]
)
def test_each_runs_to_a_report(penstock: Penstock, tmp_path: Path, name: str) -> None:
    sized = ("--np", "2,3", "--scale", "0.0005", "--largest", "2MiB", "--repetitions", "1")
    done = penstock("bench", "--preset", name, *sized, "--json", "out.json")
    assert done.returncode == 0, done.stderr
    content = json.loads((tmp_path / "out.json").read_text())
    assert sorted({job["np"] for job in content["jobs"]}) == [2, 3]
    assert all(job["record"]["verified"] for job in content["jobs"])
    assert content["conclusions"]
    assert all(one["evidence"] and one["text"].endswith(".") for one in content["conclusions"])
    assert content["figures"]
    for figure in content["figures"]:
        assert figure["series"], figure["title"]
        for series in figure["series"]:
            assert all(point["values"] and point["y"] > 0 for point in series["points"]), figure["title"]
    if name in ("idris-hints", "lrz-hints", "ornl-fileview", "ornl-collective"):
        assert {job["environment"].get("OMPI_MCA_io") for job in content["jobs"]} == {"^ompio"}
    made = penstock("report", "out.json", "-o", "report.html")
    assert made.returncode == 0, made.stderr
    page = (tmp_path / "report.html").read_text()
    assert content["title"] in html.unescape(page)
    assert page.count("<figure") > len(content["figures"])
