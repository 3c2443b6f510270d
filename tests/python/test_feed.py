"""test_feed.py: every event of a log arrives at a collector, whatever that does; batches are whole and sent by one."""

import json
import multiprocessing
import os
import socket
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import known_jobs as known
import test_trace as traces
from collector import TOKEN, Fake
from conftest import Penstock
from jobs import job, record
from penstock.base.errors import UserError
from penstock.diagnose.diagnosis import diagnose
from penstock.jobs.darshan.writer import write_darshan
from penstock.operate.feed.collector import EVENTS, Collector, address_of, send
from penstock.operate.feed.events import MOST_TEXT, Address, events
from penstock.operate.feed.filling import fill, logs_of, look_at, new_of
from penstock.operate.feed.spool import MOST_BYTES, Spool, batched, mark_of

ADDRESS = Address("login1")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "logs" / "bad.darshan"
    path.parent.mkdir()
    write_darshan(known.slow_target(), path)
    return path


def ids(of: list[dict[str, Any]]) -> list[str]:
    return [one["event"]["event_id"] for one in of]


def made(log: Path) -> list[dict[str, Any]]:
    return [json.loads(one) for told in look_at([log], ADDRESS, 1, lambda: None) for one in told.events]


def test_each_job_file_phase_and_finding_is_an_event(log: Path) -> None:
    found = diagnose(known.slow_target())
    told = made(log)
    kinds = [one["event"]["kind"] for one in told]
    assert kinds.count("job") == 1
    assert kinds.count("finding") == len(found.findings) > 0
    assert kinds.count("phase") == len(found.phases)
    assert kinds.count("file") == told[0]["event"]["files"] > 0
    first = next(one["event"] for one in told if one["event"]["kind"] == "finding")
    assert first["rule"] == found.findings[0].rule == told[0]["event"]["first_rule"]
    assert first["saved_core_hours"] == pytest.approx(first["saved_seconds"] * first["ranks"] / 3600)
    assert {one["host"] for one in told} == {"login1"}
    assert len(set(ids(told))) == len(told)
    assert ids(told) == ids(made(log))


def test_another_run_has_other_ids() -> None:
    one = known.slow_target()
    other = replace(one, job_id=one.job_id + "1")
    both = [json.loads(e) for run in (one, other) for e in events(diagnose(run), Path("x"), ADDRESS)]
    assert len(set(ids(both))) == len(both)


def test_odd_names_and_numbers_are_still_json() -> None:
    odd = job(record("POSIX", path="/scratch/\udcff\n\"'" + "x" * 9000, OPENS=1), ranks=1, seconds=1e-6)
    for one in events(
        diagnose(replace(odd, program="p\udcfe")), Path("/l\udcfd.darshan"), Address("h", "main", "s", "t")
    ):
        told = json.loads(one)
        assert one.isascii()
        assert (told["index"], told["source"], told["sourcetype"]) == ("main", "s", "t")
        if told["event"]["kind"] == "file":
            assert len(told["event"]["path"]) <= MOST_TEXT + 3


def test_batches_are_not_larger_than_collectors_take() -> None:
    given = [b"x" * 300_000] * 7
    batches = list(batched(given))
    assert [one for batch in batches for one in batch] == given
    assert all(sum(map(len, batch)) <= MOST_BYTES for batch in batches)
    assert list(batched([b"y" * (2 * MOST_BYTES)])) == [[b"y" * (2 * MOST_BYTES)]]  # alone, however large


def waits(spool: Path, log: Path) -> Spool:
    kept = Spool(spool)
    fill(kept, look_at([log], ADDRESS, 1, lambda: None))
    return kept


@pytest.mark.parametrize(
    "script",
    [
        [],
        ["busy", "busy"],
        ["rate"],
        ["error"],
        ["hang"],
        ["close"],
        ["garbage"],
        ["acknowledged"],
        ["busy", "close", "garbage", "error"],
    ],
)
def test_what_fails_for_a_while_is_tried_again(script: list[str], log: Path, tmp_path: Path) -> None:
    kept = waits(tmp_path / "spool", log)
    slept: list[float] = []
    with Fake(script) as fake:
        patience = 2.0 if "hang" in script else 60.0  # of a busy machine's answer, which is as good
        sent = send(kept, Collector(address_of(fake.url), TOKEN, timeout=patience, wait=slept.append))
    assert (sent.batches, sent.left, sent.refused) == (1, 0, ())
    assert ids(fake.events) == ids(made(log))
    assert fake.tokens == {f"Splunk {TOKEN}"}
    assert len(slept) == len([one for one in script if one != "acknowledged"])
    assert all(one >= (7 if script == ["rate"] else 0.2) for one in slept)


