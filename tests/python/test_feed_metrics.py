"""test_feed_metrics.py: Prometheus, its tools, node_exporter and the dashboard understand what is said of a node."""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

import known_jobs as known
from conftest import INTERRUPTIBLE, ROOT, Penstock
from monitor_root import make_root
from penstock.base import launch
from penstock.base.errors import UserError
from penstock.jobs.darshan.writer import write_darshan
from penstock.operate.feed.families import MOST_JOBS, Seen, _gauge
from penstock.operate.feed.metrics import Exporter, Logs, endpoint, place_of
from penstock.operate.monitor.sample import Sample
from test_monitor_jobs import MIB, Watch, rank

DASHBOARD = ROOT / "packaging" / "grafana" / "penstock.json"
NEEDED = {name: shutil.which(name) for name in ("prometheus", "promtool", "prometheus-node-exporter")}


def needs(name: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(NEEDED[name] is None, reason=f"no {name}: Debian's package prometheus has it")


@pytest.fixture
def sample(tmp_path: Path) -> Sample:
    """Two ranks of a job in the midst of a file."""
    root = make_root(tmp_path)
    watch = Watch(root)
    start = int((watch.at - 4.0) * 1e9)
    for at in (10, 30):
        rank(root, 100, 0, 2, at * MIB, start=start)
        rank(root, 101, 1, 2, at * MIB, start=start, inside="exchange")
        found = watch.next()
    return found


def values(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    return {
        (one.name, tuple(sorted(one.labels.items()))): one.value
        for family in text_string_to_metric_families(text)
        for one in family.samples
    }


def shown(seen: Seen) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    exporter = Exporter()
    exporter.show(seen)
    return values(exporter.text())


def test_what_the_monitor_saw_is_what_is_said(sample: Sample) -> None:
    found = shown(Seen(sample, outputs=True))
    job, output = sample.jobs[0], sample.jobs[0].outputs[0]
    of_job = ("job", job.id)
    assert found["penstock_job_processes", (of_job,)] == 2
    assert found["penstock_job_bytes_per_second", (("direction", "write"), of_job)] == job.write_bytes_per_second
    assert found["penstock_job_progress_ratio", (of_job,)] == output.progress
    assert found["penstock_job_left_seconds", (of_job,)] == output.left_seconds
    key = (of_job, ("operation", output.operation), ("path", output.path))
    assert found["penstock_output_done_bytes", key] == output.done_bytes
    assert found["penstock_job_phase_processes", (of_job, ("phase", "exchange"))] == 1
    assert found["penstock_sample_time_seconds", ()] == sample.clock
    for one in sample.file_systems:
        if one.available_bytes is not None:
            mount = (("mount", one.mount), ("type", one.type))
            assert found["penstock_file_system_available_bytes", mount] == one.available_bytes


def test_files_are_named_only_where_that_was_asked_for(sample: Sample) -> None:
    assert not [name for name, _ in shown(Seen(sample)) if name.startswith("penstock_output")]


def test_what_is_too_many_is_counted(sample: Sample) -> None:
    import dataclasses

    sample.jobs = [dataclasses.replace(sample.jobs[0], id=f"slurm-{number}") for number in range(MOST_JOBS + 7)]
    found = shown(Seen(sample))
    assert found["penstock_left_out", (("what", "jobs"),)] == 7
    assert sum(name == "penstock_job_info" for name, _ in found) == MOST_JOBS


@given(st.lists(st.tuples(st.text(max_size=8), st.floats(allow_nan=False)), max_size=6))
def test_any_label_survives(rows: list[tuple[str, float]]) -> None:
    exporter = Exporter()
    family = _gauge("x", "about", ("name",), [((name,), value) for name, value in rows])
    exporter._shown = (family,)
    expected: dict[str, float] = {}
    for name, value in rows:
        expected.setdefault(plain(name), value)
    assert {dict(key)["name"]: value for (_, key), value in values(exporter.text()).items()} == expected


def plain(name: str) -> str:
    return name.encode(errors="surrogateescape").decode(errors="replace")


def test_logs_are_looked_at_once_and_forgotten_with_their_file(tmp_path: Path, sample: Sample) -> None:
    write_darshan(known.slow_target(), tmp_path / "a.darshan")
    (tmp_path / "b.darshan").write_bytes(b"no log")
    with Logs(tmp_path, 1) as logs:
        look_twice(logs, tmp_path, sample)


def test_a_process_that_was_killed_ends_no_feed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_darshan(known.slow_target(), tmp_path / "a.darshan")
    with Logs(tmp_path, 1) as logs:
        assert len(logs.now()) == 1
        write_darshan(known.slow_target(), tmp_path / "b.darshan")
        for process in list(logs._pool._processes.values()):
            process.kill()
            process.join()
        assert len(logs.now()) == 1
        assert "was killed" in capsys.readouterr().err
        assert len(logs.now()) == 2


def look_twice(logs: Logs, tmp_path: Path, sample: Sample) -> None:
    found = shown(Seen(sample, logs.now()))
    assert found["penstock_logs", (("state", "read"),)] == 1
    assert found["penstock_logs", (("state", "unreadable"),)] == 1
    first = [key for name, key in found if name == "penstock_logs_first_findings"]
    assert first == [(("rule", "I2"), ("severity", "HIGH"))]
    known_before = dict(logs._known)
    logs.now()
    assert all(logs._known[mark] is one for mark, one in known_before.items())
    (tmp_path / "b.darshan").unlink()
    assert len(logs.now()) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--listen", "0.0.0.0:9717"], "add --anywhere"),
        (["--listen", "example.org:9717"], "an address of this machine"),
        (["--listen", "127.0.0.1"], "HOST:PORT"),
        (["--listen", "127.0.0.1:99999"], "HOST:PORT"),
        (["--textfile", "x.txt"], "end with .prom"),
        (["--textfile", "x.prom", "--listen", "127.0.0.1:1"], "one of them"),
        (["--logs", "nowhere"], "'nowhere': no such file or folder"),
        (["--every", "0"], "--every 0: "),
        (["--anywhere"], "is about --listen"),
    ],
)
def test_mistakes_are_said(penstock: Penstock, words: list[str], said: str) -> None:
    result = penstock("feed", "metrics", *words)
    assert result.returncode == 2
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_places() -> None:
    assert place_of("127.0.0.1:9717", anywhere=False) == ("127.0.0.1", 9717)
    assert place_of("[::1]:9717", anywhere=False) == ("::1", 9717)
    assert place_of(":9717", anywhere=False) == ("127.0.0.1", 9717)
    assert place_of("0.0.0.0:9717", anywhere=True) == ("0.0.0.0", 9717)  # noqa: S104
    with pytest.raises(UserError):
        place_of("10.0.0.1:9717", anywhere=False)


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def get(url: str, accept: str = "*/*") -> tuple[str, str]:
    request = urllib.request.Request(url, headers={"Accept": accept})  # noqa: S310
    with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310
        return answer.headers["Content-Type"], answer.read().decode()


