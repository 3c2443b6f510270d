"""families.py: what the monitor saw of this node, and what logs tell, as metrics; docs/formats/feeds.md."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from prometheus_client.core import GaugeMetricFamily, Metric

from penstock.diagnose.many import Summary, areas, libraries
from penstock.operate.monitor.jobs import Job
from penstock.operate.monitor.outputs import Output
from penstock.operate.monitor.sample import Sample

MOST_JOBS, MOST_OUTPUTS, MOST_NAMES = 100, 200, 100

Row = tuple[Sequence[str], float | None]


@dataclass(frozen=True)
class Seen:
    """LOGS is None where no folder was given; OUTPUTS: whether each file of a job has metrics of its own."""

    sample: Sample
    logs: Sequence[Summary] | None = None
    outputs: bool = False


def families(seen: Seen) -> Iterator[Metric]:
    sample = seen.sample
    yield _gauge("penstock_sample_time_seconds", "When this node was looked at, since 1970", (), [((), sample.clock)])
    yield _gauge("penstock_sample_interval_seconds", "What rates are means over", (), [((), sample.seconds)])
    yield from _node(sample)
    yield from _file_systems(sample)
    yield from _devices(sample)
    yield from _jobs(sample.jobs[:MOST_JOBS])
    left = {"jobs": max(0, len(sample.jobs) - MOST_JOBS)}
    if seen.outputs:
        every = [(job, output) for job in sample.jobs for output in job.outputs]
        yield from _outputs(every[:MOST_OUTPUTS])
        left["outputs"] = max(0, len(every) - MOST_OUTPUTS)
    if seen.logs is not None:
        yield from _logs(seen.logs)
    yield _gauge(
        "penstock_left_out",
        "What was too many to be shown",
        ("what",),
        [((what,), many) for what, many in left.items()],
    )


def _node(sample: Sample) -> Iterator[Metric]:
    node = sample.node
    yield _gauge(
        "penstock_node_bytes_per_second",
        "What disks and file servers moved for this node",
        ("direction",),
        [(("read",), node.read_bytes_per_second), (("write",), node.write_bytes_per_second)],
    )
    yield _gauge("penstock_node_dirty_bytes", "Written, not yet on disk", (), [((), node.dirty_bytes)])
    yield _gauge("penstock_node_writeback_bytes", "On their way to disk", (), [((), node.writeback_bytes)])


def _file_systems(sample: Sample) -> Iterator[Metric]:
    names = ("mount", "type")
    systems = [((one.mount, one.type), one) for one in sample.file_systems[:MOST_NAMES]]

    def of(name: str, about: str, attribute: str) -> Metric:
        return _gauge(
            f"penstock_file_system_{name}", about, names, [(k, getattr(one, attribute)) for k, one in systems]
        )

    def both(name: str, about: str, attribute: str) -> Metric:
        return _gauge(
            f"penstock_file_system_{name}",
            about,
            (*names, "direction"),
            [((*key, way), getattr(one, attribute.format(way))) for key, one in systems for way in ("read", "write")],
        )

    yield both("bytes_per_second", "What storage moved", "{}_bytes_per_second")
    yield both("requests_per_second", "Requests to storage", "{}s_per_second")
    yield both("request_seconds", "Mean of a request", "{}_seconds")
    yield of("metadata_per_second", "Calls that move no data", "metadata_per_second")
    yield of("size_bytes", "Space", "total_bytes")
    yield of("available_bytes", "Space left", "available_bytes")
    yield of("files", "Inodes", "files")
    yield of("files_free", "Inodes left", "files_free")
    yield of("silent_seconds", "For how long it has not answered", "space_waiting_seconds")


def _devices(sample: Sample) -> Iterator[Metric]:
    devices = sample.devices[:MOST_NAMES]
    for name, about, attribute in (
        ("bytes_per_second", "Moved", "{}_bytes_per_second"),
        ("requests_per_second", "Requests", "{}s_per_second"),
        ("request_seconds", "Mean of a request, waiting included", "{}_seconds"),
    ):
        rows = [((one.name, way), getattr(one, attribute.format(way))) for one in devices for way in ("read", "write")]
        yield _gauge(f"penstock_device_{name}", about, ("device", "direction"), rows)
    yield _gauge(
        "penstock_device_busy_ratio",
        "Part of the time in which anything was under way",
        ("device",),
        [((one.name,), one.utilisation) for one in devices],
    )
    yield _gauge(
        "penstock_device_queue", "Mean number under way", ("device",), [((one.name,), one.queue) for one in devices]
    )


def _jobs(jobs: Sequence[Job]) -> Iterator[Metric]:
    names = ("job",)

    def of(name: str, about: str, rows: Iterable[Row], more: Sequence[str] = ()) -> Metric:
        return _gauge(f"penstock_job_{name}", about, (*names, *more), rows)

    yield of(
        "info", "Penstock's jobs on this node", [((j.id, j.program, j.user), 1) for j in jobs], ("program", "user")
    )
    yield of("processes", "Processes here", [((j.id,), j.processes) for j in jobs])
    yield of(
        "phase_processes",
        "Processes here in each phase",
        [((j.id, phase), many) for j in jobs for phase, many in j.phases.items()],
        ("phase",),
    )
    yield of(
        "bytes_per_second",
        "Moved by its processes here",
        [
            row
            for j in jobs
            for row in (((j.id, "read"), j.read_bytes_per_second), ((j.id, "write"), j.write_bytes_per_second))
        ],
        ("direction",),
    )
    yield of("commits", "Commits and reads that ended", [((j.id,), j.commits) for j in jobs])
    yield of("idle_seconds", "Since the last of them", [((j.id,), j.idle_seconds) for j in jobs])
    yield of("outputs", "Files that it is writing or reading", [((j.id,), len(j.outputs)) for j in jobs])
    yield of(
        "progress_ratio",
        "Of the file that is least far",
        [((j.id,), min(known)) for j in jobs if (known := _known(o.progress for o in j.outputs))],
    )
    yield of(
        "left_seconds",
        "Till the last of its files is through, at the mean rate so far",
        [((j.id,), max(known)) for j in jobs if (known := _known(o.left_seconds for o in j.outputs))],
    )


def _outputs(every: Sequence[tuple[Job, Output]]) -> Iterator[Metric]:
    names = ("job", "path", "operation")
    keys = [((job.id, one.path, one.operation), one) for job, one in every]
    for name, about, attribute in (
        ("progress_ratio", "How far it is", "progress"),
        ("done_bytes", "Moved so far", "done_bytes"),
        ("total_bytes", "To be moved", "total_bytes"),
        ("left_seconds", "Till it is through", "left_seconds"),
    ):
        yield _gauge(f"penstock_output_{name}", about, names, [(key, getattr(one, attribute)) for key, one in keys])


def _logs(found: Sequence[Summary]) -> Iterator[Metric]:
    whole = [one for one in found if not one.error]
    states: list[Row] = [(("read",), len(whole)), (("unreadable",), len(found) - len(whole))]
    yield _gauge("penstock_logs", "Logs of jobs", ("state",), states)
    seconds = (
        ("all", 3600 * sum(one.core_hours for one in whole)),
        ("io", 3600 * sum(one.io_core_hours for one in whole)),
        ("lost", 3600 * sum(one.lost_core_hours for one in whole)),
    )
    yield _gauge("penstock_logs_core_seconds", "Of these jobs; lost: what first findings would save", ("part",),
                 [((part,), many) for part, many in seconds])  # fmt: skip
    first = Counter((one.rule, one.severity) for one in whole if one.rule)
    yield _gauge("penstock_logs_first_findings", "Jobs by their first finding", ("rule", "severity"), first.items())
    yield _gauge(
        "penstock_logs_library_bytes",
        "Moved through each library",
        ("library", "direction"),
        [
            row
            for name, used in libraries(whole).items()
            for row in (((name, "read"), used.read_bytes), ((name, "write"), used.written_bytes))
        ],
    )
    yield _gauge(
        "penstock_logs_mount_bytes",
        "Moved on each mount",
        ("mount", "direction"),
        [
            row
            for name, used in list(areas(whole).items())[:MOST_NAMES]
            for row in (((name, "read"), used.read_bytes), ((name, "write"), used.written_bytes))
        ],
    )


def _known(given: Iterable[float | None]) -> list[float]:
    return [one for one in given if one is not None]


def _gauge(name: str, about: str, labels: Sequence[str], rows: Iterable[Row]) -> Metric:
    """Rows with None are not known, and left out; of two with the same labels the first stands."""
    made = GaugeMetricFamily(name, about, labels=labels)
    told: set[tuple[str, ...]] = set()
    for given, value in rows:
        key = tuple(one.encode(errors="surrogateescape").decode(errors="replace") for one in given)
        if value is not None and key not in told:
            told.add(key)
            made.add_metric(key, value)
    return made