def test_an_answer_that_was_lost_gives_events_twice_and_none_less(log: Path, tmp_path: Path) -> None:
    kept = waits(tmp_path / "spool", log)
    with Fake(["lost"]) as fake:
        send(kept, Collector(address_of(fake.url), TOKEN, wait=lambda _seconds: None))
    assert len(fake.events) == 2 * len(set(ids(fake.events)))
    assert set(ids(fake.events)) == set(ids(made(log)))


@pytest.mark.parametrize("script", [["busy"] * 5, ["hang"] * 5, ["close"] * 5, ["unacknowledged"] * 5])
def test_what_a_collector_does_not_take_waits_for_the_next_run(script: list[str], log: Path, tmp_path: Path) -> None:
    kept = waits(tmp_path / "spool", log)
    with Fake(script) as fake:
        collector = Collector(address_of(fake.url), TOKEN, timeout=0.5, wait=lambda _seconds: None)
        sent = send(kept, collector)
        assert (sent.batches, sent.left) == (0, 1)
        assert fake.url in sent.why
        assert fake.requests == 5
        assert send(kept, replace(collector, timeout=60.0)).left == 0
    assert set(ids(fake.events)) == set(ids(made(log)))


@pytest.mark.parametrize(
    ("what", "said"),
    [("token", "Invalid token: the token"), ("index", "--index"), ("elsewhere", "--url"), ("redirect", "--url")],
)
def test_what_no_patience_mends_is_said_at_once_and_kept(what: str, said: str, log: Path, tmp_path: Path) -> None:
    kept = waits(tmp_path / "spool", log)
    with Fake([what]) as fake, pytest.raises(UserError, match=said):
        send(kept, Collector(address_of(fake.url), TOKEN))
    assert fake.requests == 1
    assert len(kept.batches()) == 1


@pytest.mark.parametrize("what", ["data", "large"])
def test_a_batch_that_is_refused_holds_up_no_other(what: str, log: Path, tmp_path: Path) -> None:
    kept = waits(tmp_path / "spool", log)
    kept.put([b'{"event": "second"}'])
    with Fake([what]) as fake:
        sent = send(kept, Collector(address_of(fake.url), TOKEN))
    assert (sent.batches, sent.left, len(sent.refused)) == (1, 0, 1)
    assert fake.events == [{"event": "second"}]
    refused = [path for path in kept.folder.iterdir() if path.name.endswith(".refused.json")]
    assert len(refused) == 1
    assert str(refused[0]) in sent.refused[0]


def test_where_nobody_listens_nothing_is_lost(penstock: Penstock, log: Path, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    token = tmp_path / "token"
    token.write_text(TOKEN + "\n")
    words = ["feed", "splunk", "--spool", str(tmp_path / "spool"), "--token-file", str(token), "--tries", "1"]
    result = penstock(*words, str(log), "--url", url)
    assert result.returncode == 1
    assert "Connection refused; 1 batches stay in" in result.stderr
    with Fake() as fake:
        result = penstock(*words, "--url", fake.url)
    assert result.returncode == 0, result.stderr
    assert set(ids(fake.events)) == set(ids(made(log)))
    with Fake() as fake:
        result = penstock(*words, str(log), "--url", fake.url)
    assert (result.returncode, fake.requests) == (0, 0)
    assert "0 events of 0 logs" in result.stdout
    assert "1 log was before" in result.stdout
    assert TOKEN not in result.stdout + result.stderr


def test_a_log_that_changed_is_fed_again(log: Path, tmp_path: Path) -> None:
    kept = waits(tmp_path / "spool", log)
    assert kept.fed() == {mark_of(log)}
    os.utime(log, (1, 1))
    assert mark_of(log) not in kept.fed()


def test_a_run_that_goes_on_is_fed_again(tmp_path: Path) -> None:
    run = traces.trace(tmp_path / "t", 0, 1, traces.block("PATH", traces.paths("a")), ended=False).parent
    kept = waits(tmp_path / "spool", run)
    assert not new_of([run], kept.fed())
    traces.trace(run, 0, 1, traces.block("PATH", traces.paths("a")), traces.block("STEP", traces.step(0)))
    assert new_of([run], kept.fed()) == [run]


def test_what_a_log_gains_while_it_is_read_is_fed_another_time(log: Path, tmp_path: Path) -> None:
    kept = Spool(tmp_path / "spool")
    found = list(look_at([log], ADDRESS, 1, lambda: None))
    os.utime(log, (1, 1))
    assert fill(kept, found).logs == 1
    assert new_of([log], kept.fed()) == [log]


def test_logs_that_are_gone_are_said_and_hold_up_nobody(log: Path, tmp_path: Path) -> None:
    kept = Spool(tmp_path / "spool")
    gone = log.with_name("gone.darshan")
    logs = [gone, log, tmp_path / "no-run"]
    assert new_of(logs, kept.fed()) == logs
    found = list(look_at(logs, ADDRESS, 1, lambda: None))
    log.unlink()
    filled = fill(kept, found)
    assert (filled.logs, filled.errors[0]) == (1, f"{gone}: No such file or directory")
    assert len(filled.errors) == 2


def test_a_batch_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, synced = Spool(tmp_path / "spool"), []
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append((Path(f"/proc/self/fd/{fd}").readlink(), kept.batches())))
    kept.put([b"{}"])
    batches = kept.batches()
    assert [(path.suffix, before) for path, before in synced] == [(".partial", []), ("", batches)]
    assert synced[1][0] == kept.folder
    assert len(batches) == 1


