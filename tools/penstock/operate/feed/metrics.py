"""metrics.py: this node's metrics in a file for node_exporter, or at an address for Prometheus, ever renewed."""

import contextlib
import ipaddress
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from prometheus_client import CollectorRegistry, generate_latest, start_http_server, write_to_textfile
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from penstock.base.errors import UserError
from penstock.diagnose.many import CHUNK, KILLED, Summary, logs_in, summary
from penstock.operate.feed.families import Seen, families
from penstock.operate.feed.spool import mark_of

SUFFIX = ".prom"  # of files that node_exporter reads


class Exporter(Collector):
    """What was seen last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shown: Sequence[Metric] = ()
        self.registry = CollectorRegistry()
        self.registry.register(self)

    def collect(self) -> Sequence[Metric]:
        with self._lock:
            return self._shown

    def show(self, seen: Seen) -> None:
        made = tuple(families(seen))
        with self._lock:
            self._shown = made

    def text(self) -> str:
        return generate_latest(self.registry).decode()

    def write(self, path: Path) -> None:
        """Writes all metrics to PATH atomically: a reader sees the old file or the new one."""
        try:
            write_to_textfile(str(path), self.registry)
        except OSError as error:
            raise UserError(f"--textfile {path}: {error.strerror}", status=1) from None


class Logs:
    """The logs of a folder, each looked at once, by processes that were not forked from one with threads."""

    def __init__(self, folder: Path, processes: int | None) -> None:
        self._folder = folder
        self._known: dict[str, Summary] = {}
        self._processes = processes or len(os.sched_getaffinity(0))
        self._pool = self._made_pool()

    def _made_pool(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            self._processes,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=signal.signal,
            initargs=(signal.SIGINT, signal.SIG_IGN),
        )

    def __enter__(self) -> "Logs":
        return self

    def __exit__(self, *_given: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def now(self) -> list[Summary]:
        there: dict[str, Path] = {}
        for path in logs_in(self._folder):
            with contextlib.suppress(OSError):  # it was removed meanwhile
                there[mark_of(path)] = path
        new = [mark for mark in there if mark not in self._known]
        self._known = {mark: one for mark, one in self._known.items() if mark in there}
        try:
            found = self._pool.map(summary, [there[mark] for mark in new], chunksize=CHUNK) if new else iter(())
            self._known.update(zip(new, found, strict=True))
        except BrokenProcessPool:  # what is known stays, and the endpoint
            print(f"penstock: {KILLED}: the next look tries again", file=sys.stderr)
            self._pool.shutdown(cancel_futures=True)
            self._pool = self._made_pool()
        return list(self._known.values())


def place_of(listen: str, anywhere: bool) -> tuple[str, int]:
    """HOST:PORT; of other hosts than this only where that is ANYWHERE's wish."""
    host, _, port = listen.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    if not port.isdigit() or not 0 < int(port) < 65536:
        raise UserError(f"--listen {listen}: HOST:PORT, such as 127.0.0.1:9717")
    try:
        inside = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host).is_loopback
    except ValueError:
        raise UserError(f"--listen {listen}: an address of this machine, such as 127.0.0.1") from None
    if not inside and not anywhere:
        raise UserError(f"--listen {listen}: other machines could read which jobs run here: add --anywhere if they may")
    return host, int(port)


@contextlib.contextmanager
def endpoint(exporter: Exporter, host: str, port: int) -> Iterator[None]:
    try:
        server, thread = start_http_server(port, host, exporter.registry)
    except OSError as error:
        raise UserError(f"--listen {host}:{port}: {error.strerror}", status=1) from None
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