def test_the_endpoint_speaks_both_formats_and_ends(sample: Sample) -> None:
    exporter = Exporter()
    exporter.show(Seen(sample))
    port = free_port()
    with endpoint(exporter, "127.0.0.1", port):
        kind, text = get(f"http://127.0.0.1:{port}/metrics", "application/openmetrics-text; version=1.0.0")
        assert kind.startswith("application/openmetrics-text")
        assert text.endswith("# EOF\n")
        kind, text = get(f"http://127.0.0.1:{port}/metrics")
        assert kind.startswith("text/plain")
        assert "# EOF" not in text
        with pytest.raises(UserError, match="Address already in use"), endpoint(exporter, "127.0.0.1", port):
            pass
    with endpoint(exporter, "127.0.0.1", port):
        pass


@needs("promtool")
def test_promtool_has_nothing_to_say(sample: Sample, tmp_path: Path) -> None:
    write_darshan(known.slow_target(), tmp_path / "a.darshan")
    exporter = Exporter()
    with Logs(tmp_path, 1) as logs:
        exporter.show(Seen(sample, logs.now(), outputs=True))
    checked = subprocess.run(
        [str(NEEDED["promtool"]), "check", "metrics"],
        input=exporter.text(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


def expressions() -> list[str]:
    dashboard = json.loads(DASHBOARD.read_text())
    made = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", ())]
    return [one.replace("$instance", ".*") for one in made]


@needs("promtool")
def test_promtool_reads_every_expression_of_the_dashboard(tmp_path: Path) -> None:
    rules = [{"record": f"x:{number}", "expr": one} for number, one in enumerate(expressions())]
    (tmp_path / "rules.yml").write_text(json.dumps({"groups": [{"name": "x", "rules": rules}]}))
    checked = subprocess.run(
        [str(NEEDED["promtool"]), "check", "rules", str(tmp_path / "rules.yml")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert checked.returncode == 0, checked.stderr + checked.stdout
    assert f"{len(rules)} rules found" in checked.stdout


def test_the_dashboard_shows_what_there_is(sample: Sample, tmp_path: Path) -> None:
    write_darshan(known.slow_target(), tmp_path / "a.darshan")
    exporter = Exporter()
    with Logs(tmp_path, 1) as logs:
        exporter.show(Seen(sample, logs.now(), outputs=True))
    there = {family.name: family for family in exporter.collect()}
    asked = {name for one in expressions() for name in re.findall(r"penstock_\w+", one)}
    assert len(asked) > 15
    assert asked <= set(there)
    labels = {name: set(vars(family)["_labelnames"]) for name, family in there.items()}
    dashboard = json.loads(DASHBOARD.read_text())
    panels = dashboard["panels"]
    for panel in panels:
        for target in panel.get("targets", ()):
            of = {label for name in re.findall(r"penstock_\w+", target["expr"]) for label in labels[name]}
            used = set(re.findall(r"{{(\w+)}}", target["legendFormat"]))
            assert used <= of | {"instance"}, target["expr"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    cells = [
        (x, y)
        for place in (panel["gridPos"] for panel in panels)
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(set(cells)) == len(cells)
    assert max(x for x, _ in cells) < 24
    assert {one["name"] for one in dashboard["templating"]["list"]} == {"datasource", "instance"}


@contextlib.contextmanager
def running(*command: str, **more: Any) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.communicate(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()


def until(found: Callable[[], Any], process: subprocess.Popen[str]) -> Any:
    """What FOUND gives, as soon as it gives something."""
    last: Exception | None = None
    for _ in range(600):
        assert process.poll() is None, "it ended"
        try:
            if made := found():
                return made
        except (OSError, KeyError, IndexError) as error:
            last = error
        time.sleep(0.1)
    raise AssertionError(f"nothing came: {last}")


def feeding(build: Path, *words: str) -> Any:
    command = [*INTERRUPTIBLE, str(build / "bin" / "penstock"), "feed", "metrics", *words]
    return running(*command, env=os.environ | launch.environment())


@needs("prometheus")
def test_prometheus_scrapes_a_node(build: Path, tmp_path: Path) -> None:
    write_darshan(known.slow_target(), tmp_path / "a.darshan")
    ours, theirs = free_port(), free_port()
    config = {
        "global": {"scrape_interval": "1s"},
        "scrape_configs": [{"job_name": "penstock", "static_configs": [{"targets": [f"127.0.0.1:{ours}"]}]}],
    }
    (tmp_path / "prometheus.yml").write_text(json.dumps(config))
    server = [
        str(NEEDED["prometheus"]),
        f"--config.file={tmp_path / 'prometheus.yml'}",
        f"--storage.tsdb.path={tmp_path / 'data'}",
        f"--web.listen-address=127.0.0.1:{theirs}",
    ]

    def asked(expression: str) -> Any:
        url = f"http://127.0.0.1:{theirs}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
        return json.loads(get(url)[1])["data"]["result"]

    listening = ["--listen", f"127.0.0.1:{ours}", "--every", "0.5", "--logs", str(tmp_path)]
    with feeding(build, *listening), running(*server) as prometheus:
        space = until(lambda: asked('penstock_file_system_size_bytes{mount="/"}'), prometheus)
        about = os.statvfs("/")
        assert float(space[0]["value"][1]) == about.f_blocks * about.f_frsize
        # A look that came late on a busy machine leaves a gap until the next.
        assert until(lambda: asked("up == 1"), prometheus)
        assert until(lambda: asked('penstock_logs_first_findings{rule="I2",severity="HIGH"} == 1'), prometheus)
        for one in expressions():
            asked(one)


@needs("prometheus-node-exporter")
def test_node_exporter_serves_the_textfile(build: Path, tmp_path: Path) -> None:
    port = free_port()
    folder = tmp_path / "textfiles"
    folder.mkdir()
    exporter = [
        str(NEEDED["prometheus-node-exporter"]),
        "--collector.disable-defaults",
        "--collector.textfile",
        f"--collector.textfile.directory={folder}",
        f"--web.listen-address=127.0.0.1:{port}",
    ]
    file = folder / "penstock.prom"

    def served() -> str:
        text = get(f"http://127.0.0.1:{port}/metrics")[1]
        return text if "penstock_node" in text else ""

    with running(*exporter) as process:
        with feeding(build, "--textfile", str(file), "--every", "0.2"):
            text = until(served, process)
        assert "node_textfile_scrape_error 0" in text
        assert values(text)["penstock_file_system_size_bytes", (("mount", "/"), ("type", known_type("/")))] > 0
    assert list(folder.iterdir()) == []  # it goes with who writes it


def known_type(mount: str) -> str:
    from penstock.base.mounts import kind_of

    return kind_of(Path(mount))


def test_once_is_once(penstock: Penstock, tmp_path: Path) -> None:
    result = penstock("feed", "metrics", "--textfile", str(tmp_path / "penstock.prom"), "--interval", "0.2")
    assert result.returncode == 0, result.stderr
    assert [one.name for one in tmp_path.iterdir()] == ["penstock.prom"]
    assert ("penstock_sample_time_seconds", ()) in values((tmp_path / "penstock.prom").read_text())
    result = penstock("feed", "metrics", "--interval", "0.2")
    assert ("penstock_sample_time_seconds", ()) in values(result.stdout)