def sender(spool: Path, url: str, barrier: Any) -> None:
    kept = Spool(spool)
    barrier.wait()
    with kept.alone(20) as alone:
        assert alone
        send(kept, Collector(address_of(url), TOKEN))


def test_of_two_that_send_at_once_each_batch_is_sent_by_one(tmp_path: Path) -> None:
    kept = Spool(tmp_path / "spool")
    for number in range(20):
        kept.put([json.dumps({"event": number}).encode()])
    context = multiprocessing.get_context("spawn")
    with Fake() as fake:
        barrier = context.Barrier(3)
        senders = [context.Process(target=sender, args=(kept.folder, fake.url, barrier)) for _ in range(3)]
        for one in senders:
            one.start()
        for one in senders:
            one.join(60)
        assert [one.exitcode for one in senders] == [0, 0, 0]
    assert [one["event"] for one in fake.events] == list(range(20))


def test_without_an_address_events_are_printed(penstock: Penstock, log: Path) -> None:
    result = penstock("feed", "splunk", str(log))
    assert result.returncode == 0, result.stderr
    assert set(ids([json.loads(line) for line in result.stdout.splitlines()])) == set(ids(made(log)))


def test_a_damaged_log_is_said_and_the_others_are_fed(penstock: Penstock, log: Path, tmp_path: Path) -> None:
    (log.parent / "cut.darshan").write_bytes(log.read_bytes()[:200])
    result = penstock("feed", "splunk", str(log.parent), "--spool", str(tmp_path / "spool"))
    assert result.returncode == 1
    assert "cut.darshan" in result.stderr
    assert "Traceback" not in result.stderr
    assert "events of 1 log put" in result.stdout


def test_a_spool_that_cannot_be_is_said(penstock: Penstock, log: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = penstock("feed", "splunk", str(log), "--spool", str(tmp_path / "file"))
    assert result.returncode == 1
    assert f"{tmp_path / 'file'}: " in result.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--url", "ftp://x"], "an address such as https://"),
        (["--url", "https://user:secret@x:8088"], "without a token in it"),
        (["--url", "https://x:99999"], "an address such as https://"),
        (["--url", "http://[::1"], "an address such as https://"),
        (["--url", "http://a..b"], "an address such as https://"),
        (["--url", f"http://{'a' * 64}.de"], "an address such as https://"),
        (["--url", "http://x/a b"], "an address such as https://"),
        (["--url", "http://x/\u00e9"], "an address such as https://"),
        (["--url", "http://\udcff"], "an address such as https://"),
        (["--url", "https://x:8088"], "SPLUNK_HEC_TOKEN: no token"),
        (["--url", "https://x:8088", "--token-file", "nowhere"], "--token-file nowhere: No such file"),
        (["--token-file", "t"], "add --url"),
        ([], "name logs"),
        (["nowhere.darshan"], "'nowhere.darshan': no such file or folder"),
    ],
)
def test_mistakes_are_said(penstock: Penstock, words: list[str], said: str) -> None:
    result = penstock("feed", "splunk", *words)
    assert result.returncode == 2
    assert said in result.stderr
    assert "secret" not in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_an_untrusted_certificate_is_said(log: Path, tmp_path: Path) -> None:
    import http.server
    import ssl
    import threading

    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    made_key = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    made_key += ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(made_key, check=True, capture_output=True, timeout=60)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"text": "Success", "code": 0}')

        def log_message(self, *_given: Any) -> None:
            pass

    kept = waits(tmp_path / "spool", log)
    server = http.server.ThreadingHTTPServer(("localhost", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        url = address_of(f"https://localhost:{server.server_port}")
        with pytest.raises(UserError, match=r"not trusted .*--ca-file"):
            send(kept, Collector(url, TOKEN))
        assert send(kept, Collector(url, TOKEN, authorities=certificate)).left == 0
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_addresses_get_the_collectors_path() -> None:
    assert address_of("https://h:8088") == f"https://h:8088{EVENTS}"
    assert address_of("https://h:8088/") == f"https://h:8088{EVENTS}"
    assert address_of("https://h/proxy/hec") == "https://h/proxy/hec"


def test_logs_are_taken_once(log: Path) -> None:
    assert logs_of([log, log.parent, log]) == [log]
