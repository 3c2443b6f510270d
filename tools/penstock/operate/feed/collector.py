"""collector.py: batches handed to Splunk's HTTP Event Collector, again and again until they are accepted."""

import http.client
import json
import random
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from typing import Any, NoReturn

from penstock.base.errors import UserError
from penstock.operate.feed.spool import Spool

EVENTS, ACKNOWLEDGED = "/services/collector/event", "/services/collector/ack"
BUSY = (408, 425, 429, 500, 502, 503, 504)
# Splunk's codes: no data, invalid data, no event, blank event, fields of a wrong kind.
OF_THE_BATCH = (5, 6, 12, 13, 15)
MOST_ANSWER = 1 << 16  # bytes
MOST_WAIT = 30.0  # seconds between two tries
FIRST_WAIT = 0.5


@dataclass(frozen=True)
class Collector:
    """TIMEOUT: seconds for one request. TRIES: of one batch, in this run."""

    url: str
    token: str
    timeout: float = 30.0
    tries: int = 5
    authorities: Path | None = None  # certificates that are trusted besides the system's
    wait: Callable[[float], None] = time.sleep


class _LaterError(Exception):
    """It may work later; SECONDS: not before."""

    def __init__(self, why: str, seconds: float = 0.0) -> None:
        super().__init__(why)
        self.seconds = seconds


class _RefusedError(Exception):
    """This batch never will."""


@dataclass(frozen=True)
class Sent:
    batches: int
    left: int  # batches that wait for the next time
    why: str = ""  # they do
    refused: tuple[str, ...] = ()  # files, and why


def address_of(url: str) -> str:
    try:
        parts = urllib.parse.urlsplit(url)
        host, rest = (parts.hostname or "").encode("idna"), f"{parts.path}?{parts.query}"
        whole = parts.scheme in ("http", "https") and host and (parts.port is None or parts.port > 0)
        whole = whole and not parts.username and rest.isascii() and rest.isprintable() and " " not in rest
    except ValueError:
        whole = False
    if not whole:
        shown = url.rpartition("@")[2]
        raise UserError(f"--url {shown}: an address such as https://splunk.example.org:8088, without a token in it")
    return urllib.parse.urlunsplit(parts._replace(path=parts.path.rstrip("/") or EVENTS, fragment=""))


def send(spool: Spool, collector: Collector) -> Sent:
    """All that SPOOL holds, the oldest first; what is not accepted stays there."""
    channel, context = str(uuid.uuid4()), _context(collector)
    done, refused, why = 0, [], ""
    for batch in spool.batches():
        try:
            _until_accepted(batch, collector, channel, context)
        except _LaterError as error:
            why = str(error)
            break
        except _RefusedError as error:
            refused.append(f"{spool.refused(batch)}: {error}")
            continue
        spool.accepted(batch)
        done += 1
    return Sent(done, len(spool.batches()), why, tuple(refused))


def _until_accepted(batch: Path, collector: Collector, channel: str, context: ssl.SSLContext | None) -> None:
    body = batch.read_bytes()
    pause = FIRST_WAIT
    for tried in range(1, collector.tries + 1):
        try:
            answer = _post(collector.url, body, collector, channel, context)
            if "ackId" in answer:
                _acknowledged(answer["ackId"], collector, channel, context)
            return
        except _LaterError as error:
            if tried == collector.tries:
                raise
            collector.wait(min(MOST_WAIT, max(error.seconds, pause * random.uniform(0.5, 1.5))))
            pause *= 2


def _acknowledged(number: Any, collector: Collector, channel: str, context: ssl.SSLContext | None) -> None:
    """Waits until an indexer has it on disk, where the token asks for that."""
    parts = urllib.parse.urlsplit(collector.url)
    url = urllib.parse.urlunsplit(parts._replace(path=ACKNOWLEDGED, query=f"channel={channel}"))
    until = time.monotonic() + collector.timeout
    while time.monotonic() < until:
        acks = _post(url, json.dumps({"acks": [number]}).encode(), collector, channel, context, "acks").get("acks")
        if isinstance(acks, dict) and acks.get(str(number)) is True:
            return
        collector.wait(FIRST_WAIT)
    raise _LaterError(f"{collector.url}: it took the events, but no indexer has acknowledged them")


def _post(
    url: str, body: bytes, collector: Collector, channel: str, context: ssl.SSLContext | None, has: str = "code"
) -> dict[str, Any]:
    headers = {
        "Authorization": f"Splunk {collector.token}",
        "Content-Type": "application/json",
        "X-Splunk-Request-Channel": channel,
    }
    request = urllib.request.Request(url, body, headers, method="POST")  # noqa: S310 - address_of has looked
    try:
        opener = urllib.request.build_opener(_NoRedirects, urllib.request.HTTPSHandler(context=context))
        with opener.open(request, timeout=collector.timeout) as answered:
            answer = _parsed(answered.read(MOST_ANSWER))
    except urllib.error.HTTPError as error:
        _judge(url, error)
    except urllib.error.URLError as error:
        if isinstance(error.reason, ssl.SSLCertVerificationError):
            raise UserError(
                f"{url}: its certificate is not trusted ({error.reason.verify_message}): --ca-file", 1
            ) from None
        raise _LaterError(f"{url}: {_reason(error.reason)}") from None
    except (OSError, http.client.HTTPException) as error:
        raise _LaterError(f"{url}: {_reason(error)}") from None
    if answer is None or has not in answer or answer.get("code", 0) != 0:
        raise _LaterError(f"{url}: what answers there is no HTTP Event Collector")
    return answer


def _judge(url: str, error: urllib.error.HTTPError) -> NoReturn:
    with error:
        try:
            answer = _parsed(error.read(MOST_ANSWER)) or {}
        except (OSError, http.client.HTTPException):
            answer = {}
    code = answer.get("code")
    reason = f"{error.code} {answer.get('text') or error.reason}"
    if error.code in BUSY:
        raise _LaterError(f"{url}: {reason}", _seconds(error.headers)) from None
    if error.code == 413 or (error.code == 400 and code in OF_THE_BATCH):
        raise _RefusedError(reason) from None
    if error.code in (401, 403):
        raise UserError(f"{url}: {reason}: the token is not one of its HTTP Event Collector's", 1) from None
    what = "--index is not one that the token may write" if code == 7 else "look at --url"
    raise UserError(f"{url}: {reason}: {what}", 1) from None


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A token is not carried on to where somebody else points."""

    def redirect_request(self, *_given: Any, **_named: Any) -> None:
        return None


def _context(collector: Collector) -> ssl.SSLContext | None:
    if not collector.url.startswith("https"):
        return None
    context = ssl.create_default_context()
    if collector.authorities is not None:
        try:
            context.load_verify_locations(collector.authorities)
        except (OSError, ssl.SSLError) as error:
            raise UserError(f"--ca-file {collector.authorities}: {error.strerror or error}") from None
    return context


def _parsed(body: bytes) -> dict[str, Any] | None:
    try:
        made = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return made if isinstance(made, dict) else None


def _seconds(headers: Message) -> float:
    given = headers.get("Retry-After", "")
    return float(given) if given.isascii() and given.isdigit() and len(given) < 6 else 0.0


def _reason(error: object) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, http.client.HTTPException) and not str(error):
        return "the connection ended before the answer"
    return str(getattr(error, "strerror", None) or error)
